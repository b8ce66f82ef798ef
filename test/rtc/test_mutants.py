"""Skill files, tables and analysis, each changed for the worse: a mission in a world that reacts finds every change.

A mission is what a person wants: texts, what must be so afterwards, and that the database calls nothing valid that is
false [JPL-RTC section 6: a wrong world model takes weeks to mend].
"""

import contextlib
import shutil

import numpy as np
import pytest
import reacting_cell

from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.rtc.decision import analysis
from telerobot_nodes.rtc.skills import Verdict, load_library

TURN = 2 * np.pi


def near(value, wanted, tolerance=0.015):
    return bool(np.all(np.abs(np.asarray(value) - np.asarray(wanted)) < tolerance))


def ran(cell, *texts):
    """All succeed, and nothing false is believed after any of them."""
    for text in texts:
        report = cell.run(text)
        if report.outcome != "succeeded" or cell.falsehoods():
            return False
    return True


def failed(cell, text, reason=""):
    report = cell.run(text)
    return report.outcome == "failed" and reason in report.reason and not cell.falsehoods()


def pick(cell):
    done = ran(cell, "pick module and place on dock with left_arm")
    return done and near(cell.pose("module")[:3], (0.66, 0.27, 0.25)) and not cell.real.held


def place(cell):
    done = ran(cell, "grasp module with left_arm", "lift module by 10 cm") and near(cell.pose("module")[2], 0.35)
    return done and ran(cell, "place module on dock") and near(cell.pose("module")[:3], (0.66, 0.27, 0.25))


def crank(cell):
    return ran(cell, "turn crank by 720 deg with left_arm") and near(cell.real.angle["crank"], 2 * TURN, 0.15)


def crank_back(cell):
    done = ran(cell, "turn crank by 90 deg clockwise with left_arm")
    return done and near(cell.real.angle["crank"], -TURN / 4, 0.15)


def crank_twice(cell):
    return ran(cell, "turn crank by 90 deg", "turn crank by 50 deg") and near(cell.real.angle["crank"], 2.443, 0.2)


def bolt(cell):
    return ran(cell, "turn bolt by 90 deg with left_arm") and near(cell.real.angle["bolt"], TURN / 4, 0.15)


def door(cell):
    done = ran(cell, "open door by 60 deg with left_arm") and near(cell.real.angle["door"], -TURN / 6, 0.15)
    return done and ran(cell, "close door by 60 deg") and near(cell.real.angle["door"], 0.0, 0.15)


def drawer(cell):
    done = ran(cell, "open drawer by 5 cm with left_arm") and near(cell.real.travel["drawer"], 0.05)
    return done and ran(cell, "close drawer by 5 cm") and near(cell.real.travel["drawer"], 0.0)


def pull(cell):
    return ran(cell, "pull drawer by 4 cm with left_arm") and near(cell.real.travel["drawer"], 0.04)


def push(cell):
    return ran(cell, "push box by 5 cm along x with left_arm") and near(cell.pose("box")[:2], (0.50, -0.34))


def slide(cell):
    return ran(cell, "slide box by 3 cm along y with left_arm") and near(cell.pose("box")[:2], (0.45, -0.31))


def insert(cell):
    done = ran(cell, "insert pin into hole with left_arm") and near(cell.pose("pin")[:3], (0.55, -0.12, 0.26), 0.01)
    return done and ran(cell, "remove pin from hole") and near(cell.pose("pin")[2], 0.35)


def seat(cell):
    return ran(cell, "seat stud in thread with left_arm") and near(cell.real.angle["stud"], TURN / 8, 0.15)


def open_in_the_air(cell):
    done = ran(cell, "grasp module with left_arm", "lift module by 10 cm", "open gripper with left_arm")
    return done and not cell.real.held and failed(cell, "place module on dock", "does not hold")


def displaced(cell):
    cell.real.poses["module"] = cell.real.poses["module"] + np.array([0.0, -0.12, 0, 0, 0, 0, 0])
    return ran(cell, "grasp module with left_arm") and "left_arm" in cell.real.held


def too_thin(cell):
    cell.real.sizes["module"] = (0.016, 0.06)
    done = failed(cell, "grasp module with left_arm", "has not the width")
    return done and ran(cell, "open gripper with left_arm") and not cell.real.held


def met_nothing(cell):
    cell.executor.faults = {"close": ["empty"] * 9}
    return failed(cell, "grasp module with left_arm", "hold nothing")


def slips(cell):
    done = ran(cell, "grasp module with left_arm")
    cell.executor.faults = {"up": ["slip"]}
    cell.executor.real.held.clear()
    return done and failed(cell, "lift module", "slipped") and failed(cell, "place module on dock", "does not hold")


def not_found_again(cell):
    cell.real.poses["module"] = cell.real.poses["module"] + np.array([0.0, -0.12, 0, 0, 0, 0, 0])
    cell.executor.faults = {"look_again": ["not_found"] * 9, "look_once_more": ["not_found"] * 9}
    return failed(cell, "grasp module with left_arm")


def stopped_half_way(cell):
    cell.executor.faults = {"round": ["force_limit"]}
    return crank(cell)


def stopped_for_good(cell):
    cell.executor.faults = {"round": ["force_limit"] * 9}
    done = failed(cell, "turn crank by 720 deg with left_arm", "force")
    return done and near(cell.database.view.read("crank.angle"), cell.real.angle["crank"], 0.1)


def stops_and_says_it_is_there(cell):
    cell.executor.faults = {"round": ["reached"]}  # half of two turns: at the very pose where it should end
    return crank(cell)


MISSIONS = [
    pick, place, crank, crank_back, crank_twice, bolt, door, drawer, pull, push, slide, insert, seat, open_in_the_air,
    displaced, too_thin, met_nothing, slips, not_found_again, stopped_half_way, stopped_for_good,
    stops_and_says_it_is_there,
]  # fmt: skip


@pytest.mark.parametrize("mission", MISSIONS, ids=lambda mission: mission.__name__)
def test_the_mission_is_done_and_nothing_false_is_believed(library, config, mission):
    assert mission(reacting_cell.ReactingCell(library, config))


GOAL, TABLES = "start.goal - last(object, 'angle')", "evaluations"

# Name: file, text there, text instead, the mission that finds it.
MUTANTS = {
    "crank the other way": ("turn", f"arc(here, object.axis, {GOAL})", f"arc(here, object.axis, -({GOAL}))", crank),
    "crank still": ("turn", f"arc(here, object.axis, {GOAL})", "arc(here, object.axis, 0.0)", crank),
    "crank straight to the end": ("turn", f"arc(here, object.axis, {GOAL})",
                                  f"carry_about(here, object.axis, {GOAL})", crank),
    "crank through four points": ("turn", f'"arc(here, object.axis, {GOAL})"',
                                  '"[carry_about(here, object.axis, 0.25 * angle), carry_about(here, object.axis, 0.5'
                                  ' * angle), carry_about(here, object.axis, 0.75 * angle)]"', crank),
    "crank not clockwise": ("turn", "(-1 if option == 'clockwise' else 1)", "(1)", crank_back),
    "crank counted as asked": ("turn", 'adds: {"{object}.angle": "swept(measured.track, object.axis)"}',
                               'adds: {"{object}.angle": "angle"}', stopped_half_way),
    "crank from where it began": ("turn", f"arc(here, object.axis, {GOAL})", "arc(here, object.axis, angle)",
                                  stopped_half_way),
    "crank not grasped": ("turn", '    - {step: take, use: grasp, when: "held != object"}\n', "", crank),
    "crank not confirmed": ("turn", "abs(start.goal - last(object, 'angle')) < 0.15", "True",
                            stops_and_says_it_is_there),
    "crank goal forgets where it is": ("turn", "\"last(object, 'angle') + angle\"}}\n    - {step: round",
                                       '"angle"}}\n    - {step: round', crank_twice),
    "bolt the other way": ("turn", "last(object, 'angle') - start_bolt.goal", "start_bolt.goal - last(object, 'angle')",
                           bolt),
    "door the wrong way": ("open", "last(object, 'angle') - start.goal)", "start.goal - last(object, 'angle'))", door),
    "door half": ("open", "last(object, 'angle') - start.goal)", "0.5 * (last(object, 'angle') - start.goal))", door),
    "door counted backwards": ("open", '"-swept(measured', '"swept(measured', door),
    "door closes further open": ("close", 'swing: "(-1) *', 'swing: "(1) *', door),
    "drawer still": ("open", "begin.goal - last(object, 'travel')", "0.0", drawer),
    "drawer the wrong way": ("open", "begin.goal - last(object, 'travel')", "last(object, 'travel') - begin.goal",
                             drawer),
    "drawer closes further open": ("close", 'travel: "(-1) *', 'travel: "(1) *', drawer),
    "fingers open and still hold": ("open", "option == 'gripper' and held == ''", "option == 'gripper'",
                                    open_in_the_air),
    "let go in the air and trusted": ("open", "{value: pose(held), validity: suspect}", "{value: pose(held)}",
                                      open_in_the_air),
    "push pulls": ("push", "shift(meet.pose, direction, amount)", "shift(meet.pose, direction, -amount)", push),
    "push with open fingers": ("push", "parameters: {width: 0.0}", "parameters: {width: 0.08}", push),
    "pull pushes": ("pull", "shift(begin.pose, direction, amount)", "shift(begin.pose, direction, -amount)", pull),
    "pull counted as asked": ("pull", '"moved(measured.track, object.pull)"', '"2 * amount"', pull),
    "slide still": ("slide", "shift(press_on.pose, direction, amount)", "press_on.pose", slide),
    "pick lets go 30 cm up": ("pick", 'target: "shift(tool_at_end, [0, 0, -1], 0.01)"',
                              'target: "shift(tool_at_end, [0, 0, 1], 0.30)"', pick),
    "pick lets go on the way": ("pick", "do: move_to_contact, table: contact_search, recoveries: [up_and_again],\n"
                                '       target: "shift(tool_at_end, [0, 0, -1], 0.01)"',
                                'do: move_straight, table: motion, target: "shift(tool_at_end, [0, 0, 1], 0.1)"',
                                pick),
    "pick keeps it": ("pick", 'width: "min(width + 0.03, 0.08)"', "width: width", pick),
    "pick forgets to raise": ("pick", "shift(here, [0, 0, 1], object.carry_height)\", table: motion, recoveries: "
                              "[again]}\n    - {step: over", "shift(here, [0, 0, -1], 0.5)\", table: motion, "
                              "recoveries: [again]}\n    - {step: over", pick),
    "place too high": ("place", "[0, 0, 1], 0.5 * object.height)", "[0, 0, 1], 3.0 * object.height)", place),
    "place elsewhere": ("place", "shift(set_pose, [0, 0, -1], 0.01)", "shift(set_pose, [0, -1, 0], 0.2)", place),
    "place believed where it was asked": ("place", 'writes: {"{object}.pose": {value: "pose(object)"}}',
                                          'writes: {"{object}.pose": {value: place_frame}}', place),
    "place still holds": ("place", "table: gripper_release", "table: gripper_open", place),
    "lift lowers": ("lift", "[0, 0, 1], amount", "[0, 0, -1], amount", place),
    "lift still": ("lift", "[0, 0, 1], amount", "[0, 0, 1], 0.0", place),
    "grasp beside it": ("grasp", 'grasp_target: "compose(pose(object), grasp_point)"',
                        'grasp_target: "shift(compose(pose(object), grasp_point), [1, 0, 0], 0.1)"', place),
    "grasp above it": ("grasp", "down, do: move_straight, target: grasp_target",
                       "down, do: move_straight, target: approach_pose", crank),
    "grasp beside the middle": ("grasp", "to_middle, do: move_straight, target: touched",
                                "to_middle, do: move_straight, target: side_1", place),
    "insert not deep": ("insert_held", "0.5 * object.height - place.depth", "0.5 * object.height", insert),
    "insert stays above": ("insert_held", "do: comply, target: tool_in", "do: comply, target: tool_above", insert),
    "remove still": ("remove", "place.depth + object.lead)", "0.0)", insert),
    "seat without a turn": ("seat", "turn_about(meet.pose, meet.pose, -object.start_turn)", "meet.pose", seat),
    "table: release keeps holding": (TABLES, '{value: measured.width}\n          "{arm}.holds": {value: "\'\'"}\n',
                                     "{value: measured.width}\n", place),
    "table: the wrong thing is nothing": (TABLES, '          "{arm}.holds": {value: "\'something\'"}\n', "", too_thin),
    "table: any width is held": (TABLES, 'when: "abs(measured.width - width) < 0.008"', 'when: "True"', too_thin),
    "table: empty fingers go on": (TABLES, "empty: {verdict: recover,", "empty: {verdict: continue,", met_nothing),
    "table: slipped and still held": (TABLES, '          "{arm}.holds": {value: "\'\'"}\n          "{held}',
                                      '          "{held}', slips),
    "table: held, but not in the hand": (TABLES, '          "{object}.pose": {value: "relative(arm, object)", frame: '
                                         '"{arm}"}\n', "", place),
    "table: seen, not entered": (TABLES, '        writes:\n          "{object}.pose": {value: measured.pose}\n', "",
                                 displaced),
    "table: the force limit is success": (TABLES, "force_limit: {verdict: recover,", "force_limit: {verdict: continue,",
                                          stopped_for_good),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_a_skill_changed_for_the_worse_is_found(config, tmp_path, name):
    file, old, new, mission = MUTANTS[name]
    folder = tmp_path / "rtc"
    shutil.copytree(config, folder)
    path = folder / f"{file}.yaml" if file == TABLES else folder / "skills" / f"{file}.yaml"
    text = path.read_text()
    assert old in text, "the mutant changes nothing any more"
    path.write_text(text.replace(old, new, 1))
    assert not mission(reacting_cell.ReactingCell(load_library(folder), folder))


def nothing_added(unit, context, report, view):
    return [], set()


def nothing_confirmed(context, report, row, note, env):
    return row, note


def all_is_well(unit, context, report, env):
    return analysis.Row(Verdict.CONTINUE), "done"


def no_writes(unit, context, row, env):
    return []


def never_suspect(entry):
    return entry


def arm_where_it_was(unit, context, report):
    return []


ANALYSIS_MUTANTS = [
    (analysis.AnalysisUnit, "_added", nothing_added, crank),
    (analysis, "_confirmed", nothing_confirmed, stops_and_says_it_is_there),
    (analysis.AnalysisUnit, "_judge", all_is_well, too_thin),
    (analysis.AnalysisUnit, "_changes", no_writes, place),
    (analysis, "_doubted", never_suspect, not_found_again),
    (analysis.AnalysisUnit, "_base_writes", arm_where_it_was, place),
]


@pytest.mark.parametrize(
    ("owner", "name", "change", "mission"), ANALYSIS_MUTANTS, ids=lambda value: getattr(value, "__name__", value)
)
def test_an_analysis_changed_for_the_worse_is_found(library, config, monkeypatch, owner, name, change, mission):
    monkeypatch.setattr(owner, name, change)
    with contextlib.suppress(TelerobotError):  # an analysis that writes nonsense is refused by the database
        assert not mission(reacting_cell.ReactingCell(library, config))


def test_there_are_mutants_enough():
    assert len(MUTANTS) + len(ANALYSIS_MUTANTS) >= 50
