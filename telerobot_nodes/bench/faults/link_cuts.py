"""The link is cut, half-open, or suddenly slow."""

from __future__ import annotations

from telerobot_nodes.bench.faults import judge
from telerobot_nodes.bench.faults.rig import Rig
from telerobot_nodes.bench.faults.rows import Outcome, Row, at_least, at_most, holds, none
from telerobot_nodes.core.protocol import LinkState

DELAY = 0.25  # [s] each way
STEP = 2.0  # [s] delay after the step
TELEOP_LATE = 0.5  # [s] behind the shortest way of the last seconds
ARM_TEXT = "move left_arm by 3 cm up"


def cut(rig: Rig, seconds: float, times: int, fresh_within: float) -> Outcome:
    """A cut of both ways in the middle of a plan, several times."""
    stale, fresh, lost, twice, order, moving = [], [], 0, 0, 0, 0
    for _ in range(times):
        rig.ready()
        rig.network(delay=DELAY)
        rig.spin(1.0)
        rig.drive(1.0)
        at = rig.network(delay=DELAY, up=False, down=False)
        moving += judge.was_moving(rig.trace.measured, at)
        stale.append(rig.happens(lambda: rig.are(LinkState.STALE) and rig.operator.operator.queue.stale, seconds))
        rig.spin(max(0.0, seconds - (rig.now() - at)))
        rig.network(delay=DELAY)
        fresh.append(rig.happens(lambda: rig.are(LinkState.FRESH) and not rig.operator.operator.queue.stale, 40.0))
        once = rig.finish()
        lost, twice, order = lost + once.lost, twice + once.twice, order + once.out_of_order
    points = rig.operator.operator.queue.head_seq - rig.first + 1
    return Outcome(
        f"{times} cuts of {seconds:g} s while a hand drives the arm; d = {DELAY} s",
        (
            at_least("cuts in motion", moving, times),
            none("points lost", lost),
            none("points executed twice or out of order", twice + order),
            at_most("stale on both hosts after", max(stale), DELAY + 0.5),
            at_most("fresh on both hosts after the return", max(fresh), DELAY + fresh_within),
        ),
        f"{points} points in the last plan; no restart",
    )


def half_open(rig: Rig) -> Outcome:
    """One way is dead, then the other; the hand goes on."""
    known, admitted = [], 0
    for up in (True, False):
        rig.ready()
        rig.network(delay=DELAY)
        rig.spin(1.0)
        rig.drive(1.0)
        rig.network(delay=DELAY, up=up, down=not up)
        deaf, mute = ("operator", "robot") if up else ("robot", "operator")

        def both(deaf: str = deaf, mute: str = mute) -> bool:
            return rig.link(deaf) is LinkState.STALE and rig.link(mute) is LinkState.HALF_OPEN

        known.append(rig.happens(both, 10.0))
        since = rig.now() + 0.05  # the state of 20 Hz that was on its way
        rig.spin(3.0)
        admitted += judge.tail_growth(rig.trace.tails, since, rig.now())
        rig.network(delay=DELAY)
        rig.finish()
    once = rig.once()
    return Outcome(
        f"one way dead for 4 s while a hand drives the arm, each way once; d = {DELAY} s",
        (
            at_most("known on both hosts, robot to operator dead", known[0], DELAY + 1.0),
            at_most("known on both hosts, operator to robot dead", known[1], DELAY + 1.0),
            none("points admitted once it is known", admitted),
            none("points lost or twice in the last plan", once.lost + once.twice),
        ),
    )


def delay_step(rig: Rig) -> Outcome:
    """The delay jumps to 2 s under a plan and under increments."""
    rig.network(delay=0.05)
    rig.spin(2.0)
    rig.drive(1.0)
    rig.network(delay=STEP)
    sent: dict[int, float] = {}
    end = rig.now() + 5.0
    while rig.now() < end:
        number = len(sent) + 1
        sent[number] = rig.now()
        fields = {"header.stamp.sec": number, "header.frame_id": "world"}
        rig.operator.send("gcmsf_control/teleop_cmds", fields)
        rig.spin(0.05)
    rig.spin(STEP + 0.5)
    late = sum(delay > 0.05 + TELEOP_LATE + 0.05 for delay in judge.delays(sent, rig.robot.teleop))
    expired = sum(int(v) for k, v in rig.robot.health.get("link", {}).items() if k.endswith("teleop_cmds late"))
    once = rig.finish()
    return Outcome(
        f"delay 0.05 s, then {STEP:g} s each way, under a plan and {len(sent)} increments",
        (
            none("increments delivered past their age", late),
            at_least("expired increments counted on diagnostics", expired, 1),
            none("points lost, twice or out of order", sum(once)),
        ),
        f"{len(sent) - len(judge.delays(sent, rig.robot.teleop))} increments expired",
    )


def late_call(rig: Rig) -> Outcome:
    """A text that is given up during a cut."""
    from telerobot_nodes.nodes.clients import CommandClient

    with CommandClient(name="fault") as client:
        reply = client.ask("where module", 10.0)
        rig.network(up=False, down=False)
        rig.spin(1.0)
        answered = []
        for _ in range(3):
            try:
                answered.append(client.ask(ARM_TEXT, 4.0))
            except Exception as error:  # noqa: BLE001 -- any way of giving up is the row's condition
                answered.append(error)
        at = rig.network()
        rig.happens(lambda: rig.are(LinkState.FRESH), 10.0)
        rig.spin(10.0)
    moved = judge.moved_after(rig.trace.setpoints, at)
    return Outcome(
        "three texts that move the arm, each given up after 4 s in a cut; 10 s observed after its end",
        (
            holds("a text is answered before the cut", reply is not None),
            none("setpoints in motion after the return", moved),
        ),
        "; ".join(str(one)[:90] for one in answered[:1]),
    )


ROWS = (
    Row(
        1,
        "link cut 10 s in the middle of a plan",
        "finish or hold by policy, resume without restart: 0 lost, 0 twice; stale within d + 0.5 s, "
        "fresh within d + 1.5 s of the return",
        lambda rig: cut(rig, 10.0, 2, 1.5),
        "the queue counts 0.5 s from the last report, which comes d after the cut; its state, in which this is read, "
        "is published ten times a second",
    ),
    Row(2, "link cut 30 s", "the same; fresh within d + 8 s", lambda rig: cut(rig, 30.0, 1, 8.0)),
    Row(3, "half-open link", "both sides know within d + 1 s; no new motion admitted", half_open),
    Row(6, "delay steps to 2 s", "commands past their window expire, and are shown: 0 run past expiry", delay_step),
    Row(7, "a call that timed out during a cut", "never executed late", late_call),
)
