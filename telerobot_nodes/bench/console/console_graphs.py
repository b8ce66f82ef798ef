"""The graphs of the bench: the demo with its console and, if asked for, a second arm whose graph the console shows."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

from telerobot_nodes.core.config import share_path
from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.runtime import GraphOptions, Supervisor, join_graph

START_LIMIT = 150.0  # [s]
SECOND = "right"  # namespace of the second arm
SECOND_PLACE = f"{SECOND} arm 1.3 0.0 0.0 3.14159"
NOT_OF_SECOND = ("operator_console", "bag_recorder", "cspace_planner", "rtc_decision_unit")


@dataclass(frozen=True)
class BenchGraphs:
    """What is started. `period` [s] of plan time between points."""

    camera: bool = False
    arms: int = 1
    period: float = 0.02

    @contextlib.contextmanager
    def running(self) -> Iterator[tuple[Supervisor, str]]:
        """Supervisor of the console's graph, and address of the console, once all is ready. Raises TelerobotError."""
        join_graph()
        address: list[str] = []

        def hear(node: str, line: str) -> None:
            if line.startswith("console: "):
                address.append(line.removeprefix("console: "))

        with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
            params = Path(folder) / "bench.yaml"
            params.write_text(yaml.safe_dump(self._parameters()))
            options = [GraphOptions("demo", params=params, without=("bag_recorder",), camera=self.camera)]
            if self.arms > 1:
                options.append(GraphOptions("demo", namespace=SECOND, params=params, without=NOT_OF_SECOND))
            supervisors = [Supervisor(one, on_line=hear) for one in options]
            for supervisor in supervisors:
                stack.callback(supervisor.stop)
                supervisor.start()
            for supervisor in supervisors:
                if not supervisor.wait_ready(START_LIMIT):
                    raise TelerobotError(f"not ready after {START_LIMIT:g} s: {', '.join(supervisor.waiting_for())}")
            yield supervisors[0], address[0]

    def _parameters(self) -> dict[str, dict[str, dict[str, object]]]:
        """Those of the demo, and this bench's own."""
        values: dict[str, dict[str, dict[str, object]]] = yaml.safe_load(share_path("config/demo.yaml").read_text())
        console = values["operator_console"]["ros__parameters"]
        console["open_browser"] = False
        if self.arms > 1:
            console["others"] = SECOND_PLACE
        values["path_plan_queue"]["ros__parameters"]["sample_period"] = self.period
        return values
