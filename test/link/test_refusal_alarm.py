"""The alarm for refused datagrams, and what is none: the copies that a halt's sender makes."""

import itertools

from simulated_net import CELL, DESK, HALT, OPERATIONS

from telerobot_nodes.link import RefusalAlarm
from telerobot_nodes.link.endpoint import AGAIN, QUIET


def test_the_first_refused_datagram_is_told_at_once_and_a_flood_of_them_once_a_period():
    alarm, told = RefusalAlarm(), []
    for step in range(100):
        now = 0.05 * step
        if alarm.update(now, {"forged": step} if step else {}):
            told.append(now)
    assert told[0] == 0.05
    assert all(b - a >= AGAIN for a, b in itertools.pairwise(told))
    assert 4 <= len(told) <= 5


def test_what_came_last_is_told_even_when_the_flood_has_ended():
    alarm = RefusalAlarm()
    assert alarm.update(0.0, {"forged": 1})
    assert not alarm.update(0.5, {"forged": 7})
    assert alarm.update(AGAIN, {"forged": 7})
    assert not alarm.update(2.0 * AGAIN, {"forged": 7})
    assert alarm.text == "refused: forged 7"


def test_an_alarm_is_over_after_a_quiet_time_and_the_next_one_counts_anew():
    alarm = RefusalAlarm()
    alarm.update(0.0, {"repeated": 5})
    assert alarm.is_raised(QUIET)
    assert not alarm.is_raised(QUIET + 0.1)
    later = QUIET + 1.0
    assert alarm.update(later, {"repeated": 5, "forged": 2})
    assert alarm.text == "refused: forged 2"


def test_late_messages_are_no_attack_that_other_hosts_are_told_of():
    alarm = RefusalAlarm()
    alarm.update(0.0, {"late": 5})
    assert alarm.is_raised(1.0)
    assert alarm.count(1.0) == 0
    alarm.update(1.0, {"late": 7, "forged": 2, "stranger": 1})
    assert alarm.count(1.0) == 3
    assert alarm.count(1.0 + QUIET + 0.1) == 0


def test_the_other_host_is_told_how_many_until_the_alarm_is_over(net):
    alarm = RefusalAlarm()

    def look():
        cell = net.ends[CELL]
        alarm.update(net.now, cell.refused())
        cell.report_refused(alarm.count(net.now))

    for _ in range(7):
        net.deliver(CELL, b"TL strange", ("10.0.0.66", 7602))
    net.run(0.3, look)
    assert net.session(DESK).watch.peer_refused == 7
    assert net.session(CELL).watch.peer_refused == 0
    net.run(QUIET + 0.5, look)
    assert net.session(DESK).watch.peer_refused == 0


def test_the_copies_of_a_halt_are_no_refused_datagrams_and_a_later_replay_of_it_is_one(net):
    net.send(DESK, HALT, b"halt")
    net.run(0.5)
    assert net.messages(CELL, HALT) == [b"halt"]
    assert not net.ends[CELL].refused()
    halts = [datagram for source, datagram in net.taps if source is DESK and b"halt" in datagram]
    assert len(halts) == 4
    net.run(0.5)
    net.deliver(CELL, halts[0], DESK)
    assert net.ends[CELL].refused() == {"repeated": 1}
    assert net.messages(CELL, HALT) == [b"halt"]


def test_any_other_datagram_that_comes_twice_is_counted(net):
    net.send(DESK, OPERATIONS, b"points")
    net.run(0.1)
    datagram = next(datagram for source, datagram in net.taps if b"points" in datagram)
    net.deliver(CELL, datagram, DESK)
    assert net.ends[CELL].refused() == {"repeated": 1}


def test_what_comes_too_late_to_be_delivered_is_among_the_refused(net):
    net.cut.add(DESK)
    net.send(DESK, OPERATIONS, b"points")
    net.run(0.05)
    kept = next(datagram for source, datagram in net.taps if b"points" in datagram)
    net.cut.clear()
    net.run(6.0)
    net.deliver(CELL, kept, DESK)
    assert net.messages(CELL, OPERATIONS) == []
    assert net.ends[CELL].refused() == {"late": 1}
