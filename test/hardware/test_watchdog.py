from __future__ import annotations

from telerobot_nodes.hardware.watchdog import Watchdog


def test_before_the_first_setpoint_it_has_expired_without_a_trip():
    watchdog = Watchdog(0.1)
    assert watchdog.expired(0.0)
    assert watchdog.trips == 0


def test_it_expires_only_after_the_timeout_and_counts_once():
    watchdog = Watchdog(0.1)
    watchdog.feed(1.0)
    assert not watchdog.expired(1.099)
    assert watchdog.expired(1.101)
    assert watchdog.expired(9.0)
    assert watchdog.trips == 1


def test_a_fresh_setpoint_ends_the_expiry():
    watchdog = Watchdog(0.1)
    watchdog.feed(1.0)
    watchdog.expired(2.0)
    watchdog.feed(2.0)
    assert not watchdog.expired(2.05)
    assert watchdog.expired(2.2)
    assert watchdog.trips == 2


def test_an_older_setpoint_does_not_make_it_older():
    watchdog = Watchdog(0.1)
    watchdog.feed(2.0)
    watchdog.feed(1.0)
    assert not watchdog.expired(2.05)
