"""Skill files, tables and analysis, each changed for the worse: a mission in a world that reacts finds every change.

A mission is what a person wants: texts, what must be so afterwards, and that the database calls nothing valid that is
false [JPL-RTC section 6: a wrong world model takes weeks to mend].
"""

import contextlib
import shutil

import missions as m
import pytest
import reacting_cell

from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.rtc.decision import analysis
from telerobot_nodes.rtc.skills import Verdict, load_library

pytestmark = pytest.mark.lengthy  # together some seconds


@pytest.mark.brief(12)
@pytest.mark.parametrize("mission", m.MISSIONS, ids=lambda mission: mission.__name__)
def test_the_mission_is_done_and_nothing_false_is_believed(library, config, mission):
    assert mission(reacting_cell.ReactingCell(library, config))


GOAL, TABLES = "start.goal - last(object, 'angle')", "evaluations"

# Name: file, text there, text instead, the mission that finds it.
MUTANTS = {
    "crank the other way": ("turn", f"arc(here, object.axis, {GOAL})", f"arc(here, object.axis, -({GOAL}))", m.crank),
    "crank still": ("turn", f"arc(here, object.axis, {GOAL})", "arc(here, object.axis, 0.0)", m.crank),
    "crank straight to the end": ("turn", f"arc(here, object.axis, {GOAL})",
                                  f"carry_about(here, object.axis, {GOAL})", m.crank),
    "crank through four points": ("turn", f'"arc(here, object.axis, {GOAL})"',
                                  '"[carry_about(here, object.axis, 0.25 * angle), carry_about(here, object.axis, 0.5'
                                  ' * angle), carry_about(here, object.axis, 0.75 * angle)]"', m.crank),
    "crank not clockwise": ("turn", "(-1 if option == 'clockwise' else 1)", "(1)", m.crank_back),
    "crank counted as asked": ("turn", 'adds: {"{object}.angle": "swept(measured.track, object.axis)"}',
                               'adds: {"{object}.angle": "angle"}', m.stopped_half_way),
    "crank from where it began": ("turn", f"arc(here, object.axis, {GOAL})", "arc(here, object.axis, angle)",
                                  m.stopped_half_way),
    "crank not grasped": ("turn", '    - {step: take, use: grasp, when: "held != object"}\n', "", m.crank),
    "crank not confirmed": ("turn", "abs(start.goal - last(object, 'angle')) < 0.15", "True",
                            m.stops_and_says_it_is_there),
    "crank goal forgets where it is": ("turn", "\"last(object, 'angle') + angle\"}}\n    - {step: round",
                                       '"angle"}}\n    - {step: round', m.crank_twice),
    "bolt the other way": ("turn", "last(object, 'angle') - start_bolt.goal", "start_bolt.goal - last(object, 'angle')",
                           m.bolt),
    "door the wrong way": ("open", "last(object, 'angle') - start.goal)", "start.goal - last(object, 'angle'))",
                           m.door),
    "door half": ("open", "last(object, 'angle') - start.goal)", "0.5 * (last(object, 'angle') - start.goal))", m.door),
    "door counted backwards": ("open", '"-swept(measured', '"swept(measured', m.door),
    "door closes further open": ("close", 'swing: "(-1) *', 'swing: "(1) *', m.door),
    "drawer still": ("open", "begin.goal - last(object, 'travel')", "0.0", m.drawer),
    "drawer the wrong way": ("open", "begin.goal - last(object, 'travel')", "last(object, 'travel') - begin.goal",
                             m.drawer),
    "drawer closes further open": ("close", 'travel: "(-1) *', 'travel: "(1) *', m.drawer),
    "fingers open and still hold": ("open", "option == 'gripper' and held == ''", "option == 'gripper'",
                                    m.open_in_the_air),
    "let go in the air and trusted": ("open", "{value: pose(held), validity: suspect}", "{value: pose(held)}",
                                      m.open_in_the_air),
    "push pulls": ("push", "shift(meet.pose, direction, amount)", "shift(meet.pose, direction, -amount)", m.push),
    "push with open fingers": ("push", "parameters: {width: 0.0}", "parameters: {width: 0.08}", m.push),
    "pull pushes": ("pull", "shift(begin.pose, direction, amount)", "shift(begin.pose, direction, -amount)", m.pull),
    "pull counted as asked": ("pull", '"moved(measured.track, object.pull)"', '"2 * amount"', m.pull),
    "slide still": ("slide", "shift(press_on.pose, direction, amount)", "press_on.pose", m.slide),
    "pick lets go 30 cm up": ("pick", 'target: "shift(tool_at_end, [0, 0, -1], 0.01)"',
                              'target: "shift(tool_at_end, [0, 0, 1], 0.30)"', m.pick),
    "pick lets go on the way": ("pick", "do: move_to_contact, table: contact_search, recoveries: [up_and_again],\n"
                                '       target: "shift(tool_at_end, [0, 0, -1], 0.01)"',
                                'do: move_straight, table: motion, target: "shift(tool_at_end, [0, 0, 1], 0.1)"',
                                m.pick),
    "pick keeps it": ("pick", 'width: "min(width + 0.03, 0.08)"', "width: width", m.pick),
    "pick forgets to raise": ("pick", "shift(began, [0, 0, 1], object.carry_height)\", table: motion, recoveries: "
                              "[again]}\n    - {step: over", "shift(began, [0, 0, -1], 0.5)\", table: motion, "
                              "recoveries: [again]}\n    - {step: over", m.pick),
    "place too high": ("place", "[0, 0, 1], 0.5 * object.height)", "[0, 0, 1], 3.0 * object.height)", m.place),
    "place elsewhere": ("place", "shift(set_pose, [0, 0, -1], 0.01)", "shift(set_pose, [0, -1, 0], 0.2)", m.place),
    "place believed where it was asked": ("place", 'writes: {"{object}.pose": {value: "pose(object)"}}',
                                          'writes: {"{object}.pose": {value: place_frame}}', m.place),
    "place still holds": ("place", "table: gripper_release", "table: gripper_open", m.place),
    "lift lowers": ("lift", "[0, 0, 1], amount", "[0, 0, -1], amount", m.place),
    "lift still": ("lift", "[0, 0, 1], amount", "[0, 0, 1], 0.0", m.place),
    "grasp beside it": ("grasp", 'grasp_target: "compose(pose(object), grasp_point)"',
                        'grasp_target: "shift(compose(pose(object), grasp_point), [1, 0, 0], 0.1)"', m.place),
    "grasp above it": ("grasp", "down, do: move_straight, target: grasp_target",
                       "down, do: move_straight, target: approach_pose", m.crank),
    "grasp beside the middle": ("grasp", "to_middle, do: move_straight, target: touched",
                                "to_middle, do: move_straight, target: side_1", m.place),
    "insert not deep": ("insert_held", "0.5 * object.height - place.depth", "0.5 * object.height", m.insert),
    "insert stays above": ("insert_held", "do: comply, target: tool_in", "do: comply, target: tool_above", m.insert),
    "remove still": ("remove", "place.depth + object.lead)", "0.0 * object.lead)", m.insert),
    "seat without a turn": ("seat", "turn_about(meet.pose, meet.pose, -object.start_turn)", "meet.pose", m.seat),
    "table: release keeps holding": (TABLES, '{value: measured.width}\n          "{arm}.holds": {value: "\'\'"}\n',
                                     "{value: measured.width}\n", m.place),
    "table: the wrong thing is nothing": (TABLES, '          "{arm}.holds": {value: "\'something\'"}\n', "",
                                          m.too_thin),
    "table: any width is held": (TABLES, 'when: "abs(measured.width - width) < 0.008"', 'when: "True"', m.too_thin),
    "table: empty fingers go on": (TABLES, "empty: {verdict: recover,", "empty: {verdict: continue,", m.met_nothing),
    "table: slipped and still held": (TABLES, '          "{arm}.holds": {value: "\'\'"}\n          "{held}',
                                      '          "{held}', m.slips),
    "table: held, but not in the hand": (TABLES, '          "{object}.pose": {value: "relative(arm, object)", frame: '
                                         '"{arm}"}\n', "", m.place),
    "table: seen, not entered": (TABLES, '        writes:\n          "{object}.pose": {value: measured.pose}\n', "",
                                 m.displaced),
    "table: the force limit is success": (TABLES, "force_limit: {verdict: recover,", "force_limit: {verdict: continue,",
                                          m.stopped_for_good),
    "approach goes into it": ("approach", "before(place_pose, amount)", "before(place_pose, 0.0)", m.approach),
    "approach from below": ("approach", "before(place_pose, amount)", "before(place_pose, -amount)", m.approach),
    "approach gives up at once": ("approach", "recoveries: [again]", "recoveries: []", m.troubled),
    "move down for up": ("move", "shift(began, direction, amount)", "shift(began, direction, -amount)", m.move),
    "move stays": ("move", "shift(began, direction, amount)", "here", m.move),
    "move guarded to nowhere": ("move", "go_guarded, do: move_guarded, via: true, target: goal",
                                "go_guarded, do: move_guarded, via: true, target: by_pose", m.move),
    "retract goes forward": ("retract", "axis_of(began, 'z') * -1", "axis_of(began, 'z')", m.retract),
    "retract twice as far": ("retract", "shift(began, direction, amount)", "shift(began, direction, 2 * amount)",
                             m.retract),
    "follow stays": ("follow", "target: path_poses", "target: here", m.follow),
    "table: what is seen farther off than an arm is long": (TABLES, "distance(measured.pose, pose(object)) < 0.3",
                                                            "distance(measured.pose, pose(object)) < 0.01",
                                                            m.seen_again),
    "locate looks once": ("locate", ", recoveries: [again]", "", m.not_in_sight),
    "table: not seen is seen": (TABLES, "not_found: {verdict: recover,", "not_found: {verdict: continue,",
                                m.not_in_sight),
    "wait does not": ("wait", "seconds: amount", "seconds: 0.0", m.as_long),
    "hold lets go early": ("hold", "duration: amount", "duration: 0.5", m.as_long),
    "comply ends at once": ("comply", "duration: amount", "duration: 0.1", m.as_long),
    "trade keeps the arm": ("trade", "{value: \"'operator'\"}", "{value: \"'program'\"}", m.traded),
    "trade still trusts the joints": ("trade", '"{arm}.joints": {validity: suspect}, ', "", m.traded),
    "return gives nothing back": ("return", ', writes: {"{arm}.owner": {value: "\'program\'"}}', "", m.traded),
    "touch the air": ("touch", "shift(start_pose, direction, amount)", "shift(start_pose, direction, -amount)",
                      m.touch),
    "touch and believe a miss": ("touch", "table: touch, recoveries: [once_more]",
                                 "table: touch_or_not, recoveries: [once_more]", m.touched_nothing),
    "polish the air": ("polish", 'do: move_to_contact, target: "before(over, -0.06)", table: touch',
                       'do: move_straight, target: "before(over, 0.06)", table: motion', m.polish),
    "polish and stay": ("polish", "before(began, 0.06)", "here", m.polish),
    "polish and press nothing": ("polish", "measured.force_kept > 0.8", "True", m.pressed_on_nothing),
    "slide and press nothing": ("slide", "measured.force_kept > 0.3", "True", m.slid_in_the_air),
    "slide and do not look": ("slide", "    - {step: look, do: locate, table: camera_check}\n", "",
                              m.slid_in_the_fingers),
    "push and do not look": ("push", "abs(moved([see.pose, measured.pose], direction) - amount) < 0.02", "True",
                             m.taken_away),
    "pick lets go 3 cm up": ("pick", "distance(measured.pose, tool_at_end) < 0.015", "True", m.came_down_early),
    "place lets go 3 cm up": ("place", "distance(measured.pose, set_pose) < 0.015", "True", m.put_down_early),
    "level in the air": ("level", "[0, 0, -1], 0.08", "[0, 0, 1], 0.08", m.level),
    "release and believe it stands": ("release", 'value: "pose(object)", validity: suspect', 'value: "pose(object)"',
                                      m.release),
    "release and stay": ("release", "before(began, 0.10)", "here", m.release),
    "release what is not held": ("release", "held == object", "True", m.empty_hand),
    "release keeps it": ("release", "min(object.width + 0.03, 0.08)", "object.width", m.release),
    "lift with an empty hand": ("lift", "held == object", "True", m.empty_hand),
    "grasp with a full hand": ("grasp", "held == '' or held == object", "True", m.refused),
    "push with a full hand": ("push", "held == ''", "True", m.refused),
    "place what is not held": ("place", "held == object", "True", m.refused),
    "remove anything": ("remove", "object.kind in ('pin', 'bolt')", "True", m.refused),
    "grasp again what is held": ("grasp", '  - {when: "held == object", script: already}\n', "", m.already_held),
    "grasp does not look again": ("grasp", "table: contact_search, recoveries: [vision, grasp]",
                                  "table: contact_search", m.troubled),
    "pick does not try again": ("pick", "recoveries: [up_and_again]", "recoveries: []", m.troubled),
    "table: contact on the way is an end": (TABLES, "collision: {verdict: recover, note: contact where none",
                                            "collision: {verdict: abort, note: contact where none", m.troubled),
    "table: silent sensors are success": (TABLES, "sensor_loss: {verdict: abort,", "sensor_loss: {verdict: continue,",
                                          m.silent),
    "table: a touch anywhere is a touch": (TABLES, "distance(measured.pose, target) < 0.06", "True", m.touched_far_off),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
@pytest.mark.brief(12)
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


def no_writes(unit, context, report, row, env):
    return [], ""


def never_suspect(entry):
    return entry


def arm_where_it_was(unit, context, report):
    return []


ANALYSIS_MUTANTS = [
    (analysis.AnalysisUnit, "_added", nothing_added, m.crank),
    (analysis, "_confirmed", nothing_confirmed, m.stops_and_says_it_is_there),
    (analysis.AnalysisUnit, "_judge", all_is_well, m.too_thin),
    (analysis.AnalysisUnit, "_changes", no_writes, m.place),
    (analysis, "_doubted", never_suspect, m.not_found_again),
    (analysis.AnalysisUnit, "_base_writes", arm_where_it_was, m.place),
]


@pytest.mark.parametrize(
    ("owner", "name", "change", "mission"), ANALYSIS_MUTANTS, ids=lambda value: getattr(value, "__name__", value)
)
def test_an_analysis_changed_for_the_worse_is_found(library, config, monkeypatch, owner, name, change, mission):
    monkeypatch.setattr(owner, name, change)
    with contextlib.suppress(TelerobotError):  # an analysis that writes nonsense is refused by the database
        assert not mission(reacting_cell.ReactingCell(library, config))


def test_there_are_mutants_enough():
    assert len(MUTANTS) + len(ANALYSIS_MUTANTS) >= 90
