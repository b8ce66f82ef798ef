"""Steps are inserted into a macro's file: all else of it stays, and a file that fails its check is not written."""

import itertools
import resource
import textwrap

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from telerobot_nodes.core.config import parse_yaml
from telerobot_nodes.errors import InvalidValueError, TelerobotError
from telerobot_nodes.macros import NoMacroError, Track, check_macro, merged, read_macros, replace_macro, require_fit
from telerobot_nodes.macros.merge import with_steps

NEW = [{"step": "new_1", "primitive": "free_grasp", "values": {"grip_width": 0.03}}]
HEAD = "macro: m\n# kept 1\nversion: 7  # kept 2\ndoc: x\nmotion: relative\n"
LAYOUTS = {
    "block": """\
steps:
  - step: a  # kept 3
    text: status
  # kept 4
  - step: b
    primitive: free_grasp
    values:
      grip_width: 0.02
    accept:
      - opened  # kept 5
  # kept 6

# kept 7
parameters: {}
""",
    "not indented": "steps:\n- step: a\n  text: status\n\n- {step: b,\n   text: status}\n# kept 3\n",
    "no line end": "steps:\n  - {step: a, text: status}\n  - {step: b, text: status}",
    "one line": "steps: [{step: a, text: status}, {step: b, text: status}]  # kept 3\n",
    "lines of a list": "steps: [\n  {step: a, text: status},  # kept 3\n  {step: b, text: status},\n  ]\n",
    "texts in blocks": """\
steps:
  - step: a
    text: |
      status

  # kept 3
  - step: b
    text: >-
     status
""",
}


@pytest.mark.parametrize("place", [1, 2])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_steps_are_inserted_at_their_place_and_values_and_comments_of_all_others_stay(layout, place):
    text = HEAD + LAYOUTS[layout]
    fresh = with_steps(text, "m.yaml", NEW, place)
    before, after = parse_yaml(text, "m"), parse_yaml(fresh, "m")
    assert after["version"] == 8
    assert after["steps"][place] == NEW[0]
    assert [step for step in after["steps"] if step["step"] != "new_1"] == before["steps"]
    assert {**after, "version": 7, "steps": before["steps"]} == before
    assert fresh.count("# kept") == text.count("# kept")


@pytest.mark.parametrize(
    "steps", ["steps:\n  - &one {step: a, text: status}\n  - *one\n", "steps: {step: a, text: status}\n"]
)
def test_a_layout_into_which_nothing_can_be_inserted_is_refused(steps):
    with pytest.raises(InvalidValueError, match=r"into: .* allowed: a file with its steps in a plain list"):
        with_steps(HEAD + steps, "m.yaml", NEW, 2 if "*" in steps else 1)


@given(st.lists(st.sampled_from(["# word", "", "    # far", "  # near"]), max_size=3), st.integers(1, 3))
def test_lines_of_comments_between_steps_do_not_move_the_place(lines, place):
    rest = "\n".join(lines) + "\n"
    text = HEAD + "steps:\n" + "".join(f"  - step: {name}\n    text: status\n{rest}" for name in "abc")
    after = parse_yaml(with_steps(text, "m.yaml", NEW, place), "m")
    names = list("abc")
    names.insert(place, "new_1")
    assert [step["step"] for step in after["steps"]] == names


def straight(*points):
    """A track through points (3,), a second from each to the next, at rest for half a second at each."""
    places = [np.tile(points[0], (25, 1))]
    for a, b in itertools.pairwise(np.array(points)):
        places += [a + np.linspace(0.0, 1.0, 50)[:, None] * (b - a), np.tile(b, (25, 1))]
    place = np.vstack(places)
    pose = np.column_stack((place, np.tile((1.0, 0.0, 0.0, 0.0), (len(place), 1))))
    zeros = np.zeros(len(place))
    return Track(0.02 * np.arange(len(place)), pose, zeros, zeros, zeros)


UP, DOWN = (0.5, 0.0, 0.4), (0.5, 0.0, 0.3)
ABSOLUTE = """\
macro: there
version: 1
doc: To a place.
motion: absolute
steps:
  - {step: move_1, primitive: cartesian_guarded, values: {tr_tn_dest: [0.4, 0.1, 0.4, 1, 0, 0, 0]}}
"""


def test_a_relative_macro_continues_and_an_absolute_one_first_moves_to_where_the_motion_began(write, back, arm):
    folder = write(back=back, there=ABSOLUTE)
    for name, kinds in (("back", ["tr_rel_dest", "tr_rel_dest"]), ("there", ["tr_tn_dest"] * 3)):
        count = replace_macro(folder.folder, name, merged(folder, name, straight(UP, DOWN)), arm)
        macro = read_macros(folder.folder).get(name)
        assert len(macro.steps) == count == len(kinds)
        assert macro.version == 2
        assert [next(key for key in step.values if key.startswith("tr_")) for step in macro.steps] == kinds
    steps = check_macro(read_macros(folder.folder), "there", arm, {})
    assert [step.step.name for step in steps] == ["move_1", "begin_1", "move_2"]
    assert steps[1].values["tr_tn_dest"][:3] == pytest.approx(UP)
    assert steps[2].values["tr_tn_dest"][:3] == pytest.approx(DOWN)
    (learned,) = read_macros(folder.folder).get("back").steps[1:]
    assert np.linalg.norm(learned.values["tr_rel_dest"][:3]) == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        ({"motion": "absolute"}, "motion: 'absolute' is not allowed; allowed: relative, as back is"),
        ({"after": "bakc"}, "after: 'bakc' is not allowed; allowed: back"),
    ],
)
def test_what_does_not_fit_is_refused_with_what_would(write, back, words, refusal):
    folder = write(back=back)
    with pytest.raises(InvalidValueError, match="^" + refusal):
        merged(folder, "back", straight(UP, DOWN), **words)
    with pytest.raises(InvalidValueError, match="^" + refusal):
        require_fit(folder.get("back"), **{"motion": "", "after": "", **words})
    with pytest.raises(NoMacroError):
        merged(folder, "other", straight(UP, DOWN))
    with pytest.raises(InvalidValueError, match="in which nothing moved"):
        merged(folder, "back", straight(UP, UP))


def test_a_place_is_after_the_step_or_at_the_end(write):
    steps = "".join(f"  - {{step: {name}, text: status}}\n" for name in "abc")
    macro = write(m=f"macro: m\nversion: 1\ndoc: x\nmotion: relative\nsteps:\n{steps}").get("m")
    assert [require_fit(macro, "relative", after) for after in ("a", "b", "c", "")] == [1, 2, 3, 3]


@pytest.mark.parametrize(
    ("old", "new"), [("version: 1", "version: one"), ("0, 0, 0, 1]", "0, 0, 0, 0]"), ("${-way}", "${-wya}")]
)
def test_the_old_file_stays_when_the_new_one_would_not_run(write, back, arm, old, new):
    folder = write(back=back)
    file = folder.folder / "back.yaml"
    before = file.read_text()
    assert before.replace(old, new) != before
    with pytest.raises(InvalidValueError, match="macro: 'back' is not allowed; not written: "):
        replace_macro(folder.folder, "back", before.replace(old, new), arm)
    assert file.read_text() == before
    assert [one.name for one in folder.folder.iterdir()] == ["back.yaml"]


def test_the_old_file_stays_when_the_new_one_cannot_be_written(write, back, arm):
    folder = write(back=back)
    (folder.folder / "back.new").mkdir()  # where it would be written first
    with pytest.raises(TelerobotError, match="was not written"):
        replace_macro(folder.folder, "back", merged(folder, "back", straight(UP, DOWN)), arm)
    assert read_macros(folder.folder).get("back").version == 1


def test_a_macro_that_uses_another_is_checked_with_it(write, back, arm):
    user = "macro: user\nversion: 1\ndoc: x\nmotion: relative\nsteps: [{step: a, macro: back}]\n"
    folder = write(back=back, user=user)
    assert replace_macro(folder.folder, "user", merged(folder, "user", straight(UP, DOWN)), arm) == 2
    assert [step.label for step in check_macro(read_macros(folder.folder), "user", arm, {})] == [
        "user/a/back",
        "user/move_1",
    ]


def test_steps_come_after_the_one_that_is_named_and_a_version_may_get_longer(write):
    steps = "".join(f"  - {{step: {name}, text: status}}\n" for name in "abc")
    folder = write(m=f"macro: m\nversion: 9\ndoc: x\nmotion: relative\nsteps:\n{steps}")
    after = parse_yaml(merged(folder, "m", straight(UP, DOWN), after="a"), "m")
    assert [step["step"] for step in after["steps"]] == ["a", "move_1", "b", "c"]
    assert after["version"] == 10


def test_a_disk_that_is_full_leaves_the_old_file(write, back, arm):
    folder = write(back=back)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    try:
        with pytest.raises(TelerobotError, match=r"back was not written.*File too large"):
            replace_macro(folder.folder, "back", merged(folder, "back", straight(UP, DOWN)), arm)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert read_macros(folder.folder).get("back").version == 1


def test_what_was_written_first_does_not_stay_where_it_cannot_take_the_file_s_place(back, arm, tmp_path):
    (tmp_path / "back.yaml").mkdir()
    with pytest.raises(TelerobotError, match="was not written"):
        replace_macro(tmp_path, "back", textwrap.dedent(back), arm)
    assert [one.name for one in tmp_path.iterdir()] == ["back.yaml"]


def test_a_folder_is_made_and_a_file_in_its_place_is_refused(write, back, arm, tmp_path):
    write(back=back)
    assert replace_macro(tmp_path / "new" / "own", "back", textwrap.dedent(back), arm) == 1
    (tmp_path / "file").write_text("mine")
    with pytest.raises(TelerobotError, match="was not written"):
        replace_macro(tmp_path / "file", "back", textwrap.dedent(back), arm)
