"""The benchmark of force back to the hand: its simulated hand, and a press over the link."""

import numpy as np
import pytest

from telerobot_nodes.bench.contact.reflect import _row, press
from telerobot_nodes.bench.contact.simulated_hand import STEP, Person, SimulatedHand


def moved(hand, force, seconds):
    for _ in range(round(seconds / STEP)):
        hand.step(np.array([0.0, 0.0, force]))
    return hand


def test_a_hand_that_feels_nothing_moves_on_at_its_speed():
    hand = moved(SimulatedHand(Person()), 0.0, 3.0)
    assert hand.velocity[2] == pytest.approx(-Person().speed, rel=1e-3)
    assert hand.work == 0.0


def test_a_hand_that_feels_the_force_it_wants_rests_and_one_that_feels_more_yields():
    assert moved(SimulatedHand(Person()), Person().force, 3.0).velocity[2] == pytest.approx(0.0, abs=1e-6)
    assert moved(SimulatedHand(Person()), 2.0 * Person().force, 3.0).velocity[2] > 0.5 * Person().speed


def test_the_work_of_the_hand_is_force_times_distance():
    hand = moved(SimulatedHand(Person()), 4.0, 3.0)
    assert hand.work == pytest.approx(-4.0 * hand.place[2])


@pytest.mark.nightly
@pytest.mark.lengthy
def test_over_half_a_second_the_tip_keeps_contact_and_the_hand_is_given_nothing():
    row = _row(0.5, "passive", press(0.5, "passive", {"seconds": 5.0}))
    assert row["lost"] == 0
    assert row["peak"] < 15.0
    assert row["least_work"] > -0.05
    assert row["largest_felt"] > 1.0
    assert row["end"] == "RUNNING"


@pytest.mark.lengthy
def test_the_force_as_it_arrives_works_on_the_hand():
    assert _row(0.5, "as it arrives", press(0.5, "as it arrives", {"seconds": 5.0}))["least_work"] < -0.05
