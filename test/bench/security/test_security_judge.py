"""The figures of `telerobot bench security`, from counts and times that are known."""

import math

import pytest

from telerobot_nodes.bench.security import judge
from telerobot_nodes.bench.security.judge import Attack

HEALTH = {"refused forged": "3", "desk gcmsf_control/teleop_cmds late": "2", "desk age": "0.1", "refused repeated": "1"}


def missed(goals):
    return [goal["name"].partition(": ")[2] for goal in goals if not goal["met"]]


def test_refusals_are_counted_by_reason_and_late_messages_of_all_topics_together():
    assert judge.refusals(HEALTH) == {"forged": 3, "repeated": 1, "late": 2}
    assert judge.refusals(HEALTH | {"desk halt late": "4"})["late"] == 6
    assert judge.more({"forged": 3, "late": 2}, {"forged": 10, "late": 2, "repeated": 1}) == {
        "forged": 7,
        "repeated": 1,
    }


def test_the_alarm_is_the_first_report_of_more_refusals_than_before():
    reports = [(1.0, HEALTH), (2.0, HEALTH), (3.0, HEALTH | {"refused forged": "4"}), (4.0, {})]
    assert judge.first_alarm(reports, 6, 2.5) == pytest.approx(0.5)
    assert judge.first_alarm(reports, 7, 2.5) == math.inf


def test_what_arrives_without_a_genuine_sending_or_twice_was_accepted():
    assert judge.accepted({1: 0.0, 2: 0.0}, {1: 0.1}, 0) == 0
    assert judge.accepted({1: 0.0}, {1: 0.1, 1_000_000: 0.2}, 2) == 3


def test_an_attack_that_got_through_unseen_misses_every_goal_and_one_that_did_not_misses_none():
    held = Attack("noise", 10, 10, 0, {"forged": 10}, 0.2)
    assert missed(judge.goals_of("a", held)) == []
    through = Attack("noise", 10, 10, 1, {"forged": 9}, math.inf, unfresh=1)
    assert missed(judge.goals_of("a", through)) == [
        "accepted of 10",
        "counted by reason",
        "alarm",
        "link not fresh, or genuine messages lost",
    ]


def test_the_cost_is_the_median_ratio_of_neighbouring_blocks():
    figures = judge.cost([(1.0, 2.0), (3.0, 6.0), (2.0, 2.0)], [(1.0, 1.0), (1.0, 2.0), (1.0, 2.0)])
    assert (figures["latency_ratio"], figures["cpu_ratio"]) == (2.0, 2.0)
    assert (figures["on_latency_ms"], figures["off_cpu_s"], figures["blocks"]) == (2000.0, 2.0, 3)
    assert [goal["met"] for goal in judge.goals_of_cost(figures)] == [False, False]
    assert all(goal["met"] for goal in judge.goals_of_cost(judge.cost([(1.0, 1.0)], [(1.0, 1.0)])))


def test_a_take_that_arrives_or_is_not_counted_and_a_request_that_does_not_arrive_miss_their_goals():
    held = {"as_supervisor": 0, "in_its_name": 0, "requests": 10, "refused": {"other_name": 10, "supervisors_only": 10}}
    assert all(goal["met"] for goal in judge.goals_of_takes(held, 10))
    through = {"as_supervisor": 1, "in_its_name": 1, "requests": 9, "refused": {"other_name": 9, "late": 99}}
    assert not any(goal["met"] for goal in judge.goals_of_takes(through, 10))
