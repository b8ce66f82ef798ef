"""Joint margins and forces as a person reads them."""

from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.operator.client import RobotStatus, Tone
from telerobot_nodes.operator.console.readings import SPAN, ForcePlot, margin_row

ROBOT = load_robot("arm")


def test_each_joint_has_its_distance_from_the_nearer_limit():
    q = np.array(ROBOT.limits.lower) + np.radians(20.0)
    q[1] = ROBOT.limits.upper[1] - np.radians(7.0)
    row = margin_row(ROBOT, q)
    assert (row.text, row.tone) == ("20 7 20 20 20 20 deg", Tone.PLAIN)


@pytest.mark.parametrize("side", ["lower", "upper"])
def test_a_joint_near_its_limit_is_named(side):
    q = np.array(ROBOT.home)
    q[2] = getattr(ROBOT.limits, side)[2]
    row = margin_row(ROBOT, q)
    assert row.text.endswith(f"; {ROBOT.joint_names[2]} is near a limit")
    assert row.tone is Tone.WARN


def test_without_joints_the_margins_are_not_known():
    assert margin_row(ROBOT, np.empty(0)).text == "not known"


class Gui:
    def add_folder(self, label, **look):
        return nullcontext()

    def add_uplot(self, data, series, **look):
        assert len(data) == len(series)
        self.plot = SimpleNamespace(data=data)
        return self.plot


@pytest.fixture
def gui():
    return Gui()


def pressing(force):
    return RobotStatus(wrench=np.array((0.0, 3.0, force, 0.0, 0.0, 0.0)))


def test_the_plot_holds_the_latest_forces_by_their_age(gui):
    plot = ForcePlot(gui)
    for tenth in range(500):
        plot.show(pressing(4.0 if tenth == 490 else 0.0), 100.0 + 0.1 * tenth)
    age, x, y, z, size = gui.plot.data
    assert -SPAN <= age[0] < -SPAN + 0.6
    assert -0.6 < age[-1] <= 0.0
    assert set(x) == {0.0}
    assert set(y) == {3.0}
    assert (z.max(), size.max()) == (4.0, 5.0)
    assert np.allclose(np.diff(age), 0.1)


def test_a_recording_that_is_set_back_begins_anew(gui):
    plot = ForcePlot(gui)
    for second in (100.0, 101.0, 50.0, 51.0):
        plot.show(pressing(1.0), second)
    assert gui.plot.data[0].tolist() == [-1.0, 0.0]


def test_an_arm_without_a_sensor_draws_nothing(gui):
    plot = ForcePlot(gui)
    plot.show(RobotStatus(), 100.0)
    assert len(gui.plot.data[0]) == 0
