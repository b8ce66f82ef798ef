"""Names, dimensions and contradictions are refused at the word that is wrong."""

import pytest

from telerobot_nodes.rtc.language import CommandError, Vocabulary, check
from telerobot_nodes.rtc.language.parser import parse_one

VOCABULARY = Vocabulary(
    objects=frozenset({"module", "crank", "door", "box"}),
    places=frozenset({"dock", "table"}),
    arms=frozenset({"left_arm", "right_arm"}),
    regions=frozenset({"bench", "panel"}),
    points=frozenset({"handle"}),
    skills=frozenset({"polish"}),
    macros=frozenset({"fetch"}),
    agents=frozenset({"anna"}),
    tools=frozenset({"driver"}),
    signals=frozenset({"lamp"}),
    paths=frozenset({"loop"}),
    cameras=frozenset({"camera_1"}),
)


@pytest.mark.parametrize(
    ("text", "word", "says"),
    [
        ("grasp modul with left_arm", "modul", "did you mean module?"),
        ("grasp module with left_am", "left_am", "did you mean left_arm?"),
        ("grasp dock", "dock", "'dock' is a place, not an object"),
        ("grasp module at knob", "knob", "no point is called"),
        ("pick module and place on doc", "doc", "did you mean dock"),
        ("move left_arm to (1, 2, 3) in dok", "dok", "did you mean dock"),
        ("move left_arm to (1 kg, 2, 3)", "1 kg", "number of length"),
        ("move left_arm by -3 cm along x", "-3 cm", "not negative"),
        ("wait for -1 s", "-1 s", "not negative"),
        ("move left_arm to (0.3, 0, 0.4, 0 m, 1, 0, 0)", "0 m", "plain number"),
        ("move left_arm to joints (10 deg, 1)", "1)", "needs a unit"),
        ("push box unless deviation > 0.1 then stop", "0.1 then", "needs a unit"),
        ("push box unless force > 3 then retreat by -2 cm", "-2 cm", "greater than zero"),
        ("done task 3 width = 5 kg", "5 kg", "number of length"),
        ("done task 3 at dok", "dok", "did you mean dock"),
        ("grasp module maintain speed 5 N", "5 N", "number of speed"),
        ("grasp module maintain speed -1", "-1", "greater than zero"),
        ("grasp module maintain speed 1 speed 2", "speed 2", "given twice"),
        ("grasp module maintain speed 1 maintain speed 2", "speed 2", "given twice"),
        ("grasp module timeout 5 s timeout 6 s", "timeout 6 s", "given twice"),
        ("grasp module queued no-wait", "no-wait", "given twice"),
        ("grasp module with left_arm with right_arm", "with right_arm", "given twice"),
        ("move free left_arm to dock guarded", "guarded", "cannot be guarded"),
        ("polish box shared operator x y program y z", "polish", "named twice"),
        ("polish box shared operator x program z via operator-intervention", "shared", "leaves no step"),
        ("turn crank maintain pose-during-motion", "pose-during-motion", "changes the pose"),
        ("push box maintain safe-work-range bench avoid-task-region bench", "avoid-task-region", "kept and avoided"),
        ("polish box maintain force 20 N unless force > 10 then stop", "10 then", "would trigger"),
        ("push box unless force > 3 kg then stop", "3 kg", "number of force"),
        ("push box unless distance to wall < 3 then stop", "wall", "no place or object"),
        ("push box unless signal lamb then stop", "lamb", "did you mean lamp"),
        ("push box unless force > 3 then slow to 3 m", "3 m", "number of speed"),
        ("push box retry 2.5", "2.5", "whole number"),
        ("push box retry 11", "11", "whole number"),
        ("push box as left_arm", "left_arm", "is an arm"),
        ("push box unless force > 3 then retreat by 1000 m", "1000 m", "too much"),
        ("push box tool hammer", "hammer", "no tool"),
        ("push box frame tabel", "tabel", "did you mean table"),
        ("push box maintain avoid-task-region panle", "panle", "did you mean panel"),
        ("follow lop with left_arm", "lop", "did you mean loop"),
        ("request left", "left", ""),
        ("grant left_arm to ana", "ana", "did you mean anna"),
        ("run ftch", "ftch", "did you mean fetch"),
        ("try grasp modul", "modul", "did you mean module"),
        ("perform polsh", "polsh", "did you mean polish"),
    ],
)
def test_what_cannot_be_meant_is_refused_at_the_word(text, word, says):
    with pytest.raises(CommandError) as error:
        check(parse_one(text), VOCABULARY)
    assert error.value.column == text.index(word) + 1
    assert says in str(error.value)


@pytest.mark.parametrize(
    "text",
    [
        "grasp module with left_arm maintain avoid-neighbors speed 0.05 guarded unless force > 20 then stop",
        "polish box maintain force 5 N unless force > 10 then stop unless torque > 2 then stop",
        "push box maintain avoid-task-region bench avoid-task-region panel",
        'push box note "one" note "two"',
        "follow loop reversed with left_arm",
        "halt anything_at_all",
    ],
)
def test_what_can_be_meant_is_accepted(text):
    statement = parse_one(text)
    assert check(statement, VOCABULARY) == statement


def test_names_come_back_in_their_known_spelling():
    assert check(parse_one("grasp MODULE with Left-Arm"), VOCABULARY) == parse_one("grasp module with left_arm")
