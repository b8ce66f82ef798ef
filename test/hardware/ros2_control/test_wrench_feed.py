import numpy as np
import pytest

from telerobot_nodes.hardware.ros2_control.options import WrenchOptions, WrenchSign
from telerobot_nodes.hardware.ros2_control.trouble import Trouble
from telerobot_nodes.hardware.ros2_control.wrench_feed import WrenchFeed

ROW = [1.0, 2.0, 3.0, 0.1, 0.2, 0.3]


@pytest.mark.parametrize(("sign", "factor"), [(WrenchSign.ON_TOOL, -1.0), (WrenchSign.ON_ENVIRONMENT, 1.0)])
def test_the_wrench_is_that_of_the_tool_on_the_environment(sign, factor):
    feed = WrenchFeed(WrenchOptions("ft", sign=sign), 0.1)
    assert feed.receive(5.0, 700.0, "ft", ROW) is None
    assert feed.at(5.05).tolist() == [factor * value for value in ROW]


def test_it_is_not_a_number_before_the_first_and_once_it_is_old():
    feed = WrenchFeed(WrenchOptions("ft"), 0.1)
    assert np.isnan(feed.at(1.0)).all()
    feed.receive(5.0, 700.0, "ft", ROW)
    feed.receive(5.2, 700.0, "ft", ROW)  # the same measurement again is not a newer one
    assert np.isnan(feed.at(5.2)).all()


def test_another_frame_is_named_and_not_taken():
    feed = WrenchFeed(WrenchOptions("ft"), 0.1)
    fault = feed.receive(5.0, 700.0, "base", ROW)
    assert fault.trouble is Trouble.WRENCH_FRAME and "'base'" in fault.detail and "'ft'" in fault.detail
    assert np.isnan(feed.at(5.0)).all()


def test_an_arm_without_a_sensor_feels_nothing():
    assert WrenchFeed(None, 0.1).at(1.0).tolist() == [0.0] * 6
