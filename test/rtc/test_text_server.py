"""Texts in, answers out: questions, macros, tasks of the operator, errors; nothing half done."""

import pytest

from telerobot_nodes.rtc.world import Validity


def last(cell):
    return cell.replies[-1]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("grasp modul with left_arm", "did you mean module?"),
        ("grasp module with left_am", "did you mean left_arm?"),
        ("perform nothing", "no skill is called"),
        ("run nothing", "no macro"),
        ("move left_arm to nowhere", "nowhere"),
    ],
)
def test_a_command_about_something_unknown_is_refused_with_a_report(cell, text, says):
    report = cell.run(text)
    assert report.outcome == "refused"
    assert says in report.reason
    assert cell.executor.sent == []


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("grsp module", "did you mean grasp?"),
        (b"grasp \xff", "not UTF-8"),
        ("#" * 200_000, "at most"),
        ("", "empty"),
        ("cancel command 99", "command 99 is not under way"),
        ("done task 7", "task 7 is not shown"),
        ("failed task 7", "task 7 is not shown"),
        ("forget nothing", "no such macro"),
        ("grasp module; halt", "a control word cannot follow a task"),
        ("status; halt; grasp module", "a task cannot follow a halt"),
        ("status; reload skills", "stands alone"),
        ("define a as { halt }", "a macro holds tasks only"),
    ],
)
def test_a_text_that_cannot_be_taken_is_answered_and_changes_nothing(cell, text, says):
    before = cell.database.view.query()
    assert cell.say(text) == 0
    assert not last(cell).ok
    assert says in last(cell).text
    assert cell.unit.commands == {}
    assert cell.database.view.query() == before


def test_questions_are_answered(cell):
    cell.say("hold left_arm for 5 s as rest")
    cell.settle(until=0.5)
    for text, says in [
        ("status", "command 1 (operator): executing at stay: hold left_arm"),
        ("status command 1", "command 1"),
        ("status rest", "command 1"),
        ("show resources", "left_arm (exclusive): command 1"),
        ("show commands", "command 1"),
        ("show tasks", "none"),
        ("show objects", "module"),
        ("show skills", "grasp (grasp): Grasp an object"),
        ("show database", "module.mass = 0.8 (valid)"),
        ("show module", "module.kind = box"),
        ("show macros", "none"),
        ("where module", "module: (0.7000, -0.1700, 0.2500"),
        ("where left_arm", "busy"),
        ("where nothing", "the database has no"),
        ("help grasp", "grasp name"),
        ("help", "help WORD"),
        ("help nothing", "nothing is known"),
    ]:
        cell.say(text)
        assert says in last(cell).text, text
    cell.settle()


def test_macros_are_defined_run_and_forgotten(cell):
    cell.say("define fetch(thing, arm) as { grasp thing with arm; lift thing by 5 cm with arm }")
    assert last(cell).ok
    cell.say("run fetch(module, left_arm)")
    cell.settle()
    assert [report.outcome for report in cell.reports.values()] == ["succeeded", "succeeded"]
    cell.say("run fetch(module)")
    cell.settle()
    assert "takes 2 names" in cell.reports[3].reason
    cell.say("forget fetch")
    assert cell.run("run fetch(module, left_arm)").outcome == "refused"


def test_an_operator_performs_a_grasp_step_by_step(make_cell):
    """The source's example: grasp Object with Right_arm via Operator_intervention."""
    cell = make_cell()
    shown = []

    def perform(task):
        shown.append(task.text)
        if "grasp-point-of" in task.text:  # the operator drives the arm there by hand
            pose = cell.checks.kinematics.solve(
                "right_arm", (0.44, -0.24, 0.4, 0, 1, 0, 0), cell.executor.joints["right_arm"]
            )
            cell.executor.joints["right_arm"] = pose
            at = cell.checks.kinematics.forward("right_arm", pose)
            cell.interface.measured("right_arm", tuple(pose.tolist()), tuple(at.tolist()), cell.now)
        return f"done task {task.task}" + (" width = 41 mm" if "close" in task.text else "")

    cell.on_task = perform
    report = cell.run("grasp Module with Right_arm via Operator_intervention")
    assert report.outcome == "succeeded", report
    assert shown == [
        "move right_arm to neighborhood-of module",
        "move right_arm to grasp-point-of module",
        "close right_gripper on module",
    ]
    assert {primitive.subsystem for primitive in cell.executor.sent} == {"operator"}
    view = cell.database.view
    assert view.read("right_arm.holds") == "module"
    assert view.read("right_gripper.width") == pytest.approx(0.041)
    assert view.pose("right_arm")[:2] == pytest.approx([0.44, -0.24])  # by kinematics
    assert view.item("module.pose").frame == "right_arm"
    assert view.pose("module")[:2] == pytest.approx([0.44, -0.24])


def test_an_operator_who_cannot_says_why(make_cell):
    cell = make_cell()
    cell.on_task = lambda task: f'failed task {task.task} because "the handle is gone"'
    report = cell.run("grasp module with left_arm via operator-intervention")
    assert (report.outcome, report.reason) == ("failed", "the handle is gone")
    assert cell.database.view.read("left_arm.holds") == ""


def test_a_place_in_the_operators_answer_is_where_the_tool_is(cell):
    cell.say("grasp module with left_arm via operator-intervention")
    cell.settle(until=1.0)
    cell.say("done task 1 at grasp-point-of module")
    cell.settle(until=2.0)
    assert cell.database.view.pose("left_arm", Validity.BUSY) == pytest.approx((0.70, -0.17, 0.26, 0, 1, 0, 0))
    for place, says in (("home", "home is no pose"), ("nowhere", "nowhere"), ("dock width = 5 kg", "number of length")):
        cell.say(f"done task 2 at {place}")
        assert says in last(cell).text
        assert not last(cell).ok
        assert list(cell.tasks) == [2]  # it is still to be done
    cell.say("done task 2 at (0.4, -0.2, 0.5, 0, 1, 0, 0)")
    cell.settle(until=3.0)
    assert cell.database.view.pose("left_arm")[:3] == pytest.approx((0.4, -0.2, 0.5))


def test_a_halt_takes_the_tasks_away_from_the_operator(cell):
    number = cell.say("grasp module with left_arm via operator-intervention")
    cell.settle(until=1.0)
    assert list(cell.tasks) == [1]
    cell.say("halt")
    cell.settle()
    assert cell.tasks == {}
    assert cell.reports[number].outcome == "halted"
    cell.say("done task 1")
    assert not last(cell).ok


def owner(cell):
    return cell.database.view.read("left_arm.owner")


def test_a_request_gives_the_arm_to_whoever_asks(cell):
    cell.say("request left_arm", sender="host/console/1f")
    cell.settle()
    assert owner(cell) == "operator"
    cell.say("request left_arm", sender="host/console/2f")
    assert last(cell).text.startswith("1:1: operator has left_arm already")
    cell.say(
        "request left_arm; move left_arm to home", sender="host/survey/3f"
    )  # a program, and then the arm is its own
    cell.settle()
    assert owner(cell) == "program"
    assert {report.outcome for report in cell.reports.values()} == {"succeeded"}


def test_a_grant_gives_the_arm_to_the_agent_named_and_only_the_holder_or_the_operator_grants(cell):
    cell.say("grant left_arm to planner", sender="host/survey/1f")
    cell.settle()
    assert owner(cell) == "planner"
    cell.say("request left_arm", sender="host/survey/1f")
    assert "planner has left_arm, and alone can grant it" in last(cell).text
    cell.say("grant left_arm to program", sender="host/survey/1f")
    assert "program cannot grant it" in last(cell).text
    assert cell.run("move left_arm to home", sender="host/survey/1f").outcome == "failed"  # it is the planner's
    assert cell.run("move left_arm to home", sender="host/planner/4f").outcome == "succeeded"
    cell.say("grant left_arm to operator", sender="host/planner/4f")
    cell.settle()
    assert owner(cell) == "operator"
    cell.say("grant left_arm to planner", sender="operator")
    cell.settle()
    assert owner(cell) == "planner"


def test_a_long_message_goes_to_a_worker_so_that_no_halt_waits_for_it(cell):
    long = "; ".join(["move left_arm to dock", "move left_arm to home"] * 300)
    outputs = cell.interface.submit("script", long, 0.0)
    assert [type(output).__name__ for output in outputs] == ["Dispatch"]
    cell.take(outputs)
    cell.settle(until=30.0)
    assert len(cell.reports) > 5
    cell.say("halt")
    cell.settle()
    assert {report.outcome for report in cell.reports.values()} == {"succeeded", "halted"}


def test_a_long_macro_is_defined_and_a_long_error_is_answered(cell):
    body = "; ".join(["move left_arm to dock"] * 60)
    cell.say(f"define tour as {{ {body} }}")
    cell.settle()
    assert last(cell).text == "macro tour is defined"
    cell.say("grsp module " + "# a remark" * 100)
    cell.settle()
    assert "did you mean grasp?" in last(cell).text
