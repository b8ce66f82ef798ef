"""Menu files: read strictly, errors with file, line and key; a broken file keeps the menu that was read before."""

import os

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from telerobot_nodes.core.config import Spot, build
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.errors import ParameterFileError
from telerobot_nodes.menus import Ask, Entry, Menu, NoMenuError, read_menus
from telerobot_nodes.motion.parameters import KINDS

HEAD = "menu: m\norder: 1\ndoc: d\nentries:\n"
GRASP = "  - entry: a\n    doc: d\n    primitive: free_grasp\n    values: {grip_width: 0.05}\n"
FORM = GRASP + "    form:\n"
MOVE = "  - entry: a\n    doc: d\n    primitive: move_to_touch\n"

WANTED = (  # of the hierarchical menu of [US5231693]
    "compliant_motion/hinge",
    "compliant_motion/slide",
    "compliant_motion/screw",
    "compliant_motion/insert",
    "compliant_motion/level",
    "compliant_motion/push",
    "compliant_motion/translate",
)


def test_the_shipped_menus_are_whole_and_in_order(shipped):
    assert shipped.broken == {}
    assert [*shipped.menus] == [
        "guarded_motion",
        "move_to_contact",
        "compliant_motion",
        "grasp",
        "teleoperation",
        "macros",
    ]
    assert [path for path in shipped.leaves if path.startswith("compliant")] == list(WANTED)


def test_every_leaf_of_the_shipped_menus_is_what_the_robot_would_accept(shipped):
    from telerobot_nodes.motion.primitives import PrimitiveRequest, check_request

    for leaf in shipped.leaves.values():
        values = leaf.fill({})
        if leaf.entry.primitive:
            check_request(shipped.robot, PrimitiveRequest(1, leaf.entry.primitive, values))
        for field in leaf.form.fields:
            assert field.read(field.text()) == field.default, (leaf.path, field)


@pytest.mark.parametrize("edge", ["low", "high"])
def test_every_bound_that_a_shipped_form_shows_is_one_that_the_robot_accepts_or_refuses_beside_its_field(shipped, edge):
    from telerobot_nodes.menus import FormRefusedError

    for leaf in shipped.leaves.values():
        for field in leaf.form.fields:
            if abs(getattr(field, edge)) == float("inf") or field.count:
                continue
            try:
                leaf.fill({field.name: getattr(field, edge)})
            except FormRefusedError as error:
                assert set(error.refusals) <= {"", *(other.name for other in leaf.form.fields)}


def test_the_shipped_menus_fit_an_arm_of_seven_joints(shipped):
    menus = read_menus(shipped.folder, load_robot("panda"))
    assert menus.broken == {}
    assert len(menus.leaf("joints").fill({})["joint_dest"]) == 7


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        (HEAD + "  []\n", 4, "one entry or more"),
        (HEAD.replace("order: 1", "order: 0") + GRASP, 2, "allowed: 1 .. 1000"),
        (HEAD.replace("menu: m", "menu: n") + GRASP, 1, "allowed: m, the name of its file"),
        (HEAD.replace("menu: m", "menu: Menu M") + GRASP, 1, "small letters"),
        (HEAD.replace("doc:", "dok:") + GRASP, 3, "did you mean doc"),
        (HEAD + GRASP + GRASP, 4, "a name of its own"),
        (HEAD + GRASP.replace("entry: a", "entry: A b"), 5, "small letters"),
        (HEAD + "  - {entry: a, doc: d}\n", 5, "one of entries, primitive, macro"),
        (HEAD + GRASP + "    macro: back_off\n", 5, "one of entries, primitive, macro"),
        (HEAD + GRASP.replace("free_grasp", "free_gasp"), 7, "allowed: cartesian_guarded"),
        (HEAD + GRASP.replace("grip_width", "grip_widht"), 8, "allowed for free_grasp"),
        (HEAD + GRASP.replace("0.05", "5"), 8, "allowed: 0 .. 1 [m]"),
        (HEAD + GRASP.replace("0.05", "wide"), 8, "allowed: float"),
        (HEAD + GRASP.replace("0.05", "0.5"), 8, "allowed: 0 .. 0.08 [m]"),  # of this gripper
        (HEAD + MOVE, 5, "required by move_to_touch"),
        (HEAD + FORM + "      w: {sets: width}\n", 10, "or a part of them"),
        (HEAD + FORM + "      w: {sets: grip_width.x}\n", 10, "allowed: grip_width"),
        (HEAD + FORM + "      w: {sets: grip_width, high: 2}\n", 10, "allowed: 0 .. 1 [m]"),
        (HEAD + FORM + "      w: {sets: grip_width, low: 0.06}\n", 10, "as its default; allowed: 0.06 .. 1 [m]"),
        (HEAD + FORM + "      w: {sets: grip_width, low: 0.05, high: 0.01}\n", 10, "0.05 or more"),
        (HEAD + FORM + "      w: {sets: grip_width, lo: 0}\n", 10, "did you mean low"),
        (HEAD + FORM + "      w: {sets: []}\n", 10, "one parameter or more"),
        (HEAD + FORM + "      W: {sets: grip_width}\n", 10, "small letters"),
        (HEAD + FORM + "      w: {}\n", 10, "the key is missing"),
        (HEAD + FORM + "      w: {sets: grip_width}\n      v: {sets: grip_width}\n", 11, "the field w sets it"),
        (HEAD + FORM + "      w: {sets: tr_sense.up}\n", 10, "tr_sense.roll_deg"),
        (HEAD + FORM + "      w: {sets: -tr_sense}\n", 10, "before a number"),
        (HEAD + "  - {entry: a, doc: d, macro: nosuch}\n", 5, "no macro is called 'nosuch'"),
        (HEAD + GRASP + "    form: {w: {sets: grip_width, sets: grip_force}}\n", 9, "given twice"),
        (HEAD + "  - entry: a\n    doc: d\n    entries: [{entry: b, doc: d, primitive: gcmm}]\n", 7, "allowed: cart"),
        (HEAD + "  - entry: a: b\n", 5, "not readable"),
    ],
)
def test_a_broken_file_is_refused_with_its_line_and_what_is_allowed(write, text, line, problem):
    folder = write(m=text, good=HEAD.replace("menu: m", "menu: good") + GRASP)
    assert [*folder.menus] == ["good"]
    error = folder.broken["m"]
    assert isinstance(error, ParameterFileError)
    assert (error.line, problem in str(error)) == (line, True), str(error)
    assert error.file.endswith("m.yaml")


def test_a_broken_file_keeps_its_old_menu_and_a_mended_one_replaces_it(write):
    before = write(m=HEAD + GRASP)
    assert before.reread() is before  # nothing was edited
    edit(write.folder / "m.yaml", HEAD + GRASP.replace("0.05", "5"))
    broken = before.reread()
    assert broken.leaves == before.leaves
    assert "allowed: 0 .. 1 [m]" in str(broken.broken["m"])
    assert broken.reread() is broken
    edit(write.folder / "m.yaml", HEAD + GRASP.replace("0.05", "0.06"))
    mended = broken.reread()
    assert mended.broken == {}
    assert mended.leaf("a").fill({}) == {"grip_width": 0.06}
    (write.folder / "m.yaml").unlink()
    assert mended.reread().leaves == {}  # taken away on purpose
    write.folder.rmdir()
    assert mended.reread().leaves == mended.leaves
    assert "there is no folder" in str(mended.reread().broken[""])


def edit(file, text):
    """Write a file so that it is seen as changed, however coarse the clock of the file system is."""
    before = file.stat().st_mtime_ns
    file.write_text(text)
    os.utime(file, ns=(before + 10**9, before + 10**9))


def test_a_leaf_is_found_by_its_path_or_its_end_and_others_are_refused(shipped):
    assert shipped.leaf("insert").path == "compliant_motion/insert"
    with pytest.raises(NoMenuError, match=r"did you mean compliant_motion/hinge\?"):
        shipped.leaf("hing")
    with pytest.raises(NoMenuError, match="there are: guarded_motion/straight"):
        shipped.leaf("zzz")
    with pytest.raises(NoMenuError, match="there is no folder"):
        read_menus(shipped.folder / "nowhere", shipped.robot)


# round trip -------------------------------------------------------------------------------------------------------

words = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
texts = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1, max_size=20)
bounds = st.one_of(st.none(), st.floats(-1e6, 1e6))


def several(of, least=1):
    return st.lists(of, min_size=least, max_size=3, unique_by=lambda entry: entry["entry"])


asks = st.fixed_dictionaries(
    {"sets": st.lists(words, min_size=1, max_size=3)}, optional={"low": bounds, "high": bounds, "doc": texts}
)
leaves = st.fixed_dictionaries(
    {"entry": words, "doc": texts, "primitive": st.sampled_from(list(KINDS))},
    optional={"form": st.dictionaries(words, asks, max_size=3)},
)
entries = st.recursive(
    leaves,
    lambda inner: st.fixed_dictionaries({"entry": words, "doc": texts, "entries": several(inner)}),
    max_leaves=6,
)
menus = st.fixed_dictionaries({"menu": words, "doc": texts, "order": st.integers(1, 1000), "entries": several(entries)})


def plain(value):
    """A menu as the file had it: keys that are not given are left out."""
    if isinstance(value, Menu):
        return {
            "menu": value.name,
            "doc": value.doc,
            "order": value.order,
            "entries": [plain(entry) for entry in value.entries],
        }
    if isinstance(value, Entry):
        found = {"entry": value.name, "doc": value.doc}
        if value.entries:
            return found | {"entries": [plain(entry) for entry in value.entries]}
        form = {} if value.form is None else {"form": {name: plain(ask) for name, ask in value.form.items()}}
        return found | {"primitive": value.primitive} | form
    assert isinstance(value, Ask)
    given = {"low": value.low, "high": value.high, "doc": value.doc or None}
    return {"sets": list(value.sets)} | {name: item for name, item in given.items() if item is not None}


def without_nothing(value):
    if isinstance(value, dict):
        return {name: without_nothing(item) for name, item in value.items() if item is not None}
    return [without_nothing(item) for item in value] if isinstance(value, list) else value


@pytest.mark.lengthy
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(menus)
def test_what_is_written_is_what_is_read(tmp_path, menu):
    from telerobot_nodes.core.config import read_yaml

    file = tmp_path / "menu.yaml"
    file.write_text(yaml.safe_dump(menu, allow_unicode=True), encoding="utf-8")
    assert plain(build(Menu, read_yaml(file), Spot("menu"))) == without_nothing(menu)
