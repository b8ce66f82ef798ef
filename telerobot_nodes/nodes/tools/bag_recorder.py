"""`bag_recorder`: every topic of the graph into a rosbag2 recording (MCAP)."""

from __future__ import annotations

import os
import time
from functools import partial
from pathlib import Path

from diagnostic_msgs.msg import DiagnosticStatus

from telerobot_nodes import graph
from telerobot_nodes.core.config import STATE_VARIABLE, NodeOptions
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.nodes.framework import GraphNode, Health, interface_class, qos_profile, run_node
from telerobot_nodes.operator.recording import BagCounts, BagTopic, BagWriter

DEPTH = 1000  # messages the middleware holds while this process is busy
BEGUN = "recording_begun"  # file in the state of a run: its recorder goes on in another folder


class BagRecorderNode(GraphNode):
    """Serialized messages from DDS to the writer's queue."""

    linger = 0.5  # [s] the last messages of the other nodes are recorded too

    def __init__(self, options: NodeOptions) -> None:
        super().__init__(options)
        self._topics = {
            self.resolve_topic_name(name): entry
            for name, entry in recorded_topics(options.graph, options.hosts is not None).items()
        }
        self._writer: BagWriter | None = None
        self._ended: BagCounts | None = None
        for name, entry in self._topics.items():
            qos = qos_profile(entry.qos)
            qos.depth = DEPTH
            record = partial(self._record, name)
            self.create_subscription(interface_class(entry.type), name, self._gated(record), qos, raw=True)

    def start(self) -> None:
        """Open the recording."""
        folder = self.options.bag or default_folder(time.localtime())
        state = os.environ.get(STATE_VARIABLE)
        begun = Path(state) / BEGUN if state else None
        if begun is not None and begun.exists():
            folder = free_beside(folder)
        try:
            self._writer = BagWriter(folder, self._topics)
        except InvalidValueError as error:
            self.failure = str(error)
            raise
        if begun is not None:
            begun.touch()
        print(f"telerobot: recording to {folder}", flush=True)

    def stop(self) -> None:
        """Close the recording, so that it is a valid bag."""
        if self._writer is not None:
            self._ended, folder, self._writer = self._writer.close(), self._writer.folder, None
            print(f"telerobot: recorded {_text(self._ended)} in {folder}", flush=True)

    def _record(self, name: str, data: bytes) -> None:
        if self._writer is not None:
            self._writer.write(name, time.time_ns(), data)

    def health(self) -> Health:
        """Counts of messages written and dropped."""
        counts = self._writer.counts() if self._writer is not None else self._ended
        if counts is None:
            return Health(message="not recording")
        bad = counts.failure or counts.dropped
        return Health(
            level=DiagnosticStatus.WARN if bad else DiagnosticStatus.OK,
            message=counts.failure or ("messages dropped" if counts.dropped else "recording"),
            values={"written": counts.written, "dropped": counts.dropped},
        )


def recorded_topics(graph_name: str, with_hosts: bool = False) -> dict[str, BagTopic]:
    """Every topic of the table; with a link, the operator's side of it as well. `diagnostics` is global."""
    topics = {entry.name: BagTopic(entry.type, entry.qos) for entry in graph.TOPICS if entry.name != "diagnostics"}
    if "link_emulator" in graph.GRAPHS[graph_name] or (with_hosts and graph_name == "operator"):
        topics |= {graph.OPERATOR_SIDE + name: topics[name] for name in graph.operator_side()}
    diagnostics = graph.topic("diagnostics")
    return {**topics, "/diagnostics": BagTopic(diagnostics.type, diagnostics.qos)}


def default_folder(now: time.struct_time) -> Path:
    """`runs/YYYYmmdd-HHMMSS/bag` under the current directory; a number is added when it exists."""
    run = Path("runs") / time.strftime("%Y%m%d-%H%M%S", now)
    number = 1
    while (run / "bag").exists():
        number += 1
        run = run.with_name(f"{run.name.split('_')[0]}_{number}")
    return run / "bag"


def free_beside(folder: Path) -> Path:
    """The folder, or with a number added: where a recorder goes on that was started again in the same run."""
    number, found = 1, folder
    while found.exists():
        number += 1
        found = folder.with_name(f"{folder.name}_{number}")
    return found


def _text(counts: BagCounts) -> str:
    dropped = f", {counts.dropped} dropped" if counts.dropped else ""
    return f"{counts.written} messages{dropped}" + (f" ({counts.failure})" if counts.failure else "")


def main(options: NodeOptions) -> int:
    """Run the node as a process."""
    return run_node(BagRecorderNode, options)
