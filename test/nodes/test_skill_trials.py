"""What `try` says of the skills with the arm of `urdf/`, against the executive's own check; nothing moves."""

import pytest

from telerobot_nodes.bench.rtc import skills


@pytest.fixture(scope="module")
def trials():
    return skills.SkillTrials()


def test_every_skill_that_can_be_said_has_a_sentence(trials):
    assert set(skills.SENTENCES) | skills.UNSAID == set(trials.library.skills)


@pytest.mark.lengthy
@pytest.mark.parametrize(("text", "held"), [*skills.MORE, *skills.SENTENCES.values()])
def test_the_executive_takes_every_step_of_every_skill(trials, text, held):
    assert trials.run(text, held).error == ""


SHARED = {
    "polish plate for 5 s with left_arm maintain force 5 N shared operator x y program z rx ry": "",
    "hold left_arm for 2 s shared operator x y program z": "",
    "comply left_arm along x y shared operator z program x y": "",
    "turn crank by 360 deg": "",
    "turn crank by 720 deg": "",
    "open door": "",
    "close door": "",
    "touch table shared operator x y program z": "shared: touch has no step",
    "hold left_arm for 2 s dither 20 cm": "dither: dither_mag",
    "open gripper by 30 cm with left_arm": "by: grip_width",
    "hold left_arm for 2 s stiffness 900 N/m": "",
}


@pytest.mark.lengthy
@pytest.mark.parametrize(("text", "says"), SHARED.items(), ids=SHARED)
def test_what_the_executive_refuses_is_refused_by_the_clause(trials, text, says):
    trial = trials.run(text)
    assert trial.works == (says == "")
    assert says in trial.error


@pytest.mark.slow
def test_every_clause_of_every_skill_is_done_or_refused_by_name(trials):
    assert [row for row in skills.rows(trials) if row.verdict == "WRONG"] == []


def test_a_clause_that_changes_nothing_is_found(trials):
    """The judge itself: an accepted clause that leaves every primitive as it was is wrong, and so is a nameless no."""
    bare = skills.Trial("tare left_arm", "", ())
    assert skills.judge("tare", "dither", "dither 2 mm", bare, bare).verdict == "WRONG"
    assert skills.judge("tare", "dither", "dither 2 mm", bare, skills.Trial("", "no", ())).verdict == "WRONG"
    refusal = skills.Trial("", "dither: tare has no step for it", ())
    assert skills.judge("tare", "dither", "dither 2 mm", bare, refusal).verdict == "refused"
