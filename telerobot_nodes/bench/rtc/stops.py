"""Benchmark of the promise that any halt halts: every way to say it, often, and nothing moves before RESUME.

Each time a primitive begins, a halt is sent at a random time, a second primitive is offered to the halted arm, and only
then the halt is ended. The primitives come from this process: the decision unit is one of the ways, not the motion.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from telerobot_nodes.bench import chosen, report
from telerobot_nodes.bench.rtc.halt_rig import halt_probe, hung, robot_graph, setpoints
from telerobot_nodes.bench.rtc.halt_trace import STILL, Outcome, judge
from telerobot_nodes.core.robot import RobotModel, load_robot

if TYPE_CHECKING:
    from telerobot_nodes.nodes.probes import HaltProbe

OTHERS = ("plan_executor", "rtc_decision_unit", "cspace_planner", "bag_recorder")
SWING = 0.4  # [rad] of the first joint to both sides
SECONDS = 1.5  # [s] of a swing
LATEST = 0.2  # [s] after the goal a halt is sent
MOVING = 0.05  # [rad/s]
OFFERED = 0.5  # [s] longest time until the motion offered to a halted arm is refused
REFUSED = 10  # setpoints received after the refusal
BEGINS = 20.0  # [s] for an arm to be released, or to move, before a halt is sent
SWINGS = 5  # that may end before the arm moves
LIMIT = 1.0  # [s] for the arm to rest after a halt
STANDS = 0.01  # [rad/s] measured
SAGS = 0.005  # [rad] a held arm may move
POISON = (2**63, 2**64 - 1)


def run(options: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Conditions, figures, goals. Options: `halts` (1000) of each way, `ways` (all), `seed` (1)."""
    options = options or {}
    halts, seed = int(options.get("halts", 1000)), int(options.get("seed", 1))
    ways = chosen(options, "ways", tuple(WAYS))
    bench = _Bench(load_robot("arm"), random.Random(seed))
    with robot_graph() as supervisor, halt_probe() as probe:
        counts = {}
        for way in ways:
            with hung([supervisor.pid(name) for name in OTHERS] if way == "four_nodes_dead" else ()):
                counts[way] = Counter(bench.one(probe, way) for _ in range(halts))
    return report.result({**report.conditions(seed), "halts": halts}, counts, _goals(counts))


class _Bench:
    """Motions and halts of one arm."""

    def __init__(self, robot: RobotModel, chance: random.Random) -> None:
        self._robot, self._chance = robot, chance

    def one(self, probe: HaltProbe, way: str) -> str:
        """Move, halt, offer a motion, release: what became of the halt."""
        prepare, halt = WAYS[way]
        if prepare is not None:
            prepare(probe)
            probe.wait(lambda: probe.state.halted, LIMIT)
        if not probe.release(BEGINS):
            return "not_released"
        if way != "during_primitives":
            self._swing(probe)
        elif not any(self._begins(probe) for _ in range(SWINGS)):
            return "never_moved"
        probe.spin(self._chance.uniform(0.0, LATEST))
        probe.record()
        moved = probe.speed > STILL
        sent = halt(probe)
        probe.wait(lambda: probe.state.halted and sent < probe.rests_since < probe.now(), LIMIT)
        if way == "estop":  # the setpoint goes to where the arm has stopped: the measured joints tell
            return self._offer_stopped(probe, moved)
        if not probe.state.halted:
            return "not_halted"
        self._offer(probe)
        outcome = judge(self._robot, sent, setpoints(probe), LIMIT).outcome
        found = outcome.name.lower()
        return found if outcome in (Outcome.MISSED, Outcome.CREPT) else f"obeyed_{found}"

    def _begins(self, probe: HaltProbe) -> bool:
        """Ask for a swing; False when it ends, as it may on a busy machine, before the arm moves."""
        ended = probe.goal_ended(self._swing(probe))
        probe.wait(lambda: probe.speed > MOVING or ended(), BEGINS)
        return probe.speed > MOVING

    def _offer(self, probe: HaltProbe) -> None:
        """Offer a motion, and wait until it is refused and has not begun, or has."""
        refused = probe.goal_ended(self._swing(probe))
        probe.wait(lambda: refused() or probe.speed > MOVING, OFFERED)
        seen = len(probe.rows) + REFUSED
        probe.wait(lambda: len(probe.rows) >= seen or probe.speed > MOVING, LIMIT)

    def _offer_stopped(self, probe: HaltProbe, moved: bool) -> str:
        """Offer a motion to an arm whose e-stop was latched: what became of it; `moved`: the arm, when it was sent."""
        if not probe.wait(lambda: probe.state.estop and max(map(abs, probe.state.measured_velocity)) < STANDS, LIMIT):
            return "missed" if probe.state.estop else "not_halted"
        before = np.array(probe.state.measured_position)
        self._offer(probe)
        crept = float(np.abs(np.array(probe.state.measured_position) - before).max())
        return "crept" if crept > SAGS else f"obeyed_{'stopped' if moved else 'rested'}"

    def _swing(self, probe: HaltProbe) -> Any:
        """Ask for the primitive to the side where the arm is not; the future of its handle."""
        joints = self._robot.home.copy()
        joints[0] -= np.copysign(SWING, probe.state.joint_position[0] - joints[0])
        values = {"joint_dest": str(joints.tolist()), "time_vel_sel": "time", "time_vel_val": str(SECONDS)}
        return probe.send_goal("joint_guarded", values)


def _poison(probe: HaltProbe) -> None:
    for number in POISON:
        probe.send_halt(number, "poison")


_HALT: Callable[[HaltProbe], float] = lambda probe: probe.send_halt()  # noqa: E731

# Way -> what is done before the motion, and the halt itself.
WAYS: dict[str, tuple[Callable[[HaltProbe], None] | None, Callable[[HaltProbe], float]]] = {
    "topic_with_default_fields": (None, _HALT),
    "after_a_poisoned_number": (_poison, _HALT),
    "text_from_a_reused_identity": (None, lambda probe: probe.send_text("halt", "shell_7", 1)),
    "halt_nonsense": (None, lambda probe: probe.send_text("halt; nonsense")),
    "during_primitives": (None, _HALT),
    "estop": (None, lambda probe: probe.send_halt(estop=True)),
    "four_nodes_dead": (None, _HALT),
}


def _goals(counts: Mapping[str, Counter[str]]) -> list[dict[str, Any]]:
    goals = []
    for way, found in counts.items():
        obeyed = sum(count for outcome, count in found.items() if outcome.startswith("obeyed"))
        name, met = way.replace("_", " "), obeyed - found["obeyed_rested"]
        goals.append(report.goal(f"{name}: halts obeyed", obeyed, "-", "==", found.total()))
        goals.append(report.goal(f"{name}: halts that met a moving arm", met, "-", ">=", found.total() / 2))
    crept = sum(found["crept"] for found in counts.values())
    goals.append(report.goal("motions that begin before RESUME", crept, "-", "==", 0))
    return goals
