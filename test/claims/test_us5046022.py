"""A test per claim of US 5,046,022 ("Tele-autonomous system and method employing time/position synchrony/desynchrony").

The claims' words in brief stand in each test's docstring. The scene is the operator's queue, a link that delays, the
robot's side and the forward simulation, all without ROS.
"""

import executor_models
import numpy as np
import plan_models
import pytest
import two_agents

from telerobot_nodes.core.protocol import AuthorityKind, UpdateKind
from telerobot_nodes.core.robot import Reach, load_robot
from telerobot_nodes.core.values.frames import pose_from_se3
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.plan.log import Timing
from telerobot_nodes.plan.queue import Join, PathPlanQueue, QueueConfig
from telerobot_nodes.simulation import ForwardSimulator

ARM = load_robot("arm")
HOME = pose_from_se3(ARM.forward(ARM.home))


class Scene(plan_models.Session):
    """A session whose plan is also run by a forward simulation, as a display would."""

    def __init__(self, delay=0.3, robot=None, **config):
        queue = PathPlanQueue(QueueConfig(**config), Reach(ARM))
        robot = robot or plan_models.Robot(pose=HOME)
        super().__init__(queue, robot, plan_models.Link(1, delay), plan_models.Link(2, delay))
        self.forward = ForwardSimulator(ARM)
        self.forward.start(ARM.home)
        self.seen = 0
        self.simulated = []  # plan time of the simulated arm at every step
        self.run(1.0 + 3 * delay)

    def step(self, command=None):
        super().step(command)
        for update in self.updates[self.seen :]:
            self._show(update)
        self.seen = len(self.updates)
        self.simulated.append(self.forward.advance(self.now).time)

    def _show(self, update):
        points = update.points
        if update.kind is UpdateKind.RESET:
            self.forward.reset(1, np.empty(0), np.empty((0, 7)), ARM.home, update.trial)
        elif update.kind is UpdateKind.TRUNCATE:
            self.forward.truncate(update.after_seq, update.trial)
        if points is not None:
            self.forward.append(points.first_seq, points.time, points.pose, update.trial)

    def draw(self, seconds, velocity=(0.0, 0.1, 0.0)):
        """The hand moves at `velocity` [m/s] for `seconds`."""
        begin = self.now

        def command(now):
            position = 5.0 + np.array(velocity) * (now - begin)
            self.queue.command_pose(now, [*position, 0.0, 0.0, 0.0, 1.0], "device")

        self.run(seconds, command)

    def finish(self):
        self.run(4.0)
        while self.state().length:
            self.run(1.0)

    @property
    def plan(self):
        """(n,) numbers, (n,) plan times, (n, 3) positions, (n,) kinds of every point shown."""
        seq, time, pose, kind = zip(*self.shown(), strict=True)
        return np.array(seq), np.array(time), np.array(pose)[:, :3], np.array(kind)

    @property
    def executed(self):
        return [entry[0] for entry in self.robot.executed]


def span_of_line(engaged, speed, length=0.2):
    """Plan time and number of points of the same line drawn at some speed."""
    scene = Scene(delay=0.0)
    scene.queue.set_time_clutch(scene.now, engaged)
    head = scene.state()
    scene.draw(length / speed, (0.0, speed, 0.0))
    scene.run(1.0)
    return scene.state().head_time - head.head_time


def test_claim_01_time_synchrony_is_enabled_and_disabled():
    """Enabled, relative time of acquisition is stored with order; disabled, only what is independent of it."""
    slow, fast = span_of_line(True, 0.05), span_of_line(True, 0.2)
    assert slow - fast == pytest.approx(3.0, abs=0.2)
    slow, fast = span_of_line(False, 0.05), span_of_line(False, 0.2)
    assert slow == pytest.approx(fast, rel=0.15)


def test_claim_02_an_artificial_time_base_is_generated():
    """Time values made automatically, independent of acquisition time, inside the tool's speed."""
    scene = Scene(delay=0.0)
    scene.queue.set_time_clutch(scene.now, False)
    scene.draw(0.8, (0.0, 0.4, 0.0))
    scene.run(1.0)
    _, time, position, kind = scene.plan
    free = kind == Timing.FREE
    speed = np.linalg.norm(np.diff(position[free], axis=0), axis=1) / np.diff(time[free])
    assert speed.max() <= scene.queue.config.time_base.speed * 1.001
    assert time[-1] > 1.4


def test_claim_03_the_path_not_yet_performed_is_displayed_with_the_arm():
    """A monitor shows the manipulator and, at the same time, the part of the plan not performed yet."""
    scene = Scene(delay=1.0)
    scene.draw(2.0)
    ahead = scene.queue.remaining(1000)
    assert len(ahead) == scene.state().length > 50
    assert np.allclose(scene.forward.head().tool_pose[:3], ahead[-1, :3], atol=1e-5)
    assert np.linalg.norm(scene.forward.head().tool_pose[:3] - scene.robot.pose[:3]) > 0.05


def test_claim_04_control_means_alter_the_timing_of_points_at_any_moment():
    """The second input switches time synchrony while points are laid."""
    scene = Scene()
    for engaged in (True, False, True):
        scene.queue.set_time_clutch(scene.now, engaged)
        scene.draw(0.8)
    scene.finish()
    kinds = scene.plan[3]
    changes = kinds[np.flatnonzero(np.diff(kinds, prepend=-1.0))].tolist()
    assert changes == [Timing.SYNCED, Timing.FREE, Timing.SYNCED]
    assert scene.executed == scene.plan[0].tolist()


def test_claim_05_forward_simulation_shows_what_is_not_executed():
    """A visual presentation of the planned path ahead of the controlled agent."""
    scene = Scene(delay=1.0)
    scene.draw(1.5)
    assert scene.forward.lead(scene.robot.plan_time) > 0.9
    assert scene.forward.head_time == pytest.approx(scene.state().head_time)


def test_claim_06_the_queue_of_an_articulated_arm_is_first_in_first_out():
    """A jointed manipulator performs the stored sets in the order they came."""
    scene = Scene(delay=0.1, robot=executor_models.ExecutorRobot())
    scene.draw(1.5)
    scene.finish()
    assert scene.executed == scene.plan[0].tolist() == sorted(scene.executed)
    assert ARM.dof == 6


def test_claim_07_the_arm_is_remote_over_a_two_way_link():
    """Operator and forward simulation on one side, the manipulator on the other, a link both ways."""
    scene = Scene(delay=2.0)
    scene.draw(2.0)
    assert scene.executed in ([], [1])
    assert scene.state().data_age >= 0.0
    scene.finish()
    assert scene.executed == scene.plan[0].tolist()
    assert scene.state().round_trip == pytest.approx(4.0, abs=0.2)


def disengaged(scene, seconds=1.5, velocity=(0.0, 0.1, 0.05)):
    scene.draw(1.0)
    scene.run(0.5)
    scene.queue.set_position_clutch(scene.now, False)
    scene.draw(seconds, velocity)
    scene.run(0.5)
    return scene


def trial_points(scene):
    return [update.points for update in scene.updates if update.trial and update.points is not None]


def test_claim_08_position_continuity_is_enabled_and_disabled():
    """Disabled, the plan is interrupted and a second sequence is generated from the same stream."""
    scene = disengaged(Scene())
    head = scene.state().head_seq
    scene.draw(1.0)
    assert scene.state().head_seq == head
    assert sum(len(points) for points in trial_points(scene)) - 1 == scene.state().trial_length > 100


def test_claim_09_a_second_forward_simulation_shows_the_possible_future():
    """Planned path and trial path are depicted as two simulations in one scene."""
    scene = disengaged(Scene())
    trial, plan = scene.forward.trial_head(), scene.forward.head()
    assert np.allclose(trial.tool_pose[:3], trial_points(scene)[-1].pose[-1, :3], atol=1e-4)
    assert np.allclose(plan.tool_pose[:3], scene.plan[2][-1], atol=1e-4)
    assert np.linalg.norm(trial.tool_pose[:3] - plan.tool_pose[:3]) > 0.1


def test_claim_10_the_arm_performs_its_plan_while_the_trial_is_drawn():
    """A human, a jointed work robot, and the first sequence carried out meanwhile."""
    scene = Scene(delay=0.1, robot=executor_models.ExecutorRobot())
    scene.queue.set_time_ratio(scene.now, 3.0)  # the arm is at work for longer than the hand draws
    scene.draw(1.0)
    scene.queue.set_position_clutch(scene.now, False)
    head, begun, place = scene.state().head_seq, len(scene.executed), scene.robot.pose.copy()
    scene.draw(1.0, (0.0, -0.1, 0.05))
    assert begun < len(scene.executed) < head  # in the middle of its plan, and going on
    assert np.linalg.norm(scene.robot.pose[:3] - place[:3]) > 0.01
    assert scene.state().head_seq == head
    assert scene.state().trial_length > 40
    scene.finish()
    assert scene.executed == scene.plan[0].tolist()
    assert scene.robot.worst_acceleration <= 1.0


def test_claim_11_a_second_memory_keeps_the_order_during_the_interruption():
    """What is received during the interruption is stored in order and shown by the forward simulation."""
    scene = disengaged(Scene())
    first = [points.first_seq for points in trial_points(scene)]
    assert first == sorted(first)
    time = np.concatenate([points.time for points in trial_points(scene)])
    assert np.all(np.diff(time) > 0.0)
    assert scene.forward.trial_head().time == pytest.approx(time[-1])


def test_claim_12_link_on_reengage():
    """On re-engagement the latest points of both memories are linked automatically."""
    scene = disengaged(Scene())
    goal = trial_points(scene)[-1].pose[-1, :3]
    outcome = scene.queue.set_position_clutch(scene.now, True, Join.CONNECT)
    scene.finish()
    _, time, position, kind = scene.plan
    assert outcome.engaged
    assert np.count_nonzero(kind == Timing.LINK) == outcome.appended
    assert np.allclose(position[-1], goal, atol=1e-9)
    assert np.linalg.norm(np.diff(position, axis=0), axis=1).max() < 0.005
    assert np.diff(time).min() > 0.0


def test_claim_13_joined_data_move_through_both_buffers_to_the_robot():
    """Buffers on both sides of the link; re-engagement moves the second memory into the first buffer."""
    scene = disengaged(Scene(delay=0.5))
    outcome = scene.queue.set_position_clutch(scene.now, True, Join.ADOPT)
    assert outcome.appended > 50
    assert scene.robot.tail_seq < scene.state().head_seq
    scene.finish()
    assert scene.robot.tail_seq == scene.state().head_seq
    assert scene.executed == scene.plan[0].tolist()


def laid_ahead(delay=0.3, **kwargs):
    """A plan long ahead of an arm that is slow."""
    scene = Scene(delay=delay, **kwargs)
    scene.robot.rate = 0.2
    scene.draw(4.0)
    return scene


def test_claim_14_planning_is_reversed_last_in_first_out():
    """Only a part of what is not performed is deleted, from the tail."""
    scene = laid_ahead()
    before = scene.plan[0].tolist()
    scene.queue.set_brake(scene.now, 2.0)
    heads = []
    for _ in range(10):
        scene.run(0.1)
        heads.append(scene.state().head_seq)
    assert heads == sorted(heads, reverse=True)
    assert scene.plan[0].tolist() == before[: len(scene.plan[0])]
    assert scene.state().length > 0


def test_claim_15_the_rate_of_deleting_is_set_in_a_range():
    """A rate inside a range of allowed rates; outside it is refused."""
    for rate in (0.5, 3.0):
        scene = laid_ahead()
        head = scene.state().head_time
        scene.queue.set_brake(scene.now, rate)
        scene.run(0.6)
        assert head - scene.state().head_time == pytest.approx(0.6 * rate, abs=0.1 * rate + 0.02)
    with pytest.raises(InvalidValueError, match="brake_rate"):
        scene.queue.set_brake(scene.now, 1e6)


def test_claim_16_everything_not_performed_is_deleted_at_once():
    """A third means deletes all of it in a substantially simultaneous manner."""
    scene = laid_ahead()
    assert scene.state().length > 100
    deleted = scene.queue.clear(scene.now)
    assert deleted > 100
    assert scene.state().length < 30
    scene.finish()
    assert scene.executed == scene.plan[0].tolist()
    assert len(scene.executed) < 80


def test_claim_17_the_forward_simulation_runs_backward_under_the_brake():
    """On line, deletions alter the simulation."""
    scene = laid_ahead()
    before = scene.forward.head_time
    scene.queue.set_brake(scene.now, 2.0)
    start = len(scene.simulated)
    scene.run(0.8)
    under_brake = np.array(scene.simulated[start:])
    assert np.all(np.diff(under_brake) <= 1e-9)
    assert before - scene.forward.head_time == pytest.approx(1.6, abs=0.15)
    assert np.allclose(scene.forward.head().tool_pose[:3], scene.plan[2][-1], atol=1e-4)


def test_claim_18_what_is_performed_or_committed_cannot_be_deleted():
    """Deleting ends at that portion of the plan which is not yet performed."""
    scene = Scene(delay=0.3)
    scene.draw(3.0)
    scene.queue.set_brake(scene.now, 20.0)
    scene.run(2.0)
    assert "committed" in scene.state().notice
    scene.queue.set_brake(scene.now, 0.0)
    scene.finish()
    assert scene.executed == scene.plan[0].tolist()


def test_claim_19_queue_brake_rate_and_simulation_work_together():
    """First-in first-out queue, deleting at a rate, and the presentation of what is left."""
    scene = laid_ahead()
    scene.queue.set_brake(scene.now, 1.0)
    scene.run(0.5)
    scene.queue.set_brake(scene.now, 0.0)
    assert np.allclose(scene.queue.remaining(10_000)[-1, :3], scene.forward.head().tool_pose[:3], atol=1e-4)
    scene.robot.rate = 1.0
    scene.finish()
    assert scene.executed == scene.plan[0].tolist()


def test_claim_20_the_brake_works_on_a_remote_robot():
    """Two-way transfer over telecommunication: the robot's buffer follows what the operator deleted."""
    scene = laid_ahead(delay=0.5)
    scene.queue.set_brake(scene.now, 2.0)
    scene.run(0.8)
    scene.queue.set_brake(scene.now, 0.0)
    assert scene.robot.tail_seq > scene.state().head_seq
    scene.run(1.5)
    assert scene.robot.tail_seq == scene.state().head_seq


def test_claim_21_points_are_to_be_performed_at_a_scaled_time_of_acquisition():
    """A non-unity function of acquisition time: proportional to it."""
    scene = Scene()
    scene.queue.set_time_ratio(scene.now, 2.0)
    head = scene.state().head_time
    scene.draw(2.0)
    assert scene.state().head_time - head == pytest.approx(4.0, abs=0.05)
    assert scene.plan[3][-1] == Timing.SCALED


def test_claim_22_scaled_or_synchronised_is_selected():
    """The agent selects between both, point by point."""
    scene = Scene()
    for ratio in (1.0, 0.5, 1.0):
        scene.queue.set_time_ratio(scene.now, ratio)
        scene.draw(0.5)
    kinds = scene.plan[3]
    changes = kinds[np.flatnonzero(np.diff(kinds, prepend=-1.0))].tolist()
    assert changes == [Timing.SYNCED, Timing.SCALED, Timing.SYNCED]


def test_claim_23_the_time_scale_is_taken_from_a_range():
    """A particular scale from an allowed range of different ones."""
    scene = Scene()
    for ratio in (0.1, 1.0, 10.0):
        assert scene.queue.set_time_ratio(scene.now, ratio) == ratio
    for ratio in (0.05, 11.0):
        with pytest.raises(InvalidValueError, match="time_ratio"):
            scene.queue.set_time_ratio(scene.now, ratio)
    assert scene.state().time_ratio == 10.0


def test_claim_24_the_scaled_plan_is_displayed_ahead_of_the_arm():
    """Scale, arm and the portion not performed are on the monitor together."""
    scene = Scene(delay=0.5)
    scene.queue.set_time_ratio(scene.now, 3.0)
    scene.draw(1.5)
    assert scene.state().time_ratio == 3.0
    assert scene.forward.lead(scene.robot.plan_time) > 3.0
    assert len(scene.queue.remaining(1000)) == scene.state().length


def test_claim_25_planning_goes_on_while_the_arm_moves():
    """Command signals are given, scaled, while the agent is performing earlier ones."""
    scene = Scene(delay=0.1, robot=executor_models.ExecutorRobot())
    scene.queue.set_time_ratio(scene.now, 1.5)
    scene.draw(1.0)
    moving = len(scene.executed)
    scene.draw(1.0)
    assert moving < len(scene.executed) < scene.state().head_seq
    scene.finish()
    assert scene.executed == scene.plan[0].tolist()
    assert scene.robot.worst_velocity <= 1.0


def test_claim_26_the_kind_of_timing_is_selected_while_the_arm_moves():
    """Time-synchronised or scaled, chosen by the agent during operation."""
    scene = Scene(delay=0.1, robot=executor_models.ExecutorRobot())
    for ratio in (1.0, 2.0):
        scene.queue.set_time_ratio(scene.now, ratio)
        scene.draw(1.0)
    scene.finish()
    assert {Timing.SYNCED, Timing.SCALED} <= set(scene.plan[3].tolist())
    assert scene.executed == scene.plan[0].tolist()


def test_claim_27_a_human_sees_scale_arm_and_plan_of_an_articulated_robot():
    """Human agent, jointed manipulator, range of scales, monitor."""
    scene = Scene(delay=0.2)
    scene.queue.set_time_ratio(scene.now, 2.0)
    scene.draw(1.0)
    state = scene.state()
    assert (state.time_ratio, state.time_clutch) == (2.0, True)
    assert state.lead > 1.0
    arm = scene.forward.head()
    assert np.allclose(pose_from_se3(ARM.forward(arm.joint_position))[:3], arm.tool_pose[:3], atol=1e-5)
    assert np.allclose(scene.queue.remaining(1000)[-1, :3], arm.tool_pose[:3], atol=1e-4)
    assert np.linalg.norm(arm.tool_pose[:3] - scene.robot.pose[:3]) > 0.02  # the arm is shown apart from the plan's end


def hand_off(two):
    """Ann plans a long sweep; Bob's simulated tool waits beside it, then comes near."""
    two.run(1.5)
    two.robot.rate = 0.3
    begin = two.now
    two.run(5.0, ann=two_agents.sweep(begin), bob=two_agents.at(0.5, 0.3))
    two.say("bob", AuthorityKind.REQUEST)
    two.say("ann", AuthorityKind.CONSENT)
    two.run(1.0, ann=two_agents.sweep(begin), bob=two_agents.at(0.5, 0.3))
    far = two.robot.receiver.position.authority
    two.run(3.0, ann=two_agents.sweep(begin), bob=two_agents.at(0.41, 0.3))
    return far


def test_claim_28_control_passes_when_the_second_simulation_is_near_the_first_plan():
    """Transfer when the second simulation is within a predetermined distance from a portion of the first plan."""
    two = two_agents.Two()
    assert hand_off(two) == "ann"
    assert two.robot.receiver.position.authority == "bob"
    two.robot.rate = 1.0
    two.run(15.0, bob=two_agents.at(0.45, 0.25))
    authors = [author for _, author in two.robot.executed]
    assert authors == sorted(authors)
    assert np.allclose(two.robot.pose[:3], [0.45, 0.25, 0.4], atol=1e-3)


def test_claim_29_a_human_takes_over_from_a_program():
    """At least one of the agents is human: here a hand on a device takes over from a program's poses."""
    two = two_agents.Two()
    hand_off(two)
    queue = two.sides["bob"][0]
    assert two.robot.receiver.position.authority == "bob"
    two.run(3.0)
    head = queue.state(two.now).target_pose[:3].copy()
    for k in range(200):
        two.step({})
        queue.command_pose(two.now, [9.0, 9.0 - 0.001 * k, 9.0, 0.0, 0.0, 0.0, 1.0], "device")
    two.robot.rate = 1.0
    two.run(12.0)
    assert two.robot.executed[-1][1] == "bob"
    assert np.allclose(two.robot.pose[:3] - head, [0.0, -0.199, 0.0], atol=0.002)  # the arm did what the hand did
    assert two.robot.refused == []
