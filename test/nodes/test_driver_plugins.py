"""Drivers by name: a package beside this one can offer another."""

import pytest

pytest.importorskip("rclpy")

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.nodes.drivers import DriverSetting, make_arm

DRIVER = "def driver(setting):\n    return ('theirs', setting.robot.name, setting.robot.driver.options['port'])\n"


def test_an_entry_point_of_another_package_is_a_driver(tmp_path, monkeypatch):
    (tmp_path / "their_arm.py").write_text(DRIVER)
    about = tmp_path / "their_arm-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: their-arm\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[telerobot.hardware]\ntheirs = their_arm:driver\n")
    monkeypatch.syspath_prepend(tmp_path)
    file = tmp_path / "cell.yaml"
    file.write_text("urdf: arm\ndriver: theirs\noptions: {port: 7}\n")
    assert make_arm(DriverSetting(load_robot(str(file)), 0.001)) == ("theirs", "cell", 7)
