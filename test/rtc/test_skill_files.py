"""Skill files are refused with file, line and reason; what was in use stays in use."""

import shutil

import pytest

from telerobot_nodes.errors import ParameterFileError
from telerobot_nodes.rtc.language.rule_tables import TASK_RULES
from telerobot_nodes.rtc.skills import load_library, reload_library
from telerobot_nodes.rtc.skills.library_check import find_cycle


@pytest.fixture
def folder(config, tmp_path):
    shutil.copytree(config, tmp_path / "rtc")
    return tmp_path / "rtc"


def test_every_task_of_the_language_has_a_skill(library):
    verbs = {rule.rstrip("_") for rule in TASK_RULES} - {"perform"}
    assert {verb for verb in verbs if library.skill_for(verb) is None} == set()


def test_every_outcome_of_every_step_has_a_row(library):
    for skill in library.skills.values():
        for steps in (*skill.scripts.values(), *(trial.steps for trial in skill.recoveries.values())):
            for step in steps:
                if step.kind:
                    outcomes = {stop.outcome for stop in library.kinds[step.kind].stops}
                    assert outcomes <= set(library.tables[step.table].rows)


BAD = [
    ("skills/place.yaml", "distance(measured.pose", "distance(measured.poze", "that", "did you mean pose"),
    ("skills/grasp.yaml", "doc: Grasp", "dok: Grasp", "doc", "the key is missing|unknown key"),
    ("skills/grasp.yaml", "skill: grasp\n", "skill: grasp\nskill: grasp\n", "skill", "given twice"),
    (
        "skills/grasp.yaml",
        "do: move_free, target: approach_pose",
        "do: move_fre, target: approach_pose",
        "do",
        "move_free",
    ),
    ("skills/grasp.yaml", "recoveries: [away]", "recoveries: [awai]", "recoveries", "did you mean away"),
    ("skills/grasp.yaml", "table: contact_search", "table: contact_serch", "table", "did you mean contact_search"),
    ("skills/grasp.yaml", "width: object.width\n", "width: object.wid(\n", "width", "not an expression"),
    ("skills/grasp.yaml", "width: object.width\n", "width: __import__('os')\n", "width", "no function is called"),
    ("skills/grasp.yaml", "width: object.width\n", "width: object.__class__\n", "width", "not allowed"),
    ("skills/grasp.yaml", "width: object.width\n", "width: 2 ** 99999999\n", "width", "not allowed"),
    ("skills/grasp.yaml", "width: object.width\n", "width: objct.width\n", "width", "did you mean object"),
    ("skills/grasp.yaml", "width: object.width\n", "width: open_width\n", "", "need each other"),
    (
        "skills/grasp.yaml",
        "touch_1.pose, touch_2.pose",
        "touch_1.poze, touch_2.pose",
        "touched",
        "a step has no 'poze'",
    ),
    ("skills/grasp.yaml", "target: side_1", "target: to_middle.target", "", "need each other"),
    ("skills/grasp.yaml", "then: restart", "then: perhaps", "then", "allowed: retry, restart, continue"),
    ("skills/grasp.yaml", "script: straight_in}", "script: strait_in}", "script", "did you mean straight_in"),
    ("skills/grasp.yaml", "from: to_approach", "from: nowhere", "from", "no step is called"),
    ("skills/grasp.yaml", "step: touch_2,", "step: touch_1,", "touch_both_sides", "two steps are called"),
    ("skills/grasp.yaml", "step: touch_2,", "step: width,", "step", "also the name of a value"),
    ("skills/pick.yaml", "use: grasp", "use: gras", "use", "did you mean grasp"),
    (
        "skills/grasp.yaml",
        "{step: stay, do: sense_arm, table: sensor}",
        "{step: stay, use: pick}",
        "use",
        "contain each other",
    ),
    (
        "skills/pick.yaml",
        "irreversible: true",
        "irreversible: true, recoveries: [again]",
        "recoveries",
        "not tried again",
    ),
    (
        "skills/turn.yaml",
        "max_torque_thres: torque",
        "max_torque_thre: torque",
        "max_torque_thre",
        "did you mean max_torque",
    ),
    ("evaluations.yaml", "missed: {verdict: recover", "mised: {verdict: recover", "", "did you mean missed"),
    ("evaluations.yaml", "verdict: global", "verdict: globl", "verdict", "allowed: continue"),
    ("evaluations.yaml", "include: touch", "include: tuch", "include", "no table above"),
    ("primitives.yaml", "timeout: 60", "timeout: .nan", "timeout", "allowed: 0.1"),
    ("primitives.yaml", "timeout: 60", "timeout: -1", "timeout", "allowed: 0.1"),
    ("primitives.yaml", "success: contact", "success: contct", "success", "allowed:"),
    ("primitives.yaml", "max_force_thres: 40", "max_forc_thres: 40", "max_forc_thres", "max_force_thres"),
    ("primitives.yaml", "role: camera", "role: kamera", "role", "allowed: arm"),
    ("primitives.yaml", "outcome: missed", "outcome: contact", "stops", "each outcome once"),
    (
        "workcell.yaml",
        "pose: [0.66, 0.27, 0.22, 0, 0, 0, 1]",
        "pose: [0.66, 0.27, 0.22, 0, 0, 0, 2]",
        "pose",
        "unit quaternions",
    ),
    (
        "workcell.yaml",
        "pose: [0.66, 0.27, 0.22, 0, 0, 0, 1]",
        "pose: [.nan, 0.27, 0.22, 0, 0, 0, 1]",
        "pose",
        "not finite",
    ),
    (
        "workcell.yaml",
        "safe_work_range: workspace",
        "safe_work_range: workspce",
        "safe_work_range",
        "allowed: workspace",
    ),
    ("workcell.yaml", "low: [-0.9, -0.9, -0.05]", "low: [-0.9, 2.0, -0.05]", "high", "is not above"),
    ("workcell.yaml", "kind: shareable, capacity: 8", "kind: exclusive, capacity: 8", "capacity", "does not fit"),
    ("workcell.yaml", "    module:\n", "    modul:\n", "modul", "no object is called"),
    ("workcell.yaml", "  pick:\n", "  pik:\n", "pik", "no skill is called"),
    ("workcell.yaml", "load: 2.5", "load: much", "load", "allowed:"),
    (
        "primitives.yaml",
        "executive: joint_guarded",
        "executive: joint_garded",
        "executive",
        "did you mean joint_guarded",
    ),
    ("primitives.yaml", "law: compliant", "law: complient", "law", "allowed: position, compliant"),
    ("primitives.yaml", "predicts: {width: width}", "predicts: {widht: width}", "widht", "did you mean width"),
    ("primitives.yaml", "predicts: {width: width}", "predicts: {width: widht}", "width", "did you mean width"),
    ("primitives.yaml", "max_force_thres: 40", "max_force_thres: -40", "max_force_thres", "0 .. 1000 N"),
    ("primitives.yaml", "max_force_thres: 40", "max_force_thres: 40000", "max_force_thres", "0 .. 1000 N"),
    ("primitives.yaml", "comply_vect: [1, 1, 1, 1, 1, 1]", "comply_vect: [1, 1, 1]", "comply_vect", "6 numbers"),
    ("skills/grasp.yaml", "parameters: {width: open_width}", "parameters: {widht: open_width}", "widht", "mean width"),
    ("skills/grasp.yaml", "defaults: {speed: 0.10}", "defaults: {speed: 100}", "speed", "0.001 .. 5 m/s"),
    ("skills/grasp.yaml", "table: motion, recoveries: [away]", "recoveries: [away]", "table", "the key is missing"),
    (
        "skills/grasp.yaml",
        "uses: [arm, gripper, object]",
        "uses: [arm, griper, object]",
        "uses",
        "did you mean gripper",
    ),
    ("skills/grasp.yaml", "width: object.width\n", "width: object.widht\n", "width", "did you mean width"),
    ("skills/grasp.yaml", '"{object}.pose"', '"{objct}.pose"', "disturbs", "did you mean object"),
    ("skills/grasp.yaml", "width: object.width\n", "width: before(pose(object))\n", "width", "take 1 argument"),
    ("skills/grasp.yaml", "width: object.width\n", "width: pose(object, arm)\n", "width", "take 2 arguments"),
    ("skills/grasp.yaml", 'touched: "mean', 'touched: "heer + mean', "touched", "did you mean here"),
    ("workcell.yaml", "gripper: right_gripper", "gripper: left_gripper", "gripper", "gripper of left_arm"),
    ("workcell.yaml", "gripper: right_gripper", "gripper: module", "gripper", "object"),
    ("workcell.yaml", "  shelf: {", "  module: {", "module", "two things: place and object"),
    ("workcell.yaml", "  shelf: {", "  left_arm: {", "left_arm", "two things: arm and place"),
    ("workcell.yaml", "  shelf: {", "  world: {", "world", "two things: frame and place"),
    ("workcell.yaml", "  shelf: {", "  shelf: {frame: tabel, ", "frame", "did you mean table"),
    ("workcell.yaml", "  shelf: {", "  shelf: {frame: shelf, ", "frame", "frames need each other"),
    ("workcell.yaml", "width: 0.040", "width: 40", "width", "0 .. 5 m"),
    ("workcell.yaml", "mass: 0.8", "mass: -0.8", "mass", "0 .. 1000 kg"),
    ("workcell.yaml", "pose: [0.66, 0.27", "pose: [660, 270", "pose", "millimetres"),
    ("workcell.yaml", "cameras: {camera: {}}", "cameras: {camera: {topik: x}}", "topik", "did you mean topic"),
    (
        "workcell.yaml",
        "cameras: ",
        "sensors: {a: {type: std_msgs/msg/Float64}}\ncameras: ",
        "topic",
        "topic or a service",
    ),
    (
        "evaluations.yaml",
        "missed: {verdict: recover",
        "missed: {verdict: abort}\n    misst: {verdict: recover",
        "misst",
        "missed",
    ),
    ("skills/slide.yaml", "direction: [1, 0, 0]", "direction: [1, 0, nul]", "direction", "nothing is called 'nul'"),
    ("workcell.yaml", "{kind: box, mass: 0.8", "{kind: box, masss: 0.8", "masss", "did you mean mass"),
    ("workcell.yaml", "{kind: hinge", "{kind: hinges", "kind", "did you mean hinge"),
    ("workcell.yaml", "mass: 0.8", "mass: heavy", "mass", "'heavy' is no number"),
    ("workcell.yaml", "dock: {pose:", "dock: {poze:", "poze", "did you mean pose"),
    ("workcell.yaml", "box: {grip_force: 30}", "box: {grip_forse: 30}", "grip_forse", "did you mean grip_force"),
    ("workcell.yaml", "{turn_angle: 6.28", "{turn_angel: 6.28", "turn_angel", "did you mean turn_angle"),
    ("workcell.yaml", "{touch_sides: false", "{touch_sides: 17", "touch_sides", "the default is true"),
    ("workcell.yaml", "agents: [operator,", "agents: [operater,", "agents", "'operator' is missing"),
    ("skills/grasp.yaml", 'disturbs: ["{object}.pose"]', 'disturbs: ["{object}.poze"]', "disturbs", "mean pose"),
    (
        "skills/grasp.yaml",
        '{value: "inverse(grasp_point)',
        '{value: "inverse(grasp_pint)',
        "writes",
        "mean grasp_point",
    ),
    ("skills/grasp.yaml", 'frame: "{arm}"', 'frame: "{amr}"', "writes", "camera or arm"),
    ("skills/grasp.yaml", "defaults: {speed: 0.10}", "defaults: {sped: 0.10}", "sped", "did you mean speed"),
    ("skills/turn.yaml", 'adds: {"{object}.angle"', 'adds: {"{object}.angel"', "adds", "did you mean angle"),
    ("skills/turn.yaml", "last(object, 'angle')", "last(object, 'angel')", "", "did you mean angle"),
    (
        "skills/polish.yaml",
        "dither_wave: \"'sine'\"",
        "dither_wave: \"'sinus'\"",
        "dither_wave",
        "allowed: triangle, sine",
    ),
    ("skills/return.yaml", "holder: \"'program'\"", "holder: \"'programme'\"", "holder", "allowed: operator, program"),
    ("workcell.yaml", "cameras: ", "sensors: {a: {type: Float64, topic: x}}\ncameras: ", "type", "PACKAGE/msg/NAME"),
]


@pytest.mark.parametrize(("name", "old", "new", "key", "says"), BAD)
@pytest.mark.lengthy
@pytest.mark.brief(30)
def test_a_wrong_file_is_refused_with_line_and_reason(folder, name, old, new, key, says):
    text = (folder / name).read_text()
    assert old in text
    (folder / name).write_text(text.replace(old, new, 1))
    with pytest.raises(ParameterFileError) as error:
        load_library(folder)
    message = str(error.value)
    file, line, column, _ = message.split(":", 3)
    assert file.endswith(".yaml")
    assert int(line) >= 1
    assert int(column) >= 1
    assert any(part in message for part in says.split("|")), message
    if key:
        assert key in message


def test_the_entries_of_a_list_are_expressions_as_in_a_text(folder):
    file = folder / "skills" / "polish.yaml"
    file.write_text(
        file.read_text().replace('force_setpoints: "[0, 0, force, 0, 0, 0]"', "force_setpoints: [0, 0, force, 0, 0, 0]")
    )
    rub = next(step for step in load_library(folder).skills["polish"].scripts["polish_it"] if step.name == "rub")
    assert "force" in rub.parameters["force_setpoints"].names


def test_the_line_is_the_one_of_the_step(folder):
    text = (folder / "skills" / "grasp.yaml").read_text()
    line = next(i for i, row in enumerate(text.splitlines(), 1) if "step: move_in" in row)
    (folder / "skills" / "grasp.yaml").write_text(text.replace("do: move_guarded", "do: move_gardet", 1))
    with pytest.raises(ParameterFileError) as error:
        load_library(folder)
    assert (error.value.file, error.value.line) == ("grasp.yaml", line)


@pytest.mark.parametrize("text", ["", "[]", "a: [", "\t", "a: &a [*a]\n", "skill: x\ndoc: y\n", "\x00", "a: 1\n" * 3])
def test_a_file_that_is_no_skill_is_refused(folder, text):
    (folder / "skills" / "extra.yaml").write_text(text)
    with pytest.raises(ParameterFileError, match=r"extra\.yaml:\d+"):
        load_library(folder)


@pytest.mark.parametrize("deep", ["[" * 100_000, "{a: " * 100_000, "- " * 100_000, "? " * 30_000, "[" * 21 + "]" * 21])
def test_brackets_without_end_are_a_refusal(folder, deep):
    """100,000 of them ended the process before."""
    (folder / "skills" / "deep.yaml").write_text(f"skill: {deep}")
    with pytest.raises(ParameterFileError, match=r"deep\.yaml:1:\d+: YAML"):
        load_library(folder)


def test_the_column_is_the_one_of_the_key(folder):
    file = folder / "skills" / "grasp.yaml"
    text = file.read_text()
    row = next(row for row in text.splitlines() if "step: move_in" in row)
    file.write_text(text.replace("do: move_guarded", "do: move_gardet", 1))
    with pytest.raises(ParameterFileError) as error:
        load_library(folder)
    assert error.value.column == row.index("do:") + 1


def test_words_that_yaml_takes_for_booleans_are_words(tmp_path):
    from telerobot_nodes.core.config import read_yaml

    (tmp_path / "a.yaml").write_text("a: [on, off, yes, no, true, False]")
    assert read_yaml(tmp_path / "a.yaml")["a"] == ["on", "off", "yes", "no", True, False]


def test_a_missing_file_is_named(folder):
    (folder / "workcell.yaml").unlink()
    with pytest.raises(ParameterFileError, match=r"workcell\.yaml"):
        load_library(folder)


def test_two_skills_for_one_verb_are_refused(folder):
    text = (folder / "skills" / "look.yaml").read_text()
    (folder / "skills" / "look2.yaml").write_text(text.replace("skill: look", "skill: look2\nverbs: [look]"))
    with pytest.raises(ParameterFileError, match="also a verb of skill look"):
        load_library(folder)


def test_files_that_change_while_they_are_read_are_refused(folder, monkeypatch):
    from telerobot_nodes.rtc.skills import skill_files

    def read_and_change(place):
        library = load_library(place)
        (place / "skills" / "look.yaml").write_text((place / "skills" / "look.yaml").read_text() + "# more\n")
        return library

    monkeypatch.setattr(skill_files, "load_library", read_and_change)
    with pytest.raises(ParameterFileError, match="changed while they were read"):
        reload_library(folder)


def test_a_reload_is_used_by_the_next_command_and_a_bad_one_by_none(folder, harness):
    cell = harness.Cell(load_library(folder), folder)
    running = cell.say("hold left_arm for 10 s")
    cell.settle(until=1.0)
    look = folder / "skills" / "look.yaml"
    look.write_text(look.read_text().replace("doc: Pan the camera to a place.", "doc: Pan anew."))
    cell.say("reload skills")
    cell.settle(until=2.0)
    assert cell.replies[-1].ok
    assert cell.unit.library.skills["look"].doc == "Pan anew."
    look.write_text("skill: [")
    cell.say("reload skills")
    cell.settle()
    assert not cell.replies[-1].ok
    assert "look.yaml:" in cell.replies[-1].text
    assert cell.run("look at dock").outcome == "succeeded"
    assert cell.reports[running].outcome == "succeeded"


def test_cycles_are_found_and_only_cycles():
    graph = {"a": {"b", "c"}, "b": {"d"}, "c": {"d"}, "d": set()}
    assert find_cycle(graph, lambda n: graph[n]) == ()
    graph["d"] = {"b"}
    assert find_cycle(graph, lambda n: graph[n]) in (("b", "d", "b"), ("d", "b", "d"))
    deep = {str(i): {str(i + 1)} for i in range(50_000)}
    assert find_cycle(deep, lambda n: deep.get(n, set())) == ()
