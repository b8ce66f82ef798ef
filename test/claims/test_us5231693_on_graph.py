"""Claims of US 5,231,693 whose words speak of the remote manipulator, on a real graph behind a delay each way.

The local simulators are the arm in physics of `telerobot macro test`, without and with the delay of the practice robot.
The remote manipulator is the graph: its own processes, control loop and physics.
"""

import time

import numpy as np
import pytest
from practice_graph import ONE_WAY, practice_graph

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.macros import OfflineRobot, check_macro, play, read_macros, steps_of

pytestmark = [
    pytest.mark.system,
    pytest.mark.nightly,
    pytest.mark.timeout(300),
    pytest.mark.timing("measured joints older than 0.1 s stop the arm, as when the machine stalls"),
]

NAMESPACE = "practice"
ARM = load_robot("arm")
MACRO = """\
macro: feel
version: 1
doc: Move along the tool's axis, turn, touch what is below, and back.
motion: relative
parameters:
  way: {unit: m, low: 0.01, high: 0.2, default: 0.02}
steps:
  - step: go
    primitive: cartesian_guarded
    values: {tr_rel_dest: [0, 0, "${way}", 0, 0, 0.0998334, 0.9950042], time_vel_sel: velocity, time_vel_val: 0.1}
  - step: touch
    primitive: move_to_touch
    values: {tr_rel_dest: [0, 0, 0.4, 0, 0, 0, 1], time_vel_sel: velocity, time_vel_val: 0.1, max_force_thres: 8}
    accept: [touched]
  - step: back
    primitive: cartesian_guarded
    values: {tr_rel_dest: [0, 0, "${-2 * way}", 0, 0, 0, 1], max_force_thres: 0, max_torque_thres: 0}
"""
GAINS = [1e-3, 1e-3, 1e-3, 0.3, 0.3, 0.3]
PUSH = (0.002, 0.0, 0.001, 0.0, 0.0, 0.0)  # [m/s] along the plate, and into it: 10 mm
HAND = (1.0, 11.0)  # [s] from when to when it pushes
UP = {"tr_rel_dest": [0, 0, -0.05, 0, 0, 0, 1], "max_force_thres": 0, "max_torque_thres": 0}


@pytest.fixture(scope="module")
def graph():
    with practice_graph(jitter=0.0):
        yield


@pytest.fixture
def remote(graph):
    from telerobot_nodes.client import connect

    with connect(NAMESPACE, "test") as robot:
        assert robot.wait_ready(30.0), robot.state
        assert robot.wait_until(lambda state: state.link is not None and state.link.delay == ONE_WAY, 20.0)
        yield robot


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "feel.yaml").write_text(MACRO)
    return tmp_path


def on_the_local_robot(folder, q, delay=0.0):
    """The macro on the local simulator that stands at `q`: its end, and where the tool ended."""
    local = OfflineRobot(ARM, q, one_way=delay)
    end = play(steps_of(read_macros(folder), "feel", {}, local.context), local.send, lambda _: None)
    return end, local.context().tool_pose, local.rig.now


def test_claim_1_numbers_developed_locally_are_sent_with_their_order_and_the_remote_arm_does_the_same(remote, folder):
    """Local primitives and related remote ones; numbers modified until the local simulation performs; then transfer."""
    from telerobot_nodes.nodes.macros import MacroPlayer

    q = np.array(remote.state.joint_position)
    ends = []
    for way in ("0.02", "0.05"):  # developed, modified, and performed again
        (folder / "feel.yaml").write_text(MACRO.replace("default: 0.02", f"default: {way}"))
        end, tool, _ = on_the_local_robot(folder, q)
        assert end.succeeded, end.reason
        ends.append(tool)
    assert ends[1][2] - ends[0][2] == pytest.approx(0.06, abs=2e-3)  # from the same surface

    steps = check_macro(read_macros(folder), "feel", ARM, {})
    end = MacroPlayer(remote).send_whole("feel", steps, 120.0, lambda _: None)
    assert end.succeeded, end.reason
    assert [one.result for one in end.steps] == ["completed", "touched", "completed"]
    reached = place(settled(remote))
    assert np.abs(reached - ends[1][:3]).max() < 2e-3


def test_claim_3_numbers_are_modified_on_a_drawn_simulation_and_then_on_a_local_manipulator(remote, folder):
    """A graphics simulator first: the forward simulation draws the motion, and the remote arm stays where it is."""
    from telerobot_nodes.cli.app import main
    from telerobot_nodes.nodes.clients import Terminal

    q, stood = np.array(remote.state.joint_position), place(settled(remote))
    words = ["macro", "test", "feel", "--show", "--namespace", NAMESPACE, "--folder", str(folder)]
    with pytest.raises(ValueError, match="way"):
        check_macro(read_macros(folder), "feel", ARM, {"way": (0.5,)})
    drawn = []
    with Terminal(NAMESPACE) as terminal:
        for way in (0.02, 0.05):
            assert main([*words, f"way={way}"]) == 0
            assert terminal.wait_for(lambda client: arrived(client) and not drawn_already(client, drawn), 60.0)
            drawn.append(terminal.operator.motion_path)
    for path in drawn:
        assert np.abs(path[0] - stood).max() < 2e-3
    assert drawn[1][-1][2] - drawn[0][-1][2] == pytest.approx(0.06, abs=2e-3)  # back by twice the way, from the plate
    assert np.abs(place(settled(remote)) - stood).max() < 1e-3
    for way, path in zip(("0.02", "0.05"), drawn, strict=True):  # then the local manipulator, with these numbers
        (folder / "feel.yaml").write_text(MACRO.replace("default: 0.02", f"default: {way}"))
        end, tool, _ = on_the_local_robot(folder, q)
        assert end.succeeded, end.reason
        assert np.abs(tool[:3] - path[-1]).max() < 1e-3


def test_claim_2_an_execution_is_modified_by_teleoperation(remote):
    """Automatic and manual control merge: the arm keeps 10 N on the plate while a hand pushes 10 mm into it."""
    from telerobot_nodes.nodes.clients.discovery import find_prefix
    from telerobot_nodes.nodes.framework import Foreground
    from telerobot_nodes.nodes.messages import twist_stamped

    assert remote.primitive("cartesian_guarded", **UP).wait().ok
    touch = remote.primitive(
        "move_to_touch",
        tr_rel_dest=[0, 0, 0.4, 0, 0, 0, 1],
        time_vel_sel="velocity",
        time_vel_val=0.05,
        max_force_thres=8,
    ).wait()
    assert touch.reason == "touched", touch
    law = {"sel_vect_fc": [0, 0, 1, 0, 0, 0], "force_setpoints": [0, 0, 10, 0, 0, 0], "dead_zone": [0] * 6}
    law |= {"force_gains": GAINS, "max_force_thres": 60, "max_tele_vel": [0.05, 0.05, 0.0015, 0.5, 0.5, 0.5]}
    pressed = remote.primitive("gcm", **law, end_time=3.0).wait()
    assert pressed.ok, pressed
    seen = []
    with Foreground("hand", NAMESPACE) as hand:
        hand.prefix = find_prefix(hand, hand.wait)
        publisher = hand.publisher("gcmsf_control/teleop_cmds")
        assert hand.wait(publisher.get_subscription_count, 10.0)
        running = remote.primitive("gcm", **law, sel_vect_tp=[1, 1, 1, 0, 0, 0], end_time=14.0)
        while not running.ended:
            report = running.report
            if report is not None and report.phase == "ending" and (not seen or report is not seen[-1]):
                seen.append(report)
            if report is not None and report.phase == "ending" and HAND[0] < report.elapsed < HAND[1]:
                publisher.publish(twist_stamped(np.array(PUSH), "tool", hand.stamp()))  # as long as it is reported
            hand.spin(0.04)
    assert running.wait().ok, running.wait()
    force = np.array([report.wrench[2] for report in seen])
    tool = np.array([report.tool_pose[:3] for report in seen])
    elapsed = np.array([report.elapsed for report in seen])
    arrived = [at + 2.0 * ONE_WAY for at in HAND]  # sent when a report shows the time, which is old by then
    pushed = (elapsed > arrived[0]) & (elapsed < arrived[1])
    alone = (elapsed < HAND[0]) | (elapsed > arrived[1] + 0.5)
    assert np.abs(force - 10.0).max() < 3.0
    assert force[pushed].mean() > force[alone].mean() + 0.2  # the hand is felt
    assert np.abs(tool[:, 2] - tool[0, 2]).max() < 1e-3  # and the plate is not pushed in
    assert np.linalg.norm(tool[-1, :2] - tool[0, :2]) > 0.01  # across the force, the hand leads


def test_claim_4_the_local_simulation_has_the_delay_that_is_expected_at_the_remote(remote, folder):
    """A delay between command and execution at the local robot, as it is to the remote one."""
    ends, times = [], []
    for delay in (0.0, ONE_WAY):
        end, _, took = on_the_local_robot(folder, np.array(ARM.home), delay)
        ends.append([step.result for step in end.steps])
        times.append(took)
    assert ends[0] == ends[1] == ["completed", "touched", "completed"]
    assert times[1] - times[0] == pytest.approx(6 * ONE_WAY, abs=0.1)
    began = time.monotonic()
    moved = remote.primitive("cartesian_guarded", **UP).wait()
    assert moved.ok, moved
    assert time.monotonic() - began >= 2.0 * ONE_WAY + moved.report.elapsed


def test_claim_6_numbers_are_modified_while_the_sequence_runs(remote):
    """The parameters of a remote primitive are modified during its execution, one way later, without a jump."""
    slow = remote.primitive("cartesian_guarded", **{**UP, "time_vel_sel": "velocity", "time_vel_val": 0.005})
    speeds = []
    changed = None
    for report in slow:
        if report.phase != "nominal":
            continue
        speeds.append((report.elapsed, np.array(report.tool_pose[:3])))
        if changed is None and report.elapsed > 1.0:
            changed = slow.change(time_vel_val=0.05)
    assert changed is not None
    assert changed.done, changed
    end = slow.wait()
    assert end.ok, end
    assert end.report.elapsed < 8.0  # 10 s at the first speed


def test_claim_7_a_number_is_taken_from_the_context_when_the_primitive_begins(remote, folder):
    """The second step goes to 20 mm above where the tool is by then, which depends on the first."""
    from telerobot_nodes.nodes.macros import MacroPlayer

    text = """\
macro: level
version: 1
doc: Move on, then to 20 mm above where the tool is by then.
motion: relative
steps:
  - step: go
    primitive: cartesian_guarded
    values: {tr_rel_dest: [0, 0, -0.03, 0, 0, 0, 1], max_force_thres: 0, max_torque_thres: 0}
  - {step: up, primitive: cartesian_guarded, values: {tr_tn_dest: "${shift(tool.pose, (0, 0, 1), 0.02)}"}}
"""
    (folder / "level.yaml").write_text(text)
    start = place(settled(remote))
    player = MacroPlayer(remote)
    end = player.run(read_macros(folder), "level", {}, "arm", override=True)
    assert end.succeeded, end.reason
    moved = place(settled(remote)) - start
    assert moved[2] == pytest.approx(0.05, abs=3e-3)  # the tool looks down


def place(q):
    """(3,) [m] of the tool in WORLD."""
    return ARM.forward(q).translation.copy()


def arrived(client):
    """Whether the drawn arm is at the end of the drawn path."""
    path, joints = client.motion_path, client.motion_joints
    return len(path) > 1 and joints.size and np.abs(place(joints) - path[-1]).max() < 1e-4


def drawn_already(client, paths):
    return any(np.array_equal(client.motion_path, path) for path in paths)


def settled(robot):
    """Joints of the arm at rest, as received over the link."""
    seen, news = [], time.monotonic() + 2.0 * ONE_WAY  # what is received before may be older than what was sent

    def still(state):
        seen.append(np.array(state.joint_position))
        return time.monotonic() > news and np.abs(seen[-1] - seen[-5]).max() < 1e-5 and not state.moving

    assert robot.wait_until(still, 20.0), robot.state
    return seen[-1]
