"""The rate limiter rejects a flood at once, notifies its sender now and then, and accepts a slow sender always."""

from telerobot_nodes.rtc.server import Admission, RateLimiter
from telerobot_nodes.rtc.server.rate_limit import ALL_RATE, BURST, MAX_SENDERS, RATE


def send(limiter, sender, rate, seconds, start=0.0):
    return [limiter.admit(sender, start + number / rate) for number in range(round(rate * seconds))]


def test_a_slow_sender_is_never_refused():
    assert set(send(RateLimiter(), "ana", 50.0, 20.0)) == {Admission.ACCEPTED}


def test_a_burst_is_accepted():
    limiter = RateLimiter()
    assert {limiter.admit("script", 0.0) for _ in range(int(BURST))} == {Admission.ACCEPTED}
    assert limiter.admit("script", 0.0) is Admission.REFUSED


def test_of_a_flood_only_the_rate_is_accepted_and_few_refusals_are_notified():
    answers = send(RateLimiter(), "flood", 1000.0, 10.0)
    assert abs(answers.count(Admission.ACCEPTED) - (10.0 * RATE + BURST)) <= 2
    assert 90 <= answers.count(Admission.REFUSED) <= 110
    assert answers.count(Admission.IGNORED) > 8000


def test_a_flood_takes_nothing_from_another_sender():
    limiter = RateLimiter()
    for step in range(10_000):
        limiter.admit("flood", step / 1000.0)
        if step % 50 == 0:
            assert limiter.admit("ana", step / 1000.0) is Admission.ACCEPTED


def test_many_names_do_not_make_many_buckets():
    limiter = RateLimiter()
    answers = [limiter.admit(f"name{number}", number / 1000.0) for number in range(10_000)]
    assert answers.count(Admission.ACCEPTED) < 10.0 * ALL_RATE + 200
    assert len(limiter._senders) <= MAX_SENDERS


def test_a_clock_that_goes_back_gives_nothing():
    limiter = RateLimiter()
    for _ in range(int(BURST)):
        limiter.admit("ana", 100.0)
    assert limiter.admit("ana", 0.0) is not Admission.ACCEPTED
