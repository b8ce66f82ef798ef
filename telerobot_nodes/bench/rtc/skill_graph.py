"""The robot's graph before the task board as a cell of the bench of skills: its processes, DDS, physics in real time.

Every node of the robot runs but the recorder; the right arm is not there.
"""

from __future__ import annotations

import ast
import contextlib
import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from telerobot_nodes.bench.rtc.halt_rig import robot_graph
from telerobot_nodes.bench.rtc.skill_physics import Result, Start, play_one, schedule, summary, until_limit
from telerobot_nodes.bench.rtc.skill_truth import Sample, Seen, valid_entries
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.core.values import FloatArray, pose_from_se3
from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.rtc.world import Database, Item, Validity

if TYPE_CHECKING:
    from telerobot_nodes.nodes.probes import SkillProbe

SAMPLE_PERIOD = 0.02  # [s] of the tool's way
READY_LIMIT = 90.0  # [s] until the decision unit knows the arm and the planner answers
WORKS = "move left_arm to above dock"  # a command that works as soon as both are so
SHAKEN, TURNED, OPENED = 0.002, 0.01, 0.002  # [m], [rad] or [m], [m] that a world may differ and be the same
_LINE = re.compile(r"(?P<key>\S+) = (?P<value>.*?)(?: in (?P<frame>\w+))? \((?P<validity>[a-z]+)\)")


class GraphCell:
    """One arm before the task board, on the running graph. Time is the clock's."""

    def __init__(self, probe: SkillProbe) -> None:
        self._probe, self._robot = probe, load_robot("arm")
        self._track: list[Sample] = []
        self._next_sample = np.inf  # [s]
        probe.on_joints = self._sample

    @property
    def hand(self) -> FloatArray | None:
        """(6,) [m/s], [rad/s] of the operator's device; None: nobody moves it."""
        return self._probe.hand

    @hand.setter
    def hand(self, velocity: FloatArray | None) -> None:
        self._probe.hand = velocity

    def run(self, text: str, limit: float = 300.0) -> Any:
        """The last report of a text. Raises TelerobotError when it begins no command."""
        return self._probe.command(text, limit)

    def watch(self) -> None:
        """Begin to keep the tool's way."""
        self._track, self._next_sample = [], 0.0

    def seen(self) -> Seen:
        """The truth now, and the tool's way since `watch`."""
        probe = self._probe
        probe.look()
        view = Database(entries(probe.ask("show database").text)).view
        return Seen(
            probe.loose,
            {name: position for name, (position, _) in probe.bodies.items()},
            {name: force for name, (_, force) in probe.bodies.items()},
            self._tool(),
            probe.opening,
            valid_entries(view, probe.loose),
            float(np.linalg.norm(probe.wrench[:3])),
            tuple(self._track),
        )

    def _sample(self) -> None:
        now = self._probe.now()
        if now >= self._next_sample:
            self._next_sample = now + SAMPLE_PERIOD
            forces = {name: force for name, (_, force) in self._probe.bodies.items() if force}
            self._track.append(Sample(now, self._tool()[:3], forces))

    def _tool(self) -> FloatArray:
        return pose_from_se3(self._robot.forward(self._probe.joints))


def entries(text: str) -> list[Item]:
    """The database as `show database` prints it."""
    found = filter(None, map(_LINE.fullmatch, text.splitlines()))
    return [
        Item(row["key"], _value(row["value"]), Validity[row["validity"].upper()], row["frame"] or "") for row in found
    ]


def _value(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return text


def is_as_before(before: Seen, now: Seen) -> bool:
    """Whether nothing was moved, nothing is held, and nothing that was known has come into doubt."""
    apart = [float(np.linalg.norm(now.loose[name][:3] - pose[:3])) for name, pose in before.loose.items()]
    turned = [abs(now.joints[name] - position) for name, position in before.joints.items()]
    words = {key: value for key, value in before.valid.items() if isinstance(value, str)}
    return (
        max(apart) < SHAKEN
        and max(turned) < TURNED
        and abs(now.opening - before.opening) < OPENED
        and before.valid.keys() <= now.valid.keys()
        and words.items() <= now.valid.items()
    )


class Worlds:
    """Cells, one after the other: the same graph again while its world is as it was, else a new one."""

    def __init__(self, config: Path, planner: bool = True) -> None:
        """`config`: folder of the skill files. Without `planner` no path is checked for collisions."""
        self._config = config
        self._without = ("bag_recorder",) if planner else ("bag_recorder", "cspace_planner")
        self._graph = contextlib.ExitStack()
        self._cell: GraphCell | None = None
        self._first: Seen | None = None
        self.graphs = 0  # started

    def cell(self, seed: int) -> GraphCell:
        """A world as at the start; `seed` of its physics where it is new. Raises TelerobotError."""
        if self._cell is None or self._first is None or not is_as_before(self._first, self._cell.seen()):
            self.close()
            self._cell = self._graph.enter_context(_graph_cell(self._config, seed, self._without))
            self._first = self._cell.seen()
            self.graphs += 1
        return self._cell

    def close(self) -> None:
        """Stop the graph."""
        self._cell = None
        self._graph.close()

    def __enter__(self) -> Worlds:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextlib.contextmanager
def _graph_cell(config: Path, seed: int, without: tuple[str, ...]) -> Iterator[GraphCell]:
    from telerobot_nodes.nodes.probes import SkillProbe

    with tempfile.TemporaryDirectory(prefix="telerobot-") as folder:
        params = Path(folder) / "params.yaml"
        params.write_text(
            f"rtc_decision_unit:\n  ros__parameters:\n    folder: {config.absolute()}\n"
            f"hardware_interface:\n  ros__parameters:\n    realism_seed: {seed}\n"
        )
        with robot_graph(without, params), SkillProbe() as probe:
            if not probe.wait_until(lambda: probe.attempt(WORKS, READY_LIMIT).outcome == "works", READY_LIMIT):
                raise TelerobotError(f"{WORKS!r} does not work after {READY_LIMIT:g} s")
            yield GraphCell(probe)


def play_in(worlds: Worlds, start: Start) -> Result:
    """One start; a graph that fails is a failure of the start, and is replaced."""
    play = start.play
    try:
        cell = worlds.cell(start.seed)
        cell.run(start.begins)
        return play_one(cell, play, start.number)
    except TelerobotError as error:
        worlds.close()
        return Result(play.skill, play.text, start.number, False, False, (), f"graph: {error}", prepared=False)


def run(
    config: Path, count: int, seed: int, only: Sequence[str] = (), planner: bool = True, limit: float = 0.0
) -> dict[str, Any]:
    """Conditions, figures, goals."""
    with Worlds(config, planner) as worlds:
        results = [play_in(worlds, start) for start in until_limit(schedule(count, seed, only), limit)]
        result = summary(results, count, seed)
    result["figures"] |= {"graphs_started": worlds.graphs, "planner": planner}
    return result
