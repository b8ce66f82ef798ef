"""Parallel commands: no deadlock, no two holders, one report each, whatever is mixed with whatever."""

import random

import pytest

from telerobot_nodes.rtc.world import Validity

TASKS = [
    "grasp module with {arm}",
    "grasp box with {arm} queued",
    "pick module and place on dock with {arm} queued",
    "pick box and place on table with {arm}",
    "turn crank by 90 deg with {arm} queued",
    "turn crank with {arm} no-wait",
    "open drawer with {arm}",
    "push box by 3 cm along x with {arm} queued timeout 4 s",
    "move {arm} to above dock queued",
    "move {arm} to home",
    "move left_arm to dock; move left_arm to home; move left_arm to table",
    "locate module",
    "inspect box",
    "look at dock no-wait",
    "hold {arm} for 2 s queued",
    "wait for 2 s",
    "try grasp module with {arm}",
    "trade {arm} to operator queued",
    "return {arm} to program queued",
    "grasp nothing",
    "grasp module via operator-intervention with {arm} queued timeout 20 s",
    "touch table with {arm} queued retry 2",
]
STEPS = ["touch_1", "close", "to_approach", "down", "shut", "go", "round", "find", "let_go", "feel"]
FAULTS = ["missed", "collision", "timeout", "slip", "empty", "sensor_loss", "refused", "silent", "nonsense", "estop"]
WORDS = [
    "halt",
    "halt left_arm",
    "halt right_arm",
    "pause",
    "resume",
    "cancel all",
    "reset",
    "status",
    "halt command 2",
]


def play(make_cell, seed):
    rng = random.Random(seed)
    faults = {rng.choice(STEPS): rng.choices(FAULTS, k=rng.randint(1, 2)) for _ in range(rng.randint(0, 2))}
    cell = make_cell(faults=faults)
    cell.on_task = lambda task: f"done task {task.task}" if rng.random() < 0.7 else f"failed task {task.task}"
    numbers = []
    for _ in range(rng.randint(2, 7)):
        text = rng.choice(TASKS).format(arm=rng.choice(["left_arm", "right_arm"]))
        cell.at(rng.uniform(0.0, 6.0), lambda text=text: numbers.append(cell.say(text)))
    for _ in range(rng.randint(0, 2)):
        word = rng.choice(WORDS)
        cell.at(rng.uniform(0.0, 12.0), lambda word=word: cell.say(word))
        if word == "pause":
            cell.at(15.0, lambda: cell.say("resume"))
    cell.settle()
    return cell, numbers


def check(cell, numbers):
    """The cell checks at every output that no resource has too many holders."""
    assert cell.unit.commands == {}, [record.state for record in cell.unit.commands.values()]
    assert sorted(cell.reports) == list(range(1, max(cell.reports, default=0) + 1))
    assert set(numbers) - {0} <= set(cell.reports)
    assert all(count == 1 for count in cell.report_count.values())
    assert cell.unit.resources.waiting == ()
    assert not any(cell.unit.resources.holders(name) for name in cell.unit.resources.resources)
    assert cell.executor.busy_clashes == []
    assert cell.unit.tasks.shown == {}
    assert not any(item.validity is Validity.BUSY for item in cell.database.view.query())
    assert dict(cell.database.writers) == {}


@pytest.mark.brief(12)
@pytest.mark.parametrize("seed", range(60))
@pytest.mark.lengthy
def test_a_random_set_of_parallel_commands_ends_with_one_report_each(make_cell, seed):
    check(*play(make_cell, seed))


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_a_thousand_random_sets_of_parallel_commands_end_with_one_report_each(make_cell, block):
    for seed in range(1000 + 100 * block, 1100 + 100 * block):
        check(*play(make_cell, seed))


def test_two_arms_work_at_the_same_time(cell):
    first = cell.say("grasp module with left_arm")
    second = cell.say("grasp box with right_arm")
    cell.settle()
    assert cell.reports[first].outcome == cell.reports[second].outcome == "succeeded"
    subsystems = [primitive.subsystem for primitive in cell.executor.sent]
    assert subsystems.index("right_arm") < len(subsystems) - 1 - subsystems[::-1].index("left_arm")


def test_commands_are_independent_under_time_shift(make_cell):
    outcomes = []
    for shift in (0.0, 0.7, 3.1, 20.0):
        cell = make_cell()
        numbers = []
        cell.at(0.0, lambda cell=cell, n=numbers: n.append(cell.say("grasp module with left_arm")))
        cell.at(shift, lambda cell=cell, n=numbers: n.append(cell.say("pick box and place on table with right_arm")))
        cell.settle()
        poses = [cell.database.view.pose(name).round(6).tolist() for name in ("module", "box")]
        outcomes.append(([cell.reports[n].outcome for n in numbers], poses))
    assert all(outcome == outcomes[0] for outcome in outcomes)


def test_a_conflict_is_refused_or_queued_as_asked(cell):
    first = cell.say("grasp module with left_arm")
    refused = cell.say("move left_arm to dock")
    queued = cell.say("move left_arm to above dock queued")
    cell.settle()
    assert cell.reports[first].outcome == "succeeded"
    assert cell.reports[refused].outcome == "refused"
    assert "left_arm is held by command 1" in cell.reports[refused].reason
    assert cell.reports[queued].outcome == "succeeded"


def test_two_commands_for_one_object_do_not_run_together(cell):
    cell.say("grasp module with left_arm")
    second = cell.say("grasp module with right_arm")
    cell.settle()
    assert "module is held by command 1" in cell.reports[second].reason


def test_an_error_ends_its_command_and_a_global_error_ends_all(make_cell):
    cell = make_cell(faults={"touch_1": ["estop"]})
    first = cell.say("grasp module with left_arm")
    second = cell.say("hold right_arm for 500 s")
    cell.settle()
    assert cell.reports[first].outcome == "failed"
    assert cell.reports[second].outcome == "halted"
    assert "global error" in cell.reports[second].reason
    third = cell.run("move right_arm to home")
    assert (third.outcome, "not reset" in third.reason) == ("refused", True)
    cell.say("reset")
    assert cell.run("move right_arm to home").outcome == "succeeded"
