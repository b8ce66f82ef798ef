"""The check of paths by true shapes, on an arm of boxes whose distances are known."""

import numpy as np
import pytest

from telerobot_nodes.bench.planner.dense_check import DenseCheck
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.cspace.geometry import arm_geometry, box, cylinder, floor, sphere

BODY = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
ARM = f"""<robot name="bar">
  <link name="base">{BODY}<collision><geometry><box size="0.1 0.1 0.1"/></geometry></collision></link>
  <joint name="a" type="revolute"><origin xyz="0 0 0.5"/><parent link="base"/><child link="bar"/><axis xyz="0 0 1"/>
    <limit lower="-3" upper="3" velocity="1" effort="10"/></joint>
  <link name="bar">{BODY}
    <collision><origin xyz="0.5 0 0"/><geometry><box size="1 0.1 0.1"/></geometry></collision></link>
  <joint name="b" type="prismatic"><origin xyz="0 0 0"/><parent link="bar"/><child link="tool"/><axis xyz="0 0 1"/>
    <limit lower="0" upper="1" velocity="1" effort="10"/></joint>
  <link name="tool">{BODY}</link>
</robot>"""
AHEAD, ASIDE = np.array([0.0, 0.0]), np.array([1.5, 0.0])


@pytest.fixture(scope="module")
def geometry(tmp_path_factory):
    file = tmp_path_factory.mktemp("bar") / "bar.urdf"
    file.write_text(ARM)
    return arm_geometry(load_robot(str(file), tool_frame="tool"))


def collides(geometry, obstacle, margin, q=AHEAD):
    return DenseCheck(geometry, [obstacle], margin).collides(q)


# the bar fills x 0 .. 1, y and z within 5 cm of 0 and of 0.5
OBSTACLES = [
    (lambda gap: box("box", (0.2, 0.4, 0.6), (1.1 + gap, 0.0, 0.5)), "beyond its end"),
    (lambda gap: box("box", (0.2, 0.4, 0.6), (0.5, 0.25 + gap, 0.5)), "beside it"),
    (lambda gap: sphere("ball", 0.15, (0.5, 0.0, 0.7 + gap)), "above it"),
    (lambda gap: cylinder("post", 0.1, 0.6, (0.5, -0.15 - gap, 0.5)), "beside it, upright"),
    (lambda gap: floor(height=0.45 - gap), "below it"),
]


@pytest.mark.parametrize("make", [make for make, _ in OBSTACLES], ids=[name for _, name in OBSTACLES])
@pytest.mark.parametrize("margin", [0.0, 0.02])
def test_a_gap_above_the_margin_is_free_and_one_below_it_collides(geometry, make, margin):
    assert not collides(geometry, make(margin + 0.002), margin)
    assert collides(geometry, make(margin - 0.002), margin)


def test_the_obstacle_is_where_the_arm_is_and_not_elsewhere(geometry):
    post = cylinder("post", 0.05, 0.6, (0.8, 0.0, 0.5))
    assert collides(geometry, post, 0.0)
    assert not collides(geometry, post, 0.0, ASIDE)
    raised = np.array([0.0, 0.4])  # joint b moves the tool, which has no shape
    assert collides(geometry, post, 0.0, raised)


def test_an_obstacle_that_only_touches_the_base_counts_for_nobody(geometry):
    assert not collides(geometry, box("block", (0.1, 0.1, 0.1), (0.0, 0.0, 0.0)), 0.0)


def test_a_path_is_counted_at_every_step(geometry):
    check = DenseCheck(geometry, [cylinder("post", 0.05, 0.6, (0.8, 0.0, 0.5))], 0.0)
    bad, rows = check.collisions(np.array([[-1.0, 0.0], [1.0, 0.0]]), 0.01)
    assert rows >= 201
    # within 5 cm of the bar's side and 5 cm of the post: |angle| below about asin(0.1 / 0.8)
    assert bad / rows * 2.0 == pytest.approx(2.0 * np.arcsin(0.1 / 0.8), abs=0.02)
    assert check.collisions(np.array([[0.5, 0.0], [1.0, 0.0]]), 0.01)[0] == 0


@pytest.mark.lengthy
def test_links_that_fold_onto_each_other_collide_and_neighbours_do_not(tmp_path):
    def link(name, length):
        shape = f'<origin xyz="{length / 2} 0 0"/><geometry><box size="{length} 0.05 0.05"/></geometry>'
        return f'<link name="{name}">{BODY}<collision>{shape}</collision></link>'

    def joint(name, parent, child, x):
        ends = f'<origin xyz="{x} 0 0"/><parent link="{parent}"/><child link="{child}"/><axis xyz="0 0 1"/>'
        limit = '<limit lower="-3" upper="3" velocity="1" effort="10"/>'
        return f'<joint name="{name}" type="revolute">{ends}{limit}</joint>'

    links = '<link name="base"/>' + link("one", 1.0) + link("two", 0.3) + link("three", 1.0)
    joints = joint("a", "base", "one", 0.0) + joint("b", "one", "two", 1.0) + joint("c", "two", "three", 0.3)
    (tmp_path / "fold.urdf").write_text(f'<robot name="fold">{links}{joints}</robot>')
    check = DenseCheck(arm_geometry(load_robot(str(tmp_path / "fold.urdf"), tool_frame="three")), [], 0.0)
    assert not check.collides(np.zeros(3))
    assert not check.collides(np.array([0.0, np.pi / 2, np.pi / 2]))  # parallel, 30 cm apart
    assert check.collides(np.array([0.0, 2.0, 2.0]))  # the third crosses the first
