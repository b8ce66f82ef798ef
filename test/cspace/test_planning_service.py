"""The core behind the planner node: several arms, scenes, files of cells, budgets."""

import math
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.cspace.covering import name_pair
from telerobot_nodes.cspace.geometry import Change, Scene, addition, box, floor, scene_of, sphere, sphere_centers
from telerobot_nodes.cspace.search import CellCache, CellDatabase, Certificate, check_certificate
from telerobot_nodes.cspace.service import Goal, PlanningService, PlanRequest, Result, arms_of, world_file
from telerobot_nodes.errors import InvalidValueError, TelerobotError

LEFT = load_robot("arm", T_world_base=pin.SE3(np.eye(3), np.array([0.0, 0.45, 0.0])))
RIGHT = load_robot("arm", T_world_base=pin.SE3(np.eye(3), np.array([0.0, -0.45, 0.0])))
HOME = np.array(LEFT.home)


def turned(angle):
    return HOME + np.array([angle, 0.0, 0.0, 0.0, 0.0, 0.0])


@pytest.fixture(scope="module")
def cell():
    return PlanningService({"left": LEFT, "right": RIGHT})


@pytest.fixture
def service(cell):
    cell.set_scene(Scene())
    return cell


def least_gap(service, answer):
    """Least distance of the two arms' spheres when both follow their times."""
    arms = {path.arm: service.geometry(path.arm).arm for path in answer.paths}
    end = max(path.times[-1] for path in answer.paths)
    least = math.inf
    for t in np.arange(0.0, end + 0.02, 0.02):
        poses = []
        for path in answer.paths:
            q = [np.interp(t, path.times, column) for column in path.positions.T]
            poses.append((arms[path.arm], sphere_centers(arms[path.arm], np.array(q))))
        (a, p), (b, r) = poses
        gap = np.linalg.norm(p[:, None] - r[None], axis=2) - a.sphere_radius[:, None] - b.sphere_radius[None]
        least = min(least, float(gap.min()))
    return least


def crossing(start_time=0.0):
    """Each arm swings through the place between both, the way there free for either alone."""
    return (
        Goal("left", turned(-0.6), joints=turned(-2.6)),
        Goal("right", turned(0.3), joints=turned(2.2), start_time=start_time),
    )


@pytest.mark.parametrize("start_time", [0.0, 0.5])
@pytest.mark.lengthy
@pytest.mark.brief(1)
def test_two_arms_in_one_request_never_meet_in_time(service, start_time):
    goals = crossing(start_time)
    answer = service.plan(PlanRequest(goals, speed=0.5))
    assert answer.found, answer.message
    assert [path.arm for path in answer.paths] == ["left", "right"]
    assert least_gap(service, answer) > 0.0
    for path in answer.paths:
        steps = np.diff(path.times)[:, None]
        assert (steps > 0.0).all()
        velocities = np.diff(path.positions, axis=0) / steps
        assert (np.abs(velocities) <= 0.5 * LEFT.limits.velocity + 1e-6).all()
        accelerations = np.diff(velocities, axis=0) / steps[1:]
        assert (np.abs(accelerations) <= 1.01 * LEFT.limits.acceleration).all()
    late = answer.paths[1]
    assert np.abs(late.positions[late.times < start_time] - late.positions[0]).max(initial=0.0) == 0.0


@pytest.mark.lengthy
@pytest.mark.parametrize(("angle", "meet"), [(1.3, False), (1.7, True)])
def test_arms_whose_goals_meet_are_told_so(service, angle, meet):
    left, right = (Goal(n, turned(a), joints=turned(b)) for n, a, b in (("left", -0.6, -1.6), ("right", 0.3, angle)))
    arms = [service.geometry(name).arm for name in ("left", "right")]
    p, r = (sphere_centers(arm, goal.joints) for arm, goal in zip(arms, (left, right), strict=True))
    gaps = np.linalg.norm(p[:, None] - r[None], axis=2) - arms[0].sphere_radius[:, None] - arms[1].sphere_radius[None]
    assert bool(gaps.min() < 0.0) is meet
    answer = service.plan(PlanRequest((left, right)))
    assert answer.result is (Result.GOAL_COLLIDES if meet else Result.FOUND), answer.message
    assert not meet or "arm left" in answer.message or "arm right" in answer.message


def test_an_arm_that_stands_is_an_obstacle_for_the_one_that_moves(service):
    reach = Goal("left", turned(0.3), joints=turned(-0.9))
    standing = {"left": turned(0.3), "right": turned(0.75)}
    alone = service.plan(PlanRequest((reach,)))
    assert alone.found, alone.message
    answer = service.plan(PlanRequest((reach,), standing=standing))
    assert (answer.result, "arm right" in answer.message) == (Result.GOAL_COLLIDES, True)


def test_what_is_not_acceptable_is_refused_by_name(service):
    for goals, words in (
        ((), "goals"),
        ((crossing()[0], crossing()[0]), "each arm once"),
        ((Goal("third", HOME, joints=HOME),), "'third'"),
    ):
        with pytest.raises(InvalidValueError, match=words):
            service.plan(PlanRequest(goals))
    with pytest.raises(InvalidValueError, match="start_time"):
        Goal("left", HOME, joints=HOME, start_time=-1.0)


def test_a_scene_changes_as_a_whole_or_not_at_all():
    scene = scene_of([sphere("a", 0.1, (1, 0, 0)), sphere("b", 0.1, (2, 0, 0))])
    moved = scene.changed([addition(sphere("a", 0.2, (1, 1, 0))), Change("b"), addition(sphere("c", 0.1, (3, 0, 0)))])
    assert [(solid.name, solid.size[0]) for solid in moved.obstacles] == [("a", 0.2), ("c", 0.1)]
    assert [solid.name for solid in scene.obstacles] == ["a", "b"]
    with pytest.raises(InvalidValueError, match="attached_to"):
        scene.changed([addition(sphere("d", 0.1, (0, 0, 0)), "left")], arms=("arm",))
    with pytest.raises(InvalidValueError, match="once"):
        scene.changed([Change("a"), Change("a")])
    held = scene.changed([addition(sphere("a", 0.1, (0, 0, 0.1)), "arm")], arms=("arm",))
    assert [solid.name for solid in held.obstacles] == ["b"]
    assert [solid.name for solid in held.held("arm")] == ["a"]
    with pytest.raises(InvalidValueError, match="half_space"):
        Change("floor", (floor(),), "arm")


def test_cells_outlive_the_service_in_a_file_and_a_changed_or_broken_file_is_made_anew(service, tmp_path):
    obstacles = scene_of([box("table", (0.4, 0.8, 0.04), (0.7, 0.0, 0.2))]).obstacles

    def started(solids=obstacles):
        """What a new process does: read, look at a place, write."""
        cache, cells = CellCache(tmp_path), CellDatabase(service.geometry("left"), solids)
        cache.fill("left", cells)
        known = len(cells)
        cells.refine(turned(0.2), 0.2)
        cache.keep("left", cells)
        return known, cache.notes["left"]

    assert started()[1].startswith("no file")
    known, note = started()
    assert known > 1
    assert "cells read" in note
    file = tmp_path / "cells_left.bin"
    content = file.read_bytes()
    flipped = bytes([*content[:500], content[500] ^ 255, *content[501:]])
    for broken in (b"", content[:200], flipped, b"x" * 1000):
        file.write_bytes(broken)
        known, note = started()
        assert known == 1
        assert "made anew: damaged" in note
        assert file.read_bytes() == content
    assert "made for another" in started([])[1]
    file.unlink()
    file.mkdir()
    assert "not written" in started()[1]


def test_arms_and_worlds_are_named_in_parameters():
    left, right = arms_of(["left panda 0 0.4 0 0 left", "right arm 1.2 0 0 3.14159265358979"], "arm")
    assert (left.name, left.robot, left.namespace) == ("left", "panda", "left")
    assert right.base[:3] == (1.2, 0.0, 0.0)
    assert right.base[5] == pytest.approx(1.0)
    assert arms_of([], "ur5")[0].robot == "ur5"
    for row in ("left panda 0 0", "left panda 0 x 0 0", "1 panda 0 0 0 0"):
        with pytest.raises(TelerobotError, match="arms"):
            arms_of([row], "arm")
    assert world_file("table").name == "table.yaml"
    with pytest.raises(InvalidValueError, match=r"empty.*table"):
        world_file("nosuch")


@pytest.mark.lengthy
def test_a_proof_that_the_checker_refuses_is_made_again_and_a_path_that_collides_never_leaves():
    post = sphere("post", 0.1, LEFT.forward(turned(0.4)).translation)

    def shrunk(planner, start, goal, _budget):
        plan = planner.plan(start, goal)
        cells = Certificate(plan.certificate.centers.copy(), 0.5 * plan.certificate.halves)
        return replace(plan, certificate=cells)

    def straight(planner, start, goal, _budget):
        plan = planner.plan(start, goal)
        path = np.array([start, goal])
        return replace(
            plan, path=path, certificate=Certificate(path.mean(axis=0)[None], 0.5 * np.abs(goal - start)[None])
        )

    request = PlanRequest((Goal("left", turned(0.0), joints=turned(0.8)),))
    services = [PlanningService({"left": LEFT}, plugins={"cspace": plugin}) for plugin in (shrunk, straight)]
    for service in services:
        service.set_scene(scene_of([post]))
    answer = services[0].plan(request)
    assert answer.found, answer.message
    proof, geometry = answer.paths[0].proof, services[0].geometry("left")
    checked = check_certificate(proof.certificate, answer.paths[0].waypoints, geometry, [post], proof.margin)
    assert checked.valid, checked.reason
    with pytest.raises(TelerobotError, match="proof does not hold: cell 0 is not free"):
        services[1].plan(request)


@pytest.mark.lengthy
def test_a_path_proved_again_in_another_scene_has_the_cells_of_that_proof():
    service = PlanningService({"left": LEFT})
    request = PlanRequest((Goal("left", turned(0.0), joints=turned(0.8)),))
    answer = service.plan(request)
    near = sphere("near", 0.05, LEFT.forward(turned(0.4)).act(np.array([0.12, 0.0, 0.0])))
    service.set_scene(scene_of([near]))
    again = service.prove_again(answer, request)
    assert again.found, again.message
    assert again.paths[0].cells > answer.paths[0].cells
    service.set_scene(scene_of([sphere("there", 0.1, LEFT.forward(turned(0.4)).translation)]))
    blocked = service.prove_again(answer, request)
    assert not blocked.paths
    assert "and there" in blocked.message
    allowed = frozenset(name_pair("there", frame.name) for frame in LEFT.model.frames)
    assert service.prove_again(answer, replace(request, allowed=allowed)).paths
