"""The door: a flood is refused at once and is told so now and then; who says little always gets in."""

from telerobot_nodes.rtc.door import ALL_RATE, BURST, MOST_SENDERS, RATE, Admission, Door


def say(door, sender, rate, seconds, start=0.0):
    return [door.admit(sender, start + number / rate) for number in range(round(rate * seconds))]


def test_who_says_little_is_never_refused():
    assert set(say(Door(), "ana", 50.0, 20.0)) == {Admission.TAKEN}


def test_a_burst_is_taken():
    door = Door()
    assert {door.admit("script", 0.0) for _ in range(int(BURST))} == {Admission.TAKEN}
    assert door.admit("script", 0.0) is Admission.REFUSED


def test_of_a_flood_only_the_rate_is_taken_and_few_refusals_are_told():
    said = say(Door(), "flood", 1000.0, 10.0)
    assert abs(said.count(Admission.TAKEN) - (10.0 * RATE + BURST)) <= 2
    assert 90 <= said.count(Admission.REFUSED) <= 110
    assert said.count(Admission.IGNORED) > 8000


def test_a_flood_takes_nothing_from_another_sender():
    door = Door()
    for step in range(10_000):
        door.admit("flood", step / 1000.0)
        if step % 50 == 0:
            assert door.admit("ana", step / 1000.0) is Admission.TAKEN


def test_many_names_do_not_make_many_doors():
    door = Door()
    said = [door.admit(f"name{number}", number / 1000.0) for number in range(10_000)]
    assert said.count(Admission.TAKEN) < 10.0 * ALL_RATE + 200
    assert len(door._senders) <= MOST_SENDERS


def test_a_clock_that_goes_back_gives_nothing():
    door = Door()
    for _ in range(int(BURST)):
        door.admit("ana", 100.0)
    assert door.admit("ana", 0.0) is not Admission.TAKEN
