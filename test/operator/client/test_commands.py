"""Commands are validated when made and have a text for people."""

import numpy as np
import pytest

from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.operator.client import commands
from telerobot_nodes.operator.client.commands import MAX_TEXT, kind_of


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: commands.Brake(-0.1), "brake rate"),
        (lambda: commands.TimeRatio(11.0), "time ratio"),
        (lambda: commands.Rate(0.0), "rate"),
        (lambda: commands.LinearScale(-0.1), "linear scale"),
        (lambda: commands.AngularScale(10.1), "angular scale"),
        (lambda: commands.Replay(speed=0.01), "replay speed"),
        (lambda: commands.Replay(scale=-1.0), "replay scale"),
        (lambda: commands.Replay(scale=1e-9), "replay scale"),
        (lambda: commands.SetLink(float("nan")), "link delay"),
        (lambda: commands.SetLink(1.0, loss=1.1), "link loss"),
        (lambda: commands.Gripper(-0.01), "gripper"),
        (lambda: commands.Record(False, "here"), "folder"),
        (lambda: commands.PoseTarget(np.zeros(7)), "pose target"),
        (lambda: commands.PoseTarget(np.tile((0.0, 0, 0, 0, 0, 0, 1), 2)), "pose target"),
    ],
)
def test_a_value_outside_its_range_is_rejected_by_name(make, field):
    with pytest.raises(InvalidValueError, match=field):
        make()


@pytest.mark.parametrize(
    ("command", "text"),
    [
        (commands.TimeClutch(True), "time clutch on"),
        (commands.PositionClutch(False), "position clutch off"),
        (commands.CollisionStop(False), "collision stop off"),
        (commands.PassSingularities(True), "pass singularities on"),
        (commands.OrientationClutch(False), "orientation clutch off"),
        (commands.LinearScale(0.5), "linear scale 0.50"),
        (commands.Brake(1.5), "time brake 1.5 plan s/s"),
        (commands.Gripper(0.04), "gripper 40 mm"),
        (commands.SetLink(1.0, up=False), "link 1.00 s ± 0.00 s, loss 0 %, outage"),
        (commands.Replay(), "replay demo recording"),
        (commands.Record(True, "/data/run"), "record on /data/run"),
        (commands.Record(False), "record off"),
        (commands.Deed.TAKE_CONTROL, "take control"),
    ],
)
def test_the_text_names_command_and_value(command, text):
    assert str(command) == text


def test_jitter_is_cut_to_the_delay():
    assert commands.SetLink(0.1, jitter=0.5).jitter == 0.1


@pytest.mark.parametrize(("reason", "kept"), [("", "operator"), ("  ", "operator"), ("x" * 500, "x" * MAX_TEXT)])
def test_a_halt_is_never_rejected_for_its_reason(reason, kept):
    assert commands.Halt(reason).reason == kept


def test_commands_without_a_value_are_kinds_of_their_own():
    assert kind_of(commands.Deed.ADOPT) is not kind_of(commands.Deed.DISCARD)
    assert kind_of(commands.Rate(1.0)) is kind_of(commands.Rate(2.0))


def test_a_pose_target_cannot_be_changed_after_it_is_made():
    with pytest.raises(ValueError, match="read-only"):
        commands.PoseTarget().pose[0] = 1.0
