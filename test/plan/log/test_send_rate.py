"""Points are sent as fast as the link carries them; what is said after them arrives at once."""

import itertools
import math

import numpy as np
import plan_models
import pytest
import thin_link
from us5046022_scene import ARM, HOME

from telerobot_nodes.core.robot import Reach
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.link.delay_line import DelayLine, LinkSettings
from telerobot_nodes.plan.log import Timing
from telerobot_nodes.plan.log.send_rate import RateConfig, SendRate
from telerobot_nodes.plan.log.sender import POINT_BYTES
from telerobot_nodes.plan.queue import PathPlanQueue, QueueConfig

POINTS = 10_000
THIN, WIDE = 30_000.0, 1e7  # [B/s]
SLACK = 0.3  # [s] beyond the link's delay in which a word is applied


class Jittery(plan_models.Link):
    """A direction of the emulated link, behind another one: gamma-distributed delays, in order."""

    def __init__(self, behind, seed, delay, jitter, loss=0.0):
        super().__init__(seed)
        self.behind, self.line = behind, DelayLine(LinkSettings(delay, jitter, loss), upward=True, seed=seed)

    def send(self, now, message):
        self.behind.send(now, message)

    def arrived(self, now):
        for message in self.behind.arrived(now):
            self.line.push(now, message, 1)
        return self.line.due(now)


class Bulk(plan_models.Session):
    """A plan of many points that are all laid at once, over a link with a bandwidth, and perhaps with jitter."""

    def __init__(self, bandwidth, delay, points=POINTS, jitter=0.0, loss=0.0, seed=1):
        robot = plan_models.Robot(pose=HOME, capacity=100_000)
        queue = PathPlanQueue(QueueConfig(), Reach(ARM))
        self.thin = thin_link.ThinLink(bandwidth, 1, 0.0 if jitter else delay)
        up, down = self.thin, plan_models.Link(2, delay)
        if jitter:
            up = Jittery(self.thin, seed, delay, jitter, loss)
            down = Jittery(plan_models.Link(), seed + 10, delay, jitter, loss)
        super().__init__(queue, robot, up, down)
        self.run(2.0 + 4.0 * delay)
        self.before = self.thin.bytes
        plan = queue._recorder.plan
        pose = np.tile(plan.head_pose, (points, 1))
        pose[:, 1] += 1e-5 * np.arange(points)
        plan._append_at(plan.store.last_time + 0.02 * np.arange(1, points + 1), pose, Timing.FREE)
        self.begun = self.now

    def seconds_until(self, done, longest=120.0):
        begun = self.now
        while not done() and self.now < begun + longest:
            self.step()
        return self.now - begun

    def arrival(self):
        return self.seconds_until(lambda: self.robot.tail_seq == self.state().head_seq)


@pytest.mark.parametrize("delay", [0.02, 0.25, 2.0])
@pytest.mark.parametrize("after", [0.05, 0.5, 2.0, 10.0])
@pytest.mark.lengthy
def test_a_pause_over_a_thin_link_does_not_wait_for_points(delay, after):
    session = Bulk(THIN, delay)
    session.run(after)
    session.queue.pause(session.now)
    assert session.seconds_until(lambda: session.robot.paused) <= delay + SLACK


@pytest.mark.parametrize("bandwidth", [2_400.0, 3_000.0, 3_300.0])
def test_on_a_much_thinner_link_the_points_that_filled_it_at_first_leave_it(bandwidth):
    """One message takes longer there than the span over which the rate of delivery was measured: it was never known."""
    rate, link, now, unacknowledged = SendRate(), 0.0, 0.0, []
    for step in range(4000):
        now = 0.02 * step
        if (size := min(rate.room(now), 4300.0)) >= 1700.0:
            rate.sent(now, size)
            link = max(link, now) + size / bandwidth
            unacknowledged.append((link + 0.6, size, now))
        while unacknowledged and unacknowledged[0][0] <= now:
            _, size, sent = unacknowledged.pop(0)
            rate.acknowledged(now, size, sent, now - sent)
    assert link - now < 8.0
    assert rate.rate < 2.0 * bandwidth


@pytest.mark.lengthy
@pytest.mark.parametrize("word", ["clear", "rate", "brake"])
def test_nor_does_any_other_word(word):
    session = Bulk(THIN, 0.25)
    session.run(3.0)
    if word == "rate":
        session.queue.set_rate(session.now, 0.5)
        assert session.seconds_until(lambda: session.robot.rate == 0.5) <= 0.25 + SLACK
    elif word == "clear":
        session.queue.clear(session.now)
        held = len(session.robot.points)
        assert session.seconds_until(lambda: len(session.robot.points) < held // 2) <= 0.25 + SLACK
    else:
        session.queue.set_brake(session.now, 20.0)
        session.run(9.5)  # 190 of 200 s are deleted here: nothing of it is sent any more
        session.queue.set_brake(session.now, 0.0)
        assert session.arrival() <= 5.0


@pytest.mark.parametrize("delay", [0.25, 2.0])
@pytest.mark.lengthy
@pytest.mark.brief(1)
def test_a_thin_link_is_used_well_and_without_waste(delay):
    session = Bulk(THIN, delay)
    size = POINTS * POINT_BYTES
    assert session.arrival() <= 1.5 * size / THIN + delay
    assert session.thin.bytes - session.before <= 1.5 * size


@pytest.mark.lengthy
def test_a_very_thin_link_is_not_filled_without_end():
    session = Bulk(8_000.0, 0.25, points=2000)
    session.run(20.0)
    assert session.thin.free - session.now < 5.0
    assert session.arrival() <= 60.0


@pytest.mark.parametrize(("delay", "longest"), [(0.02, 1.2), (0.25, 2.0), (2.0, 7.5)])
def test_a_wide_link_is_found_within_a_round_trip(delay, longest):
    assert Bulk(WIDE, delay).arrival() <= longest


@pytest.mark.lengthy
def test_what_is_known_of_the_link_is_kept_for_the_next_points():
    first, again = Bulk(WIDE, 2.0, points=5000), None
    first.arrival()
    plan = first.queue._recorder.plan
    pose = np.tile(plan.head_pose, (5000, 1))
    plan._append_at(plan.store.last_time + 0.02 * np.arange(1, 5001), pose, Timing.FREE)
    again = first.arrival()
    assert again <= 3.5


@pytest.mark.parametrize(
    ("delay", "jitter", "loss"),
    [(1.0, 0.05, 0.02), (0.1, 0.03, 0.0), (0.1, 0.06, 0.02), (0.25, 0.1, 0.0), (0.5, 0.1, 0.0), (0.5, 0.1, 0.05)],
)
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.lengthy
@pytest.mark.brief(1)
def test_jitter_is_not_taken_for_points_that_wait(delay, jitter, loss, seed):
    """A hand lays 100 points a second; the link carries far more."""
    session = Bulk(WIDE, delay, 1, jitter, loss, seed)
    plan, before = session.queue._recorder.plan, session.robot.tail_seq

    def lay(_):
        plan._append_at(plan.store.last_time + np.array([0.01]), plan.head_pose[None], Timing.FREE)

    session.run(30.0, lay)
    assert session.robot.tail_seq - before > 0.8 * 100 * (30.0 - delay)


@pytest.mark.parametrize("seed", range(1, 7))
@pytest.mark.lengthy
@pytest.mark.brief(1)
def test_a_hand_over_a_long_link_with_much_jitter_and_loss_keeps_its_rate(seed):
    """It uses half of the first rate; what varies is the link (the study's poor one)."""
    session = Bulk(WIDE, 2.0, 1, 0.4, 0.05, seed)
    plan, before = session.queue._recorder.plan, session.robot.tail_seq
    steps = itertools.count()

    def lay(_):
        if next(steps) % 3 == 0:
            plan._append_at(plan.store.last_time + np.array([0.03]), plan.head_pose[None], Timing.FREE)

    session.run(40.0, lay)
    assert session.robot.tail_seq - before > 0.8 * 33 * 36.0


@pytest.mark.parametrize(
    ("bandwidth", "delay", "longest"), [(10_000.0, 0.25, 4.0), (8_000.0, 0.25, 6.0), (8_000.0, 2.0, 20.0)]
)
@pytest.mark.lengthy
def test_points_of_a_hand_leave_a_link_that_is_thinner_than_they_are(bandwidth, delay, longest):
    session, waits = Bulk(bandwidth, delay, 1), []
    plan = session.queue._recorder.plan

    def lay(_):
        plan._append_at(plan.store.last_time + np.array([0.01]), plan.head_pose[None], Timing.FREE)
        waits.append(session.thin.free - session.now)

    session.run(40.0, lay)
    assert max(waits) < longest
    assert np.mean(waits[-500:]) < 0.5


@pytest.mark.parametrize(("seed", "after"), [(4, 18.9), (0, 12.85), (1, 10.4)])
@pytest.mark.lengthy
@pytest.mark.brief(1)
def test_after_many_points_at_once_over_a_long_thin_link_with_jitter_a_pause_arrives(seed, after):
    """The link carries exactly the first rate: a higher one seems proven, and what is sent at it must be noticed."""
    session = Bulk(THIN, 1.0, jitter=0.2, seed=seed)
    session.run(after)
    session.queue.pause(session.now)
    assert session.seconds_until(lambda: session.robot.paused) <= 1.0 + 3.0


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.lengthy
@pytest.mark.brief(2)
def test_nor_are_points_that_wait_taken_for_jitter(seed):
    session = Bulk(THIN, 0.1, jitter=0.03, seed=seed)
    session.run(np.random.default_rng(seed).uniform(0.3, 20.0))
    session.queue.pause(session.now)
    assert session.seconds_until(lambda: session.robot.paused) <= 0.1 + 0.7


def test_jitter_explains_half_a_second_at_most():
    rate = SendRate()
    for k in range(100):
        rate.sent(0.1 * k, 3000.0)
        rate.acknowledged(0.1 * k + 4.0, 3000.0, 0.1 * k, 0.1 + 2.0 * (k % 2), math.nan)
    assert rate.rate < 30_000.0


def test_a_loss_lowers_the_rate_once_for_all_that_was_sent_before():
    rate = SendRate(RateConfig())
    rate.sent(0.0, 4000.0)
    rate.acknowledged(3.0, 1000.0, 2.0, math.nan, lost=0.0)
    once = rate.rate
    assert once == pytest.approx(0.7 * 30_000.0)
    rate.acknowledged(4.0, 1000.0, 3.5, math.nan, lost=1.0)  # the copy came now, what was lost was sent long before
    assert rate.rate == once
    rate.acknowledged(6.0, 1000.0, 5.5, math.nan, lost=4.5)
    assert rate.rate == pytest.approx(0.7 * once)


def test_a_rate_that_came_back_without_waiting_is_exceeded_and_one_that_waited_is_lowered():
    rate = SendRate(RateConfig(first=30_000.0, gain=4.0))
    rate.sent(0.0, 5000.0)
    for _ in range(3):  # with jitter, one may be luck
        assert rate.rate == 30_000.0
        rate.acknowledged(0.5, 1000.0, 0.0, round_trip=0.5, lost=math.nan)
    proven = rate.rate
    assert proven == pytest.approx(4.0 * 50_000.0)
    for k in range(60):
        rate.sent(1.0 + 0.02 * k, 4000.0)
    for k in range(60):
        rate.acknowledged(1.5 + 0.1 * k, 4000.0, 1.0 + 0.02 * k, round_trip=0.5 + 0.08 * k, lost=math.nan)
    assert rate.rate < 0.5 * proven


@pytest.mark.parametrize(
    "values", [{"first": 0.0}, {"least": float("nan")}, {"most": float("inf")}, {"first": 1e9}, {"least": -1.0}]
)
def test_bad_bounds_are_refused(values):
    with pytest.raises(InvalidValueError, match="least, first, most"):
        RateConfig(**values)
