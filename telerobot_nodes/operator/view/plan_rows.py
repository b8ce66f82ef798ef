"""Rows about the plan: queue, clutches, scales, brake, conflicts, and who has authority."""

from __future__ import annotations

from telerobot_nodes.core.protocol import DeviceState
from telerobot_nodes.operator.client import OperatorClient, Tone
from telerobot_nodes.operator.view.rows import Row

MANY_UNACKNOWLEDGED = 25  # [-] operations, a second of them at 25 Hz


_DEVICES = {
    DeviceState.IDLE: ("idle", Tone.QUIET),
    DeviceState.TRACKING: ("tracking", Tone.GOOD),
    DeviceState.HELD: ("held", Tone.WARN),
}


def queue_rows(client: OperatorClient, known: bool) -> tuple[Row, ...]:
    """What the plan queue reports; nothing when that is not `known` any more."""
    queue = client.queue
    if not known:
        return ()
    device, tone = _DEVICES[queue.device]
    held = f": {queue.notice}" if queue.device is DeviceState.HELD and queue.notice else ""
    full = queue.capacity > 0 and queue.length >= 0.9 * queue.capacity
    clutch = "engaged" if queue.time_clutch else "disengaged, order only"
    rows = [
        Row("queue", f"{queue.length} of {queue.capacity} points", Tone.WARN if full else Tone.PLAIN),
        Row("time clutch", f"{clutch}, ratio {queue.time_ratio:.2f}"),
        Row("synchronised", queue.display_mode.value),
        Row("device", device + held + _jumps(queue.jumps), tone),
        _authority_row(client),
    ]
    if queue.unacknowledged:
        many = queue.unacknowledged > MANY_UNACKNOWLEDGED
        rows.append(Row("on the way", f"{queue.unacknowledged} operations", Tone.WARN if many else Tone.PLAIN))
    if not queue.position_clutch:
        rows.append(Row("position clutch", f"disengaged, trial of {queue.trial_length} points", Tone.WARN))
    if not queue.orientation_clutch:
        rows.append(Row("orientation clutch", "disengaged: the hand does not turn the tool", Tone.WARN))
    if (queue.linear_scale, queue.angular_scale) != (1.0, 1.0):
        scales = f"the tool moves {queue.linear_scale:.2f} and turns {queue.angular_scale:.2f} times the hand"
        rows.append(Row("hand scale", scales))
    if not queue.stop_before_collision:
        rows.append(Row("collision stop", "off: the robot executes points that collide", Tone.WARN))
    if queue.pass_singularities:
        rows.append(Row("singularities", "may be passed: joints turn fast and the arm slows there", Tone.WARN))
    if queue.brake_rate > 0.0:
        rows.append(Row("time brake", f"{queue.brake_rate:.1f} plan s/s", Tone.WARN))
    conflicts, conflict = client.simulation.conflicts, client.simulation.conflict
    if conflict:
        rows.append(Row("conflicts", f"{conflicts}: {conflict}" if conflicts else conflict, Tone.BAD))
    return tuple(rows)


def _jumps(count: int) -> str:
    return f", {count} jump{'s' if count > 1 else ''} of the tracker absorbed" if count else ""


def _authority_row(client: OperatorClient) -> Row:
    queue, robot = client.queue, client.robot
    silent = ", silent" if robot.holder_silent else ""
    if queue.has_authority:
        asks = f"; {robot.asker} {'may take it' if robot.granted else 'asks: grant or refuse'}" if robot.asker else ""
        asks += f"; then {', '.join(robot.waiting)}" if robot.waiting else ""
        return Row("authority", f"{queue.agent or 'this operator'} (here){asks}", Tone.WARN if asks else Tone.PLAIN)
    return Row("authority", f"{robot.authority or 'nobody'}, not here{silent}{_asking(client)}", Tone.WARN)


def _asking(client: OperatorClient) -> str:
    robot, agent = client.robot, client.queue.agent
    if agent in robot.waiting:
        before = [name for name in (robot.asker, *robot.waiting[: robot.waiting.index(agent)]) if name]
        return f"; asked, your turn is after {', '.join(before)}" if before else "; it is your turn"
    if not robot.asker:
        return ""
    if robot.asker != agent:
        return f"; {robot.asker} {'may take it' if robot.granted else 'asks'}"
    if not robot.granted:
        return "; asked, waiting for consent"
    return "; granted by a supervisor" if robot.forced else "; granted: bring the simulated tool to the plan"
