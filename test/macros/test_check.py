"""The check of a macro: as the robot would, before anything is sent."""

import pytest

from telerobot_nodes.errors import InvalidValueError, ParameterFileError
from telerobot_nodes.macros import check_macro, check_whole

HEAD = "macro: m\nversion: 1\ndoc: d\nmotion: {}\nsteps:\n".format
REL = "  - {step: r, primitive: cartesian_guarded, values: {tr_rel_dest: [0, 0, 0.1, 0, 0, 0, 1]}}\n"
ABS = "  - {step: a, primitive: joint_guarded, values: {joint_dest: [0, 1, -2, 0, 0, 0]}}\n"
SEEN = "  - {step: o, primitive: cartesian_guarded, values: {tr_tn_dest: '${before(object.peg.pose, 0.1)}'}}\n"
HERE = "  - {step: h, primitive: cartesian_guarded, values: {tr_tn_dest: '${before(tool.pose, 0.1)}'}}\n"


@pytest.mark.parametrize(
    ("motion", "steps", "line"),
    [
        ("relative", REL + HERE, 0),
        ("absolute", ABS + REL, 0),
        ("absolute", SEEN, 0),
        ("relative", REL + ABS, 7),
        ("relative", SEEN, 6),
        ("absolute", HERE + ABS, 6),
        ("absolute", "  - {step: n, macro: back}\n", 6),
        ("absolute", ABS + "  - {step: n, macro: back}\n", 0),
    ],
)
def test_relative_and_absolute_are_what_they_say(write, back, arm, motion, steps, line):
    folder = write(m=HEAD(motion) + steps, back=back)
    if not line:
        assert check_macro(folder, "m", arm, {})
        return
    with pytest.raises(ParameterFileError, match=f"m is {motion}") as refused:
        check_macro(folder, "m", arm, {})
    assert refused.value.line == line


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ("{joint_dest: [0, 1, -2, 0, 0]}", "joint_dest"),
        ("{joint_dest: [0, 1, -2, 0, 0, 99]}", "joint_dest"),
        ("{}", "required by joint_guarded"),
        ("{joint_dest: [0, 1, -2, 0, 0, 0], max_force_thres: -1}", "max_force_thres"),
        ("{joint_dest: [0, 1, -2, 0, 0, 0], time_vel_sel: fast}", "allowed: time, velocity"),
    ],
)
def test_a_value_that_the_robot_would_refuse_is_refused_at_its_line(write, arm, values, problem):
    text = HEAD("absolute") + ABS + f"  - step: b\n    primitive: joint_guarded\n    values:\n      {values}\n"
    with pytest.raises(ParameterFileError, match=problem) as refused:
        check_macro(write(m=text), "m", arm, {})
    assert refused.value.line == (10 if "joint_dest:" in values else 7)


def test_two_hundred_steps_are_checked_each_of_them(write, arm):
    text = HEAD("relative") + "".join(REL.replace("step: r", f"step: r{n}") for n in range(200))
    assert len(check_macro(write(m=text), "m", arm, {})) == 200
    late = text.replace("step: r199, primitive: cartesian_guarded", "step: r199, primitive: joint_guarded")
    with pytest.raises(ParameterFileError) as refused:
        write(m=late).get("m")
    assert refused.value.line == 205


@pytest.mark.parametrize(
    ("steps", "why"),
    [
        (REL + "  - {step: t, text: status}\n", "text: allowed in a sequence that is sent as one: primitives"),
        (REL + HERE, "tr_tn_dest: tool: allowed in a sequence that is sent as one"),
        (REL + "  - {step: n, macro: late}\n", "tr_tn_dest: object: allowed"),
    ],
    ids=["a text", "known later", "in what it uses"],
)
def test_what_is_not_known_when_it_is_sent_is_not_sent_as_one_sequence(write, steps, why):
    folder = write(m=HEAD("relative") + steps, late=HEAD("absolute").replace(": m", ": late") + SEEN)
    with pytest.raises(ParameterFileError, match=why):
        check_whole(folder, "m")


def test_a_macro_of_primitives_and_numbers_may_be_sent_as_one_sequence(write, back):
    check_whole(write(m=HEAD("relative") + REL + "  - {step: n, macro: back}\n", back=back), "m")


def test_macros_that_double_at_every_level_are_refused_at_once(write, arm):
    """Each uses the next one twice: what moves is found once for each, not along each of the 2^40 ways."""
    texts = {
        f"m{k}": HEAD("relative").replace("macro: m", f"macro: m{k}")
        + f"  - {{step: a, macro: m{k + 1}}}\n  - {{step: b, macro: m{k + 1}}}\n"
        for k in range(40)
    }
    last = HEAD("relative").replace("macro: m", "macro: m40") + "  - {step: s, text: status}\n"
    with pytest.raises(InvalidValueError, match="5000 with all that is used"):
        check_macro(write(m40=last, **texts), "m0", arm, {})
