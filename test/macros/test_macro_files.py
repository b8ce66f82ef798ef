"""Macro files: read strictly, errors with file, line and key; one broken file does not hide the others."""

import pytest

from telerobot_nodes.core.config import share_path
from telerobot_nodes.errors import ParameterFileError
from telerobot_nodes.macros import NoMacroError, check_macro, read_macros

HEAD = "macro: m\nversion: 1\ndoc: d\nmotion: relative\n"
CALLS = "macro: {}\nversion: 1\ndoc: d\nmotion: relative\nsteps:\n  - {{step: s, macro: {}}}\n".format
STEP = "steps:\n  - {step: a, primitive: free_grasp, values: {grip_width: 0.05}}\n"


def test_the_examples_of_the_package_are_right(arm):
    folder = read_macros(share_path("config/macros"))
    assert folder.broken == {}
    assert {"back_off", "feel_surface"} <= set(folder.macros)
    for name in folder.macros:
        assert check_macro(folder, name, arm, {})


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        (HEAD + "steps: []\n", 5, "one step or more"),
        (HEAD.replace("version: 1", "version: 0") + STEP, 2, "allowed: 1"),
        (HEAD.replace("relative", "sideways") + STEP, 4, "allowed: absolute, relative"),
        (HEAD.replace("macro: m", "macro: n") + STEP, 1, "allowed: m, the name of its file"),
        (HEAD + "verison: 2\n" + STEP, 5, "did you mean version"),
        (HEAD + "parameters: {w: {unit: m, low: 0, high: 1, default: 2}}\n" + STEP, 5, "allowed: 0 .. 1 [m]"),
        (HEAD + "parameters: {w: {unit: m, low: 0, high: 1}}\n" + STEP, 5, "the key is missing"),
        (HEAD + "parameters: {tool: {unit: m, low: 0, high: 1, default: 0}}\n" + STEP, 5, "none of tool"),
        (HEAD + "parameters: {w: {unit: m, low: 0, high: 1, default: []}}\n" + STEP, 5, "a number, or several"),
        (HEAD + STEP.replace("step: a", "step: a/b"), 6, "without / and #"),
        (HEAD + STEP.replace("step: a", "step: 'a#2'"), 6, "without / and #"),
        (HEAD + "steps:\n  - {step: a}\n", 6, "one of primitive, text, macro"),
        (HEAD + "steps:\n  - step: a\n    primitive: jump\n", 7, "allowed: cartesian_guarded"),
        (HEAD + "steps:\n  - step: a\n    primitive: gcm\n    values:\n      grip_width: 1\n", 8, "allowed for gcm"),
        (HEAD + STEP + "  - {step: a, text: status}\n", 5, "a name of its own"),
        (HEAD + "steps:\n  - step: a\n    text: status\n    accept: [completed]\n", 8, "allowed"),
        (HEAD + "steps:\n  - step: a\n    text: status\n    accept: [halted]\n", 8, "allowed"),
        (HEAD + "steps:\n  - step: a\n    primitive: gcm\n    accept: [external_stop]\n", 8, "allowed"),
        (HEAD + "steps:\n  - step: a\n    text: 'move by ${wya}'\n", 7, "nothing is called 'wya'"),
        (HEAD + "steps:\n  - step: a\n    text: 'move by ${way'\n", 7, "needs its '}'"),
        (HEAD + "steps:\n  - step: a\n    text: '${__import__(1)}'\n", 7, "no function is called"),
        (
            HEAD + "steps:\n  - step: a\n    primitive: gcm\n    values:\n      end_time: ${x}\n",
            9,
            "nothing is called 'x'",
        ),
    ],
)
def test_a_broken_file_is_refused_with_its_line_and_what_is_allowed(write, back, text, line, problem):
    folder = write(m=text, back=back)
    assert list(folder.macros) == ["back"]
    with pytest.raises(ParameterFileError) as refused:
        folder.get("m")
    assert (refused.value.line, problem in str(refused.value)) == (line, True), refused.value


def test_a_cycle_is_refused_with_its_names(write):
    calls = "macro: {}\nversion: 1\ndoc: d\nmotion: relative\nsteps:\n  - {{step: s, macro: {}}}\n".format
    folder = write(a=calls("a", "b"), b=calls("b", "c"), c=calls("c", "b"), d=calls("d", "d"), e=calls("e", "f"))
    for name, problem in {"a": "a -> b -> c -> b", "d": "d -> d", "e": "no macro is called 'f'"}.items():
        with pytest.raises(ParameterFileError, match=problem) as refused:
            folder.closure(name)
        assert refused.value.line == 6


def test_an_unknown_macro_and_a_missing_folder_are_refused(write, back, tmp_path):
    with pytest.raises(NoMacroError, match="did you mean back"):
        write(back=back).get("bakc")
    with pytest.raises(NoMacroError, match="there is no folder"):
        read_macros(tmp_path / "nowhere")


def test_the_hash_is_of_what_the_files_say_and_of_all_that_is_used(write, back):
    outer = "macro: outer\nversion: 1\ndoc: d\nmotion: relative\nsteps:\n  - {step: s, macro: back}\n"
    first = write(back=back, outer=outer).fingerprint("outer")
    assert write(back=f"# a comment\n{back}", outer=outer).fingerprint("outer") == first
    assert write(back=back.replace("0.05", "0.06")).fingerprint("outer") != first


def test_macros_use_one_another_only_so_deep(write, arm):
    texts = {f"m{k}": CALLS(f"m{k}", f"m{k + 1}") for k in range(49)}
    folder = write(m49=HEAD.replace("macro: m", "macro: m49") + STEP, m=CALLS("m", "m0"), **texts)
    assert len(check_macro(folder, "m0", arm, {})) == 1
    with pytest.raises(ParameterFileError, match=r"at most 50 deep") as refused:
        folder.closure("m")
    assert refused.value.line == 6


def test_the_depth_counts_over_what_was_found_before(write):
    """A macro that was reached first on a short way is as deep on a long one."""
    texts = {f"m{k}": CALLS(f"m{k}", f"m{k + 1}") for k in range(59)}
    first = CALLS("m", "m30") + "  - {step: t, macro: m0}\n"
    folder = write(m59=HEAD.replace("macro: m", "macro: m59") + STEP, m=first, **texts)
    assert len(folder.closure("m30")) == 30
    with pytest.raises(ParameterFileError, match=r"at most 50 deep"):
        folder.closure("m")
