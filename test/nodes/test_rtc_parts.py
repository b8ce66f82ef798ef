"""The decision unit's node, its parts without a graph: primitives as goals, reasons as outcomes, memory, authority."""

import contextlib
import dataclasses
from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest
import yaml

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.errors import AuthorityError
from telerobot_nodes.motion.executive import Executive, PrimitiveRequest
from telerobot_nodes.motion.monitors import Termination
from telerobot_nodes.nodes.rtc_authority import AuthorityAgent, HandOver
from telerobot_nodes.nodes.rtc_memory import Memory
from telerobot_nodes.nodes.rtc_primitives import Ask, asks_of, begun_in_contact, joint_corners, outcome_of, task_corners
from telerobot_nodes.plan.authority import AuthorityKind
from telerobot_nodes.plan.executor import PlanExecutor
from telerobot_nodes.plan.operations import OperationKind
from telerobot_nodes.rtc.database import Item
from telerobot_nodes.rtc.messages import Job, Work
from telerobot_nodes.rtc.robot_checks import RobotChecks
from telerobot_nodes.rtc.skill_files import load_library
from telerobot_nodes.rtc.snapshot import Keeper
from telerobot_nodes.rtc.workers import Workers

HERE = pin.SE3.Identity()


@pytest.fixture(scope="module")
def robot():
    return load_robot("arm")


@pytest.fixture(scope="module")
def workers(root, robot):
    library = load_library(root / "config" / "rtc")
    checks = RobotChecks({name: load_robot("arm") for name in library.workcell.arms})
    pose = checks.kinematics.forward("left_arm", robot.home)
    items = [Item("left_arm.joints", tuple(robot.home.tolist())), Item("left_arm.pose", tuple(pose.tolist()))]
    return library, Workers(Keeper(None, [*library.workcell.items, *items]).database, checks)


def first_primitive(workers, text):
    library, room = workers
    request = room.run(Job(1, 1, Work.PARSE, library=library, text=text), 0.0).result.request
    script = room.run(Job(2, 1, Work.ELABORATE, library=library, request=request), 0.0)
    assert not script.error, script.error
    step = script.result.steps[-1 if text.startswith("touch") else 0]
    job = Job(3, 1, Work.BIND, library=library, request=request, planned=step, primitive=5)
    bound = room.run(job, 0.0)
    assert not bound.error, bound.error
    return bound.result, request


TEXTS = {
    "move left_arm to home": ["joint_guarded"],
    "move left_arm to above dock": ["joint_guarded"],
    "move left_arm to above dock via (0.45, 0.0, 0.6)": ["joint_path"],
    "move left_arm by 5 cm up": ["cartesian_guarded"],
    "move left_arm to above dock interpolate task via (0.45, 0.0, 0.6)": ["cartesian_guarded"] * 2,
    "touch table with left_arm": ["move_to_touch"],
    "hold left_arm for 2 s": ["compliant_motion"],
    "teleoperate left_arm": ["teleoperation"],
    "grasp module with left_arm": ["free_grasp"],
    "open gripper with left_arm": ["free_grasp"],
    "close gripper with left_arm": ["free_grasp"],
}


@pytest.mark.parametrize("text", TEXTS)
def test_every_primitive_of_an_arm_is_one_the_executive_takes(workers, robot, text):
    primitive, _ = first_primitive(workers, text)
    asks = asks_of(primitive, robot, HERE)
    assert [ask.name for ask in asks] == TEXTS[text]
    executive = Executive(robot, 0.005)
    for number, ask in enumerate(asks, 1):
        keys, texts = ask.texts
        values = {key: yaml.safe_load(value) for key, value in zip(keys, texts, strict=True)}
        executive.check(PrimitiveRequest(number, ask.name, values))


def test_a_pose_is_sent_in_the_world_of_the_arms_own_graph(workers, robot):
    primitive, _ = first_primitive(workers, "move left_arm by 5 cm up")
    T = pin.SE3(np.eye(3), np.array([0.0, -0.8, 0.0]))
    here, moved = (asks_of(primitive, robot, at)[0].values["tr_tn_dest"] for at in (HERE, T))
    np.testing.assert_allclose(np.array(moved[:3]) - here[:3], [0.0, 0.8, 0.0], atol=1e-12)


def test_the_thresholds_of_a_motion_begun_in_a_contact_count_from_there():
    ask = Ask("cartesian_guarded", {"max_force_thres": 10.0, "max_torque_thres": 3.0})
    pressed = begun_in_contact(ask, (0.0, 30.0, -40.0, 0.0, 1.0, 0.0))
    assert dict(pressed.values) == {"max_force_thres": 60.0, "max_torque_thres": 3.0}
    holding = Ask(ask.name, {**ask.values, "mass_prop": (0.8, 0.0, 0.0, 0.0)})
    assert begun_in_contact(holding, (0.0, 0.0, 9.0, 0.0, 0.0, 0.0)).values == holding.values  # its weight is none
    touch = Ask("move_to_touch", {"max_force_thres": 4.0})
    assert begun_in_contact(touch, (0.0, 0.0, 9.0, 0.0, 0.0, 0.0)).values == touch.values  # it is there to feel it
    assert begun_in_contact(ask, ()).values == ask.values
    preset = begun_in_contact(Ask("joint_path", {}), (0.0, 0.0, 19.0, 0.0, 0.0, 0.0))  # 20 N where none is given
    assert dict(preset.values) == {"max_force_thres": 39.0}


def test_a_path_is_cut_where_it_bends():
    corner = np.array([[0, 0, 0], [1, 0, 0], [2, 0, 0], [2, 1, 0], [2, 2, 0]], dtype=float)
    joints = np.hstack((corner, corner))
    assert joint_corners(joints) == [0, 2, 4]
    poses = np.hstack((0.1 * corner, np.tile([0, 1, 0, 0.0], (5, 1))))
    assert task_corners(poses) == [0, 2, 4]
    assert task_corners(poses[:1]) == [0, 0]


@pytest.mark.parametrize("reason", [r for r in Termination if r is not Termination.RUNNING])
@pytest.mark.parametrize("text", ["move left_arm to home", "touch table with left_arm", "hold left_arm for 2 s"])
def test_every_reason_of_the_executive_means_an_outcome_the_tables_know(workers, text, reason):
    library, _ = workers
    primitive, request = first_primitive(workers, text)
    outcome = outcome_of(primitive, request, reason.name.lower())
    known = {stop.outcome for kind in library.kinds.values() for stop in kind.stops}
    assert outcome in known


def test_a_threshold_set_by_a_reflex_means_that_reflex(workers):
    primitive, request = first_primitive(workers, "move left_arm to home unless force > 5 then stop")
    assert outcome_of(primitive, request, "max_force") == "reflex_1"
    assert outcome_of(primitive, request, "max_torque") == "collision"


def test_a_text_said_again_is_known_and_its_answers_are_kept():
    memory = Memory(most=3)
    key = ("shell_1", 1)
    assert memory.is_new(key)
    assert not memory.is_new(key)
    memory.keep(key, "reply", 7)
    memory.ended(SimpleNamespace(origin=7, more=True))
    memory.ended(SimpleNamespace(origin=7, more=False))
    memory.ended(SimpleNamespace(origin=7, more=False))  # nothing follows the last
    assert len(memory.said(key)) == 3
    for number in range(2, 5):
        assert memory.is_new(("shell_1", number))
    assert memory.said(key) == []  # the oldest is forgotten


class Robot:
    """An executor with its desk, and what agents say to it, over a link that loses nothing."""

    def __init__(self, robot):
        self.executor = PlanExecutor(robot)
        self.now = 0.0

    def talk(self, agent, said=()):
        """One round: what the agent says, and what it hears of it."""
        self.now += 0.3
        message, claim = agent.due(self.now)
        for entry in (*said, message):
            if entry is not None:
                with contextlib.suppress(AuthorityError):  # as the node does; the report tells
                    self.executor.on_authority(self.now, entry)
        if claim is not None:
            self.executor.receive(self.now, [claim])
        return agent.on_report(self.now, self.executor.report(self.now))


@pytest.fixture
def executor(robot):
    from telerobot_nodes.plan.control import ControlReport, LoopState

    rig = Robot(robot)
    rig.executor.on_control(0.0, ControlReport(LoopState.HOLDING, 0, 0, 0.0, robot.home, np.zeros(robot.dof)))
    return rig


def test_the_program_claims_a_free_plan_and_gives_it_back(executor):
    agent = AuthorityAgent()
    executor.talk(agent)
    assert agent.begin(executor.now, HandOver(4, True)) == ""
    assert [executor.talk(agent) for _ in range(2)][-1] == (4, "granted") or agent.holds
    assert agent.holds
    assert agent.begin(executor.now, HandOver(5, False)) == ""
    assert executor.talk(agent) == (5, "granted")
    assert not agent.holds


def test_the_program_asks_who_has_the_plan_and_takes_no_for_an_answer(executor):
    from telerobot_nodes.plan.authority import AuthorityMessage
    from telerobot_nodes.plan.operations import Operation

    epoch = executor.executor.report(0.0).epoch + 1
    executor.executor.receive(0.0, [Operation(epoch, 1, OperationKind.AUTHORITY, "ana")])
    agent = AuthorityAgent()
    executor.talk(agent)
    assert agent.begin(executor.now, HandOver(4, True)) == ""
    assert executor.talk(agent) is None  # asked
    refusal = AuthorityMessage(AuthorityKind.REFUSE, "ana", agent.agent, epoch)
    executor.executor.on_authority(executor.now, refusal)
    assert agent.on_report(executor.now, executor.executor.report(executor.now)) == (4, "denied")
    assert agent.begin(executor.now, HandOver(5, True)) == ""
    executor.talk(agent)
    executor.executor.on_authority(executor.now, dataclasses.replace(refusal, kind=AuthorityKind.CONSENT))
    results = [executor.talk(agent) for _ in range(3)]
    assert (5, "granted") in results
    assert agent.holds


def test_a_program_that_asks_while_another_asks_is_denied(executor):
    from telerobot_nodes.plan.authority import AuthorityMessage
    from telerobot_nodes.plan.operations import Operation

    epoch = executor.executor.report(0.0).epoch + 1
    executor.executor.receive(0.0, [Operation(epoch, 1, OperationKind.AUTHORITY, "ana")])
    executor.executor.on_authority(executor.now, AuthorityMessage(AuthorityKind.REQUEST, "eve"))
    agent = AuthorityAgent()
    executor.talk(agent)
    assert agent.begin(executor.now, HandOver(4, True)) == ""
    assert (4, "denied") in [executor.talk(agent) for _ in range(3)]


def test_without_an_executor_there_is_nothing_to_hand_over():
    assert "no plan executor" in AuthorityAgent().begin(10.0, HandOver(1, True))


@pytest.mark.parametrize(
    ("detail", "outcome"),
    [
        ("measured joints are 0.100 s old", "sensor_loss"),
        ("no setpoint for 0.1 s", "sensor_loss"),
        ("halt 3: ana: enough", "halted"),
        ("the control loop ends", "halted"),
        ("", "halted"),
    ],
)
def test_a_stop_that_nobody_asked_for_is_no_halt(workers, detail, outcome):
    primitive, request = first_primitive(workers, "move left_arm to home")
    assert outcome_of(primitive, request, "external_stop", detail) == outcome
