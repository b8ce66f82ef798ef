"""The program asks for the plan and gives it back: the decision unit's agent before the real executor."""

import contextlib
import dataclasses

import numpy as np
import pytest

from telerobot_nodes.core.protocol import AuthorityKind, ControlState, OperationKind
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.errors import AuthorityError
from telerobot_nodes.nodes.decision.authority_agent import AuthorityAgent, HandOver
from telerobot_nodes.plan.authority import AuthorityMessage
from telerobot_nodes.plan.executor import PlanExecutor
from telerobot_nodes.plan.log import ControlReport, Operation


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
def executor():
    robot = load_robot("arm")
    rig = Robot(robot)
    rig.executor.on_control(0.0, ControlReport(ControlState.HOLDING, 0, 0, 0.0, robot.home, np.zeros(robot.dof)))
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


@pytest.mark.parametrize(("kind", "outcome"), [(AuthorityKind.CONSENT, "granted"), (AuthorityKind.REFUSE, "denied")])
def test_a_program_that_asks_while_another_asks_waits_for_its_turn(executor, kind, outcome):
    epoch = executor.executor.report(0.0).epoch + 1
    executor.executor.receive(0.0, [Operation(epoch, 1, OperationKind.AUTHORITY, "ana")])
    executor.executor.on_authority(executor.now, AuthorityMessage(AuthorityKind.REQUEST, "eve"))
    agent = AuthorityAgent()
    executor.talk(agent)
    assert agent.begin(executor.now, HandOver(4, True)) == ""
    assert [executor.talk(agent) for _ in range(3)] == [None] * 3
    for decision, peer in ((AuthorityKind.REFUSE, "eve"), (kind, agent.agent)):
        executor.executor.on_authority(executor.now, AuthorityMessage(decision, "ana", peer, epoch))
    assert (4, outcome) in [executor.talk(agent) for _ in range(3)]
    assert agent.holds == (outcome == "granted")


def test_without_an_executor_there_is_nothing_to_hand_over():
    assert "no plan executor" in AuthorityAgent().begin(10.0, HandOver(1, True))
