"""Proofs against an own checker: true shapes in coal, without a kept guess, on robots that are made here.

Random cells that the planner proves free, and certified paths, on a sliding first joint, a turning finger that follows
another, a continuous joint, and the three robots known by name.
"""

import coal
import numpy as np
import pinocchio as pin
import pytest

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.cspace.covering import name_pair
from telerobot_nodes.cspace.geometry import (
    Attachment,
    Obstacle,
    arm_geometry,
    box,
    cylinder,
    link_poses_of,
    nearest,
    probe,
    sphere,
    sphere_centers,
    world_of,
)
from telerobot_nodes.cspace.geometry.distances import distance
from telerobot_nodes.cspace.proof import CellChecker
from telerobot_nodes.cspace.search import (
    EdgeValidator,
    Planner,
    PlannerSettings,
    check_certificate,
    path_samples,
)
from telerobot_nodes.errors import InvalidValueError, ModelError

INERTIA = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'


def joint(name, kind, at, ends, axis, limits, mimic=""):
    return (
        f'<joint name="{name}" type="{kind}"><origin xyz="{at}"/><parent link="{ends[0]}"/><child link="{ends[1]}"/>'
        f'<axis xyz="{axis}"/><limit lower="{limits[0]}" upper="{limits[1]}" velocity="1" effort="10"/>{mimic}</joint>'
    )


def link(name, at, shape):
    return (
        f'<link name="{name}">{INERTIA}<collision><origin xyz="{at}"/><geometry>{shape}</geometry></collision></link>'
    )


LIFT = [
    link("base", "0 0 -0.5", '<box size="0.1 0.1 0.1"/>'),
    joint("lift", "prismatic", "0 0 0", ("base", "column"), "0 0 1", (0, 1)),
    link("column", "0 0 0.2", '<cylinder radius="0.1" length="0.3"/>'),
    joint("turn", "continuous", "0 0 0.4", ("column", "upper"), "0 0 1", (-1, 1)),
    link("upper", "0.2 0 0", '<box size="0.4 0.08 0.06"/>'),
    joint("bend", "revolute", "0.4 0 0", ("upper", "fore"), "0 1 0", (-2.2, 2.2)),
    link("fore", "0.15 0 0", '<box size="0.3 0.06 0.05"/>'),
    '<joint name="fix" type="fixed"><origin xyz="0.3 0 0"/><parent link="fore"/><child link="tool"/></joint>',
    '<link name="tool"/>',
]
FOLLOWS = '<mimic joint="left" multiplier="-1"/>'
FINGERS = [
    joint("left", "revolute", "0.3 0.03 0", ("fore", "left_finger"), "0 0 1", (0, 0.9)),
    link("left_finger", "0.05 0 0", '<box size="0.1 0.01 0.02"/>'),
    joint("right", "revolute", "0.3 -0.03 0", ("fore", "right_finger"), "0 0 1", (-0.9, 0), FOLLOWS),
    link("right_finger", "0.05 0 0", '<box size="0.1 0.01 0.02"/>'),
]


def robot_of(folder, parts, name="made", tool="tool"):
    file = folder / f"{name}.urdf"
    file.write_text(f'<robot name="{name}">{"".join(parts)}</robot>')
    return load_robot(str(file), tool_frame=tool)


@pytest.fixture(scope="module")
def lift(tmp_path_factory):
    return arm_geometry(robot_of(tmp_path_factory.mktemp("lift"), LIFT))


@pytest.fixture(scope="module")
def gripper(tmp_path_factory):
    return arm_geometry(robot_of(tmp_path_factory.mktemp("gripper"), LIFT + FINGERS, "gripper"))


class Judge:
    """Penetration by the shapes of the URDF as Pinocchio reads them; fingers at places drawn at random."""

    def __init__(self, geometry, obstacles, seed=0):
        robot = self.robot = geometry.robot
        self.rng = np.random.default_rng(seed)
        self.whole = pin.buildModelFromXML(robot.urdf)
        self.data = self.whole.createData()
        from telerobot_nodes.core.robot.link_shapes import _package_folders

        self.solids = pin.buildGeomFromUrdfString(
            self.whole, robot.urdf, pin.GeometryType.COLLISION, package_dirs=_package_folders(robot.urdf_path),
            mesh_loader=coal.MeshLoader(),
        )  # fmt: skip
        self.body = [self.whole.frames[s.parentFrame].name for s in self.solids.geometryObjects]
        self.around = [(getattr(coal, o.kind.capitalize())(*o.size), o.T_world_obstacle) for o in obstacles]
        self.moving = {names[i] for names, link in zip(geometry.bodies, geometry.arm.body_link, strict=True) if link
                       for i in range(len(names))}  # fmt: skip
        self.checked = geometry.checked

    def penetrates(self, q):
        full = self.rng.uniform(self.whole.lowerPositionLimit, self.whole.upperPositionLimit)
        for name, value in zip(self.robot.joint_names, q, strict=True):
            full[self.whole.joints[self.whole.getJointId(name)].idx_q] = value
        for joint in range(1, self.whole.njoints):
            if self.whole.names[joint] == "right":
                full[self.whole.joints[joint].idx_q] = -full[self.whole.joints[self.whole.getJointId("left")].idx_q]
        pin.forwardKinematics(self.whole, self.data, full)
        placed = [self.data.oMi[s.parentJoint] * s.placement for s in self.solids.geometryObjects]
        shapes = [s.geometry for s in self.solids.geometryObjects]
        for i, (shape, T) in enumerate(zip(shapes, placed, strict=True)):
            if self.body[i] in self.moving and any(meet(shape, T, o, U) for o, U in self.around):
                return True
            for j in range(i):
                if name_pair(self.body[i], self.body[j]) in self.checked and meet(shape, T, shapes[j], placed[j]):
                    return True
        return False


def meet(a, T, b, U):
    first, second = coal.Transform3s(T.rotation, T.translation), coal.Transform3s(U.rotation, U.translation)
    return bool(coal.collide(a, first, b, second, coal.CollisionRequest(), coal.CollisionResult()))


def scene(seed):
    rng = np.random.default_rng(seed)
    things = []
    for i in range(5):
        at = rng.uniform(-0.8, 0.8, 3) + np.array([0.0, 0.0, 0.5])
        turned = pin.Quaternion(pin.rpy.rpyToMatrix(*rng.uniform(-3.0, 3.0, 3))).coeffs()
        things.append(box(f"box_{i}", rng.uniform(0.05, 0.3, 3), (*at, *turned)))
        things.append(cylinder(f"post_{i}", rng.uniform(0.02, 0.08), 0.5, (*rng.uniform(-0.8, 0.8, 3), *turned)))
        things.append(sphere(f"ball_{i}", rng.uniform(0.03, 0.12), rng.uniform(-0.8, 0.8, 3)))
    return things


def by_spheres(geometry, things):
    """The part of a cell that the planner's spheres prove."""
    world, poses = world_of(things), link_poses_of(geometry.arm)
    return lambda q, half: probe(geometry.arm, world, poses, q, half)


def by_true_shapes(geometry, things):
    """The part of a cell, all or nothing, that the checker of certificates proves."""
    checker = CellChecker(geometry, things, 0.0, 0.0)
    return lambda q, half: float(checker.room(q, half) >= 0.0)


def penetrations_in_cells(geometry, cells, seed=0, proved=by_spheres, widest=0.3):
    """Configurations looked at in proved cells (centre, corners, inside), and how many of them penetrate."""
    looked_at = wrong = 0
    for world_seed in range(3):
        things = scene(world_seed)
        part, judge = proved(geometry, things), Judge(geometry, things)
        rng = np.random.default_rng([seed, world_seed])
        for _ in range(cells):
            q = rng.uniform(geometry.arm.lower, geometry.arm.upper)
            half = rng.uniform(0.0, widest, q.size)
            ratio = part(q, half)
            if ratio <= 0.0:
                continue
            inside = np.vstack([np.sign(rng.uniform(-1, 1, (3, q.size))), rng.uniform(-1, 1, (1, q.size))])
            for u in inside:
                looked_at += 1
                wrong += judge.penetrates(q + ratio * u * half)
    return looked_at, wrong


@pytest.mark.parametrize("name", ["lift", "gripper", "panda", "arm", "ur5"])
@pytest.mark.lengthy
@pytest.mark.brief(2)
def test_nothing_penetrates_in_proved_cells(name, request):
    geometry = arm_geometry(load_robot(name)) if name in ("panda", "arm", "ur5") else request.getfixturevalue(name)
    looked_at, wrong = penetrations_in_cells(geometry, 60)
    assert looked_at > 100
    assert wrong == 0


@pytest.mark.parametrize("name", ["lift", "gripper", "panda"])
@pytest.mark.lengthy
@pytest.mark.brief(1)
def test_nothing_penetrates_in_cells_that_the_checker_proves(name, request):
    geometry = arm_geometry(load_robot(name)) if name == "panda" else request.getfixturevalue(name)
    looked_at, wrong = penetrations_in_cells(geometry, 30, proved=by_true_shapes, widest=0.1)
    assert looked_at > 60
    assert wrong == 0


def test_a_link_on_a_sliding_first_joint_is_checked_on_its_own_axis(lift):
    shelf = box("shelf", (0.3, 0.3, 0.02), (0.0, 0.0, 0.6))
    planner = Planner(lift, [shelf], PlannerSettings(tree_probes=5000, cells=200))
    assert lift.arm.first_moving == 1
    plan = planner.plan(np.array([0.0, 0.0, 0.5]), np.array([0.9, 0.0, 0.5]))
    assert not plan.found


def accepted_and_wrong(geometry, tries=900):
    """Of short motions beside a ball that just touches or does not: those the search accepts, and of them the wrong."""
    home, accepted, wrong = np.array(geometry.robot.home), 0, 0
    centers, radii = sphere_centers(geometry.arm, home), geometry.arm.sphere_radius
    poses, rng = link_poses_of(geometry.arm), np.random.default_rng(5)
    for _ in range(tries):
        ball, away = int(rng.integers(len(centers) // 2, len(centers))), rng.normal(size=3)
        gap = float(radii[ball]) + 0.02 + rng.uniform(-5e-4, 1e-3)
        world = world_of([sphere("ball", 0.02, centers[ball] + gap * away / np.linalg.norm(away))])
        ends = home + np.outer((-1.0, 1.0), rng.uniform(-1e-4, 1e-4, home.size))
        if EdgeValidator(geometry.arm, world).free(*ends):
            accepted += 1
            wrong += min(nearest(geometry.arm, world, poses, q, 1.0)[0] for q in (*ends, home)) <= 0.0
    return accepted, wrong


@pytest.mark.lengthy
def test_what_the_search_accepts_far_from_the_origin_does_not_collide():
    """Single precision adds to every place; the search keeps more than that, and bases beyond are refused."""
    T = pin.SE3(pin.rpy.rpyToMatrix(0.1, 0.2, 0.3), np.array([99.0, -99.0, 99.0]))
    accepted, wrong = accepted_and_wrong(arm_geometry(load_robot("panda", T_world_base=T)))
    assert accepted > 20
    assert wrong == 0
    with pytest.raises(InvalidValueError, match="within 100 m"):
        arm_geometry(load_robot("panda", T_world_base=pin.SE3(np.eye(3), np.array([0.0, 101.0, 0.0]))))


def test_a_plane_given_by_a_far_point_of_it_is_where_it_is(lift):
    """In single precision a point 100 km along a tilted plane would move the plane by millimetres."""
    turn = pin.rpy.rpyToMatrix(0.3, 0.4, 0.0)
    far = turn @ np.array([1e5, -1e5, 0.3])
    pose = (*far, *pin.Quaternion(turn).coeffs())
    world = world_of([Obstacle("slope", "half_space", (), pose)])
    near = world_of([Obstacle("slope", "half_space", (), (*(turn @ np.array([0.0, 0.0, 0.3])), *pose[3:]))])
    assert world.rows == pytest.approx(near.rows, abs=1e-6)
    point = np.array([0.2, 0.1, 0.9])
    normal = turn[:, 2]
    assert distance(world, 0, point) == pytest.approx(normal @ point - 0.3, abs=1e-8)


@pytest.mark.lengthy
def test_certified_paths_of_a_lift_with_fingers_do_not_penetrate(gripper):
    things, found = scene(1), 0
    planner, judge = Planner(gripper, things, PlannerSettings(tree_probes=20_000, cells=100)), Judge(gripper, things)
    rng = np.random.default_rng(2)
    for _ in range(20):
        start, goal = rng.uniform(gripper.arm.lower, gripper.arm.upper, (2, gripper.dof))
        plan = planner.plan(start, goal)
        if plan.found:
            found += 1
            checked = check_certificate(plan.certificate, plan.path, gripper, things, planner.settings.margin)
            assert checked.valid, checked.reason
            assert not any(judge.penetrates(q) for q in path_samples(plan.path, 0.05))
    assert found > 2


def apart(geometry):
    """Distance [m] of the two fingers' middles."""
    names, centers = np.array(geometry.sphere_names), geometry.arm.sphere_center
    left, right = (centers[[name.startswith(side) for name in names]].mean(axis=0) for side in ("left", "right"))
    return float(np.linalg.norm(left - right))


@pytest.mark.lengthy
def test_fingers_stand_where_they_are_known_to_be(gripper):
    robot = gripper.robot
    closed, opened = (arm_geometry(robot, fingers={"left": value}) for value in (0.0, 0.9))
    assert apart(opened) > apart(closed) + 0.05
    assert len(gripper.arm.sphere_radius) > len(closed.arm.sphere_radius)


def test_a_joint_of_the_arm_that_follows_another_is_refused(tmp_path):
    parts = [
        part.replace('name="bend" type="revolute"><origin', 'name="bend" type="revolute"><mimic joint="lift"/><origin')
        for part in LIFT
    ]
    with pytest.raises(ModelError, match=r"'bend' of the arm follows 'lift'"):
        robot_of(tmp_path, parts)


@pytest.mark.lengthy
def test_a_held_thing_is_checked_against_every_link_that_moves_against_it(lift):
    held = Attachment(box("bar#0", (0.3, 0.02, 0.02)))
    geometry = arm_geometry(lift.robot, [held])
    assert name_pair("bar", "upper") in geometry.checked
    assert name_pair("fore", "bar") not in geometry.checked
    touching = arm_geometry(lift.robot, [Attachment(held.solid, frozenset({"upper"}))])
    assert name_pair("bar", "upper") not in touching.checked
    folded = np.array([0.5, 0.0, 2.2])
    long = Attachment(box("bar#0", (0.7, 0.02, 0.02), (0.2, 0.0, 0.0)))
    assert Planner(arm_geometry(lift.robot, [long]), []).status(folded)[0] < Planner(lift, []).status(folded)[0]


def test_contact_that_is_allowed_is_no_collision_and_only_for_the_links_named(lift):
    q = np.array([0.5, 0.0, 0.0])
    target = box("target#0", (0.05, 0.05, 0.05), lift.robot.forward(q).translation)
    assert Planner(lift, [target]).status(q)[0] < 0.0
    allowed = arm_geometry(lift.robot, allowed=[("target", "fore")])
    planner = Planner(allowed, [target])
    assert planner.status(q)[0] > 0.0
    plan = planner.plan(q, q + np.array([0.05, 0.0, 0.0]))
    assert plan.found
    assert check_certificate(plan.certificate, plan.path, allowed, [target], planner.settings.margin).valid
    assert not check_certificate(plan.certificate, plan.path, lift, [target], planner.settings.margin).valid
    other = arm_geometry(lift.robot, allowed=[("target", "upper")])
    assert Planner(other, [target]).status(q)[0] < 0.0
