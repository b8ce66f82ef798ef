"""A counter-example is reported with its steps; without one the interleavings are counted."""

import pytest
from hypothesis.stateful import RuleBasedStateMachine, rule

from telerobot_nodes.bench.plan import interleavings
from telerobot_nodes.bench.plan.checkout import load_test


class Broken(RuleBasedStateMachine):
    """Fails at the second press."""

    def __init__(self):
        super().__init__()
        self.presses = 0

    @rule()
    def press(self):
        self.presses += 1
        assert self.presses < 2, "pressed twice"


class Sound(RuleBasedStateMachine):
    """Never fails."""

    @rule()
    def press(self):
        pass


def test_a_counter_example_is_told_with_its_steps():
    found = interleavings.explore(Broken, 20, 1)
    assert "pressed twice" in found["counter_example"]
    assert "state.press()" in found["counter_example"]


def test_as_many_interleavings_are_tried_as_asked():
    found = interleavings.explore(Sound, 20, 1)
    assert found["counter_example"] == ""
    assert found["examples"] >= 1


@pytest.mark.parametrize("name", interleavings.MACHINES)
def test_every_machine_of_the_benchmark_is_there(name):
    file, machine = interleavings.MACHINES[name]
    assert issubclass(getattr(load_test(file), machine), RuleBasedStateMachine)


@pytest.mark.lengthy
def test_the_goals_name_each_machine():
    result = interleavings.run({"examples": "1", "machines": "model"})
    assert [goal["met"] for goal in result["goals"]] == [True, True]
