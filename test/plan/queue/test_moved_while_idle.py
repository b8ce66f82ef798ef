import numpy as np

from telerobot_nodes.plan.queue.moved_while_idle import REPORTS, MovedWhileIdle

HEAD = np.array([0.5, 0.0, 0.4, 0.0, 0.0, 0.0, 1.0])


def away(by):
    pose = HEAD.copy()
    pose[2] += by
    return pose


def test_an_arm_that_stays_elsewhere_is_told_once_and_again_only_after_as_long():
    watch = MovedWhileIdle()
    told = [watch.update(HEAD, away(0.02)) for _ in range(3 * REPORTS)]
    assert np.flatnonzero(told).tolist() == [REPORTS - 1, 2 * REPORTS - 1, 3 * REPORTS - 1]


def test_a_servo_that_is_a_little_off_and_one_report_in_between_are_nothing():
    watch = MovedWhileIdle()
    assert not any(watch.update(HEAD, away(0.002)) for _ in range(5 * REPORTS))
    for _ in range(5):
        assert not any(watch.update(HEAD, away(0.02)) for _ in range(REPORTS - 1))
        assert not watch.update(HEAD, HEAD)


def test_a_turn_alone_is_elsewhere_too():
    watch = MovedWhileIdle()
    turned = HEAD.copy()
    turned[3:] = [np.sin(0.05), 0.0, 0.0, np.cos(0.05)]
    assert any(watch.update(HEAD, turned) for _ in range(REPORTS))


def test_an_arm_that_moves_in_between_is_counted_anew():
    watch = MovedWhileIdle()
    for _ in range(REPORTS - 1):
        assert not watch.update(HEAD, away(0.02))
    assert not watch.update(None, away(0.02))
    assert not any(watch.update(HEAD, away(0.02)) for _ in range(REPORTS - 1))
    assert watch.update(HEAD, away(0.02))
