"""Force control on a plate of known stiffness, in physics: sensor noise, payload, servo lag and the graph's delays."""

from __future__ import annotations

import numpy as np
import pytest

from telerobot_nodes.bench.contact import contact, touch
from telerobot_nodes.bench.contact.contact_rig import ContactRig
from telerobot_nodes.hardware import Realism


@pytest.mark.lengthy
def test_the_plate_has_the_stiffness_it_should():
    rig = ContactRig(1e5)
    rig.go_over(0.0005)
    rig.press(10.0, 1.5)
    depth = -rig.arm.data.contact[0].dist
    assert rig.arm.contact_force / depth == pytest.approx(1e5, rel=0.05)


@pytest.mark.lengthy
def test_ten_newtons_on_a_stiff_plate_without_bounce_and_kept_while_sliding_at_friction_one():
    found = touch.hold(1e5, 1.0, Realism())
    assert found["overshoot"] < 20.0 and found["bounced"] == 0
    assert abs(found["rest_error"]) < 0.5
    assert found["sliding_error"] < 0.5


@pytest.mark.lengthy
def test_a_soft_plate_is_pressed_in_two_seconds_by_default_gains_though_the_wrench_is_late():
    found = contact.surface(1e3, 0.03, 1)
    assert found["settled"] <= 2.0
    assert found["overshoot"] < 50.0 and found["lost"] == 0


@pytest.mark.brief(1)
@pytest.mark.parametrize("frequency", [2.0, 8.0])
@pytest.mark.lengthy
def test_a_shaken_plate_gets_no_energy_from_the_law_at_default_gains(frequency):
    assert touch.absorption(touch.GAINS[0], frequency, Realism())["power"] > 0.0


@pytest.mark.lengthy
def test_a_gain_far_too_high_is_seen_as_pumping():
    assert touch.absorption(1e-2, 16.0, Realism())["power"] < 0.0


@pytest.mark.lengthy
def test_a_move_to_touch_presses_harder_the_faster_it_comes():
    slow, fast = [touch.touch(1e5, speed, Realism()) for speed in (0.005, 0.05)]
    assert slow["touched"] and fast["touched"]
    assert 5.0 < slow["peak_force"] < 10.0 < fast["peak_force"]


@pytest.mark.slow
def test_the_whole_benchmark_reaches_its_goals():
    assert all(entry["met"] for entry in touch.run()["goals"])


@pytest.mark.lengthy
def test_contact_lets_go_of_the_energy_it_was_given():
    """Complying after a press: the arm gives no more than its servo had stored."""
    rig = ContactRig(1e5)
    rig.go_over(0.0005)
    rig.press(10.0, 1.5)
    before = rig.arm.work
    rig.start("gcm", {"comply_vect": [0, 0, 1, 0, 0, 0], "end_time": 1.0})
    rig.go_on(0.8)
    stored = 0.5 * 10.0**2 * (1.0 / 1e5 + 1.0 / 1.2e5)  # [J] contact and servo
    assert -stored < rig.arm.work - before
    assert np.mean(rig.force[-50:]) < 1.0
