"""`telerobot simulate`: a program with simulated arms and faults told by a file."""

import pytest

from telerobot_nodes.cli import main
from telerobot_nodes.core.protocol import StepState
from telerobot_nodes.operator.script import read_scripts

pytestmark = pytest.mark.lengthy  # together some seconds

PICK = "pick module and place on dock with left_arm"


@pytest.fixture
def simulate(tmp_path, capsys):
    """Runs a text with the lines of a faults file; exit code, printed lines, errors."""

    def run(text, faults="", *more):
        options = []
        if faults:
            (tmp_path / "faults.yaml").write_text(faults)
            options = ["--faults", str(tmp_path / "faults.yaml")]
        code = main(["simulate", text, *options, *more])
        printed = capsys.readouterr()
        return code, printed.out.splitlines(), " ".join(printed.err.split())

    return run


def steps(lines, mark):
    """Names of the steps with a mark, in order."""
    return [line.split()[3] for line in lines if line.split()[2:3] == [mark]]


def test_a_program_without_faults_succeeds_step_by_step(simulate):
    code, lines, _ = simulate(PICK)
    assert (code, lines[0]) == (0, f"command 1: {PICK}")
    assert steps(lines, "+")[-3:] == ["down", "let_go", "leave"]
    assert lines[-1].startswith("succeeded: done")


@pytest.mark.parametrize(
    ("fault", "failed", "recovery"),
    [
        ("close: slip", "take.close", "recovery grasp"),
        ("touch_1: missed", "take.touch_1", "recovery vision"),
        ("move_in: collision", "take.move_in", "recovery vision"),
        ("to_approach: timeout", "take.to_approach", "recovery away"),
        ("take.close: [none, slip]", "", ""),
    ],
)
def test_a_fault_is_recovered_as_the_skill_says(simulate, fault, failed, recovery):
    code, lines, _ = simulate(PICK, f"faults: {{{fault}}}")
    assert steps(lines, "x") == ([failed] if failed else [])
    assert any(recovery in line for line in lines)
    assert code == 0
    if not failed:
        assert lines[-1] == "the fault of take.close was not reached"


def test_a_fault_without_recovery_fails_with_its_reason(simulate):
    code, lines, _ = simulate("grasp module with left_arm", "faults: {to_approach: joint_limit}")
    assert code == 1
    assert lines[-1].startswith("failed:")
    assert steps(lines, "x") == ["to_approach"]


def test_a_subsystem_that_does_not_answer_ends_the_command(simulate):
    code, lines, _ = simulate("grasp module with left_arm", "silent: [left_gripper]")
    assert (code, "left_gripper does not answer" in lines[-1]) == (1, True)


def test_the_next_command_of_a_program_begins_where_the_first_ended(simulate, tmp_path):
    program = tmp_path / "program.txt"
    program.write_text("# two tasks\ngrasp module with left_arm;\nlift module by 5 cm\n")
    code, lines, _ = simulate(str(program))
    assert code == 0
    assert [line for line in lines if line.startswith("command")][1].startswith("command 2: lift module")


def test_the_operator_does_the_tasks_that_are_shown(simulate):
    code, lines, _ = simulate("lift module by 5 cm via operator-intervention")
    assert code == 1  # nobody holds it
    code, lines, _ = simulate("move left_arm to dock via operator-intervention")
    assert (code, lines[-1].startswith("succeeded")) == (0, True)


def test_what_is_saved_is_what_was_printed(simulate, tmp_path):
    log = tmp_path / "run.script"
    simulate(PICK, "faults: {close: slip}", "--log", str(log))
    scripts = read_scripts(log)
    assert [step.name for step in scripts[-1].steps if step.state is StepState.FAILED] == ["take.close"]
    assert scripts[-1].outcome == "succeeded"
    assert [script.time for script in scripts] == sorted(script.time for script in scripts)


@pytest.mark.parametrize(
    ("text", "says"),
    [("grasp modle", "modle"), ("grasp", "ends too early"), ("confirm each step; grasp module", "waits for your step")],
)
def test_a_program_that_is_wrong_or_not_at_its_end_is_no_success(simulate, text, says):
    code, lines, _ = simulate(text + " ")
    if len(text.split()) > 1:
        assert (code, says in "\n".join(lines)) == (1, True)
    else:
        assert code == 2


@pytest.mark.parametrize(
    ("faults", "says"),
    [
        ("faults: {clsoe: slip}", "faults.yaml:1:10: clsoe: no step of a skill is called so; did you mean close"),
        ("faults: {close: slipp}", "'slipp' is not allowed; allowed: none, "),
        ("faults: {close: [slip, {}]}", "is not allowed"),
        ("faults: close", "a mapping is expected"),
        ("fault: {}", "did you mean faults"),
        ("silent: [left_leg]", "'left_leg' is not allowed; allowed: a list of camera"),
        ("sensors: {scale: 1}", "the workcell has no such sensor"),
    ],
)
def test_a_wrong_file_of_faults_is_refused_at_its_key(simulate, faults, says):
    code, lines, errors = simulate("grasp module", faults)
    assert (code, lines) == (2, [])
    assert says in errors


def test_a_missing_program_is_refused_by_name(simulate):
    assert simulate("no_such_file.txt")[0] == 2
    assert "no_such_file.txt" in simulate("no_such_file.txt")[2]


def test_a_program_that_is_no_text_is_refused_by_its_file(simulate, tmp_path):
    file = tmp_path / "noise.txt"
    file.write_bytes(b"\xd3\xff\x00")
    code, _, said = simulate(str(file))
    assert code == 2
    assert "noise.txt: not readable" in said
