"""The field: away from what is near, bounded, quiet elsewhere; deadlock told in bounded time."""

import math

import numpy as np
import pinocchio as pin
import pytest

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.cspace.geometry import (
    FieldSettings,
    ForceField,
    arm_geometry,
    link_poses_of,
    nearest,
    sphere,
    step_twist,
    world_of,
)
from telerobot_nodes.errors import InvalidValueError


def to_obstacles(geometry, q, thing):
    """Distance [m] of the arm from one obstacle, its own links left out."""
    alone = geometry.arm.without_pairs()
    return nearest(alone, world_of([thing]), link_poses_of(alone), np.array(q), 1.0)[0]


def ahead(geometry, gap):
    """A sphere before the tool, `gap` [m] from the arm."""
    tool = geometry.robot.forward(geometry.robot.home)
    low, high = 0.0, 0.6
    for _ in range(40):
        middle = 0.5 * (low + high)
        thing = sphere("s", 0.05, tool.translation + tool.rotation[:, 2] * middle)
        low, high = (middle, high) if to_obstacles(geometry, geometry.robot.home, thing) < gap else (low, middle)
    return thing


def test_the_field_moves_the_arm_away(geometry):
    thing = ahead(geometry, 0.02)
    field, q = ForceField([geometry], [thing]), np.array(geometry.robot.home)
    before = to_obstacles(geometry, q, thing)
    for _ in range(50):
        q = q + 0.002 * field.step([q])[0]
    assert to_obstacles(geometry, q, thing) > before + 0.002


def test_far_from_everything_there_is_no_push(geometry):
    field = ForceField([geometry], [sphere("far", 0.1, (5.0, 5.0, 5.0))])
    assert not field.step([geometry.robot.home])[0].any()
    assert field.least == [field.settings.influence]


def test_pushes_stay_bounded_even_inside_an_obstacle(geometry, samples):
    thing = [sphere("big", 0.6, (0.4, 0.0, 0.5))]
    field = ForceField([geometry], thing)
    most = 0.5 * geometry.robot.limits.velocity
    for q in samples(geometry, 50):
        velocity = field.step([q])[0]
        assert np.isfinite(velocity).all()
        assert (np.abs(velocity) <= most + 1e-12).all()


def test_at_a_joint_limit_nothing_is_pushed_over_it(geometry, samples):
    limits = geometry.robot.limits
    field = ForceField([geometry], [sphere("big", 0.5, (0.4, 0.0, 0.5))])
    for q in samples(geometry, 30):
        for edge, sign in ((limits.lower, 1.0), (limits.upper, -1.0)):
            at_limit = q.copy()
            at_limit[1] = edge[1]
            assert sign * field.step([at_limit])[0][1] >= 0.0


def test_the_push_grows_as_the_distance_shrinks(geometry):
    sizes = [
        np.linalg.norm(ForceField([geometry], [ahead(geometry, d)]).step([geometry.robot.home])[0])
        for d in (0.06, 0.04)
    ]
    assert 0.0 < sizes[0] < sizes[1]


@pytest.mark.lengthy
def test_two_arms_push_each_other_apart():
    first = arm_geometry(load_robot("panda"))
    turned = pin.SE3(pin.utils.rotate("z", math.pi), np.array([0.66, 0.0, 0.0]))
    second = arm_geometry(load_robot("panda", T_world_base=turned))
    field, home = ForceField([first, second], []), np.array(first.robot.home)
    a, b = (v.copy() for v in field.step([home, home]))
    assert field.least[0] == pytest.approx(field.least[1])
    assert field.least[0] < field.settings.influence
    tools = [g.robot.forward(home).translation for g in (first, second)]
    moved = [g.robot.forward(home + 0.05 * v).translation for g, v in ((first, a), (second, b))]
    assert np.linalg.norm(moved[0] - moved[1]) > np.linalg.norm(tools[0] - tools[1])


def test_the_twist_for_gcmsf_is_the_motion_the_field_asks_for(panda):
    velocity = np.linspace(-0.1, 0.1, 7)
    home = np.array(panda.robot.home)
    twist = step_twist(panda.robot.jacobian(home), velocity, 0.002)
    motion = pin.log6(panda.robot.forward(home).actInv(panda.robot.forward(home + 0.002 * velocity))).vector
    assert twist == pytest.approx(motion, abs=1e-6)


@pytest.mark.parametrize("bad", [[], [np.full(7, math.nan)], [np.zeros(3)]])
def test_what_is_no_configuration_is_refused(panda, bad):
    with pytest.raises(InvalidValueError):
        ForceField([panda], []).step(bad)


def test_settings_out_of_range_are_refused():
    with pytest.raises(InvalidValueError, match="influence"):
        FieldSettings(influence=math.nan)
