"""All texts of a console or shell at one instant. What must never enter: widgets, colours (`Tone` only)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from telerobot_nodes.core.protocol import ControlMode
from telerobot_nodes.operator.client import HaltStage, LinkSetting, Notice, OperatorClient, Tone
from telerobot_nodes.operator.view import host_rows, plan_rows, robot_rows
from telerobot_nodes.operator.view.host_rows import Light
from telerobot_nodes.operator.view.rows import STALE_AFTER, STALE_LINK_AFTER, Row, fresh, seconds


@dataclass(frozen=True)
class Controls:
    """Values in force, as confirmed by the nodes; None: not known."""

    time_clutch: bool | None
    position_clutch: bool | None
    collision_stop: bool | None
    pass_singularities: bool | None
    time_ratio: float | None
    orientation_clutch: bool | None
    linear_scale: float | None
    angular_scale: float | None
    brake_rate: float | None
    gripper: float | None  # [m]
    link: LinkSetting | None
    halt: HaltStage
    recording: bool | None
    mode: str | None  # of control

    @property
    def direct(self) -> bool | None:
        """True where the device moves the primitive that runs."""
        return None if self.mode is None else self.mode == ControlMode.SHARED.word


@dataclass(frozen=True)
class ConsoleView:
    """All texts of a console at one instant."""

    banner: Row
    rows: tuple[Row, ...]
    controls: Controls
    notices: tuple[Row, ...]  # newest first; label: age
    light: Light  # of the row "recording"


def view(client: OperatorClient, now: float) -> ConsoleView:
    """The texts now."""
    queue_fresh = fresh(client.received.queue, now, STALE_AFTER)
    link_fresh = fresh(client.received.link, now, STALE_LINK_AFTER)
    light, recording = host_rows.recording_row(client, now)
    return ConsoleView(
        banner=robot_rows.banner(client, now),
        rows=(
            *robot_rows.robot_rows(client, now),
            *robot_rows.mode_rows(client, now),
            *plan_rows.queue_rows(client, queue_fresh),
            *host_rows.node_rows(client, now),
            *host_rows.link_rows(client, now),
            recording,
        ),
        controls=Controls(
            time_clutch=client.queue.time_clutch if queue_fresh else None,
            position_clutch=client.queue.position_clutch if queue_fresh else None,
            collision_stop=client.queue.stop_before_collision if queue_fresh else None,
            pass_singularities=client.queue.pass_singularities if queue_fresh else None,
            time_ratio=client.queue.time_ratio if queue_fresh else None,
            orientation_clutch=client.queue.orientation_clutch if queue_fresh else None,
            linear_scale=client.queue.linear_scale if queue_fresh else None,
            angular_scale=client.queue.angular_scale if queue_fresh else None,
            brake_rate=client.queue.brake_rate if queue_fresh else None,
            gripper=client.queue.gripper if queue_fresh and client.queue.gripper >= 0.0 else None,
            link=client.link if link_fresh else None,
            halt=client.halt_watch.stage,
            recording=None if light is Light.UNKNOWN else light is Light.ON,
            mode=client.input.mode.word if robot_rows.input_fresh(client, now) else None,
        ),
        notices=tuple(_notice_row(notice, now) for notice in (*_waiting(client, now), *reversed(client.notices))),
        light=light,
    )


def _waiting(client: OperatorClient, now: float) -> tuple[Notice, ...]:
    return tuple(
        Notice(request.since, f"{request.command}: waiting for the answer", Tone.WARN)
        for request in client.requests.pending
        if now - request.since > 0.3
    )


def _notice_row(notice: Notice, now: float) -> Row:
    return Row(seconds(float(np.floor(max(now - notice.time, 0.0)))).replace(".0", ""), notice.text, notice.tone)
