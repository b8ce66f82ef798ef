"""Every control of the operator, and where each view has it: one row per control.

Shell: words after `telerobot`. Client: method of `Robot`. Console: label of the widget or the stop bar's word. Panel:
object name of the widget. `test_controls.py` uses each of them, and fails when a view lacks one without a reason.
"""

from __future__ import annotations

from dataclasses import dataclass

from telerobot_nodes.operator.client import commands
from telerobot_nodes.operator.client.commands import Deed, Kind

C = commands


@dataclass(frozen=True)
class Missing:
    """Why a view has no such control."""

    reason: str


Where = str | Missing


@dataclass(frozen=True)
class Control:
    """One control. `kinds`: commands it sends; empty: none of `commands`."""

    name: str
    kinds: tuple[Kind, ...]
    console: Where
    shell: Where
    client: Where
    panel: Where


def _deed(deed: Deed, console: str, shell: str) -> Control:
    return Control(str(deed), (deed,), console, shell, deed.value, deed.value)


_NO_SCENE = Missing("no scene to drag in; move_to of the client, the console's gizmo, `telerobot keyboard`")
_NO_PICTURE = Missing("no picture in it; the console shows and sets the camera, `telerobot camera` sets it")
_TEXT_MOVES = Missing('`telerobot run "move left_arm by 10 cm up"`')

CONTROLS: tuple[Control, ...] = (
    Control("halt", (C.Halt,), "HALT", "halt", "halt", "halt"),
    Control("e-stop", (C.EStop,), "E-STOP", "estop", "estop", "estop"),
    Control("reset", (C.Reset,), "RESET", "reset", "reset", "reset"),
    Control("resume", (C.Resume,), "RESUME", "resume", "resume", "resume"),
    _deed(Deed.PAUSE, "pause", "pause"),
    Control("time clutch", (C.TimeClutch,), "time clutch", "clutch off", "clutch", "clutch"),
    Control("time ratio", (C.TimeRatio,), "time ratio", "ratio 1.5", "ratio", "ratio"),
    Control(
        "orientation clutch",
        (C.OrientationClutch,),
        "orientation clutch",
        "orientation off",
        "orientation_clutch",
        "orientation_clutch",
    ),
    Control("linear scale", (C.LinearScale,), "linear scale", "linear-scale 0.5", "linear_scale", "linear_scale"),
    Control("angular scale", (C.AngularScale,), "angular scale", "angular-scale 0.5", "angular_scale", "angular_scale"),
    Control("delete all", (C.Clear,), "delete all", "clear", "clear", "clear"),
    _deed(Deed.UNDO, "undo", "undo"),
    Control(
        "position clutch", (C.PositionClutch,), "position clutch", "position off", "position_clutch", "position_clutch"
    ),
    _deed(Deed.ADOPT, "trial path", "position adopt"),
    _deed(Deed.DISCARD, "trial path", "position discard"),
    Control(
        "collision stop",
        (C.CollisionStop,),
        "stop before collision",
        "collision-stop off",
        "collision_stop",
        "collision_stop",
    ),
    Control(
        "pass singularities",
        (C.PassSingularities,),
        "pass singularities",
        "singularities on",
        "pass_singularities",
        "pass_singularities",
    ),
    Control("time brake", (C.Brake,), "brake [s/s]", "brake 1", "brake", "brake"),
    Control("gripper", (C.Gripper,), "gripper [m]", "gripper 0.02", "gripper", "gripper"),
    Control("rate of execution", (C.Rate,), "rate", "rate 0.5", "rate", "rate"),
    Control("scrub", (C.Scrub,), "scrub [s]", "scrub 3", "scrub", "scrub"),
    Control("tare", (C.Tare,), "tare", "tare", "tare", "tare"),
    _deed(Deed.REQUEST_CONTROL, "control", "control request"),
    _deed(Deed.GRANT_CONTROL, "control", "control grant"),
    _deed(Deed.REFUSE_CONTROL, "control", "control refuse"),
    _deed(Deed.RELEASE_CONTROL, "control", "control release"),
    _deed(Deed.TAKE_CONTROL, "control", "control take"),
    Control("replay a hand", (C.Replay,), "replay", "replay", "replay", "replay"),
    Control("end the replay", (C.StopReplay,), "replay", "replay --stop", "stop_replay", "stop_replay"),
    Control("mode of control", (C.Mode,), "mode", "mode shared", "control_mode", "mode"),
    Control("device moves the primitive", (C.Direct,), "direct", "direct on", "direct", "direct"),
    Control("emulated link", (C.SetLink,), "delay [s]", "link 0.5", "set_link", "link"),
    Control("camera", (C.SetCamera,), "pictures [Hz]", "camera wrist --rate 2", "set_camera", _NO_PICTURE),
    Control("record", (C.Record,), "record", "record on", "record", "record"),
    Control("text", (), "text", "run", "run", "text"),
    Control("hypothesis test", (), "text", "try", "attempt", "text"),
    Control("primitive", (), "Menu", "primitive", "primitive", "primitive"),
    Control("motion of the tool", (), "drive by gizmo", _TEXT_MOVES, "move_to", _NO_SCENE),
    Control("state", (), "status", "status", "state", "status"),
)
