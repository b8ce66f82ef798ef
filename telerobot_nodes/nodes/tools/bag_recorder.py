"""`bag_recorder`: every topic of the graph into rosbag2 recordings (MCAP), begun and ended while the graph runs."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus

from telerobot.msg import RecorderState
from telerobot_nodes import graph
from telerobot_nodes.core.config import STATE_VARIABLE, NodeOptions, parameter
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.nodes.framework import (
    GraphNode,
    Health,
    Send,
    interface_class,
    node_parameters,
    qos_profile,
    run_node,
)
from telerobot_nodes.operator.recording import (
    BagTopic,
    DiskFullError,
    Recorder,
    Recording,
    default_folder,
    free_beside,
    free_bytes,
)

DEPTH = 1000  # messages the middleware holds while this process is busy
BEGUN = "recording_begun"  # file in the state of a run: its recorder goes on in another folder, unless it says OFF
OFF = "off"
STEP_PERIOD = 0.2  # [s] between two looks for a change
STATE_PERIOD = 1.0  # [s] between two states without one


@dataclass(frozen=True)
class RecorderParameters:
    """Parameters of the node."""

    record_at_start: bool = parameter(True, doc="record from the start on; false: when asked to")


class BagRecorderNode(GraphNode):
    """Serialized messages from DDS to the writer's queue; requests in, state out."""

    linger = 0.5  # [s] the last messages of the other nodes are recorded too

    def __init__(self, options: NodeOptions) -> None:
        super().__init__(options)
        self._parameters = node_parameters(self, RecorderParameters)
        topics = {
            self.resolve_topic_name(name): entry
            for name, entry in recorded_topics(options.graph, options.hosts is not None).items()
        }
        self._recorder = Recorder(topics)
        self._failure = ""  # why the recording at the start could not begin
        self._wall = 0  # [ns] of ROS time before the monotonic clock, when the recording began
        self._default = options.bag  # of the run's first recording; None: not chosen yet
        self._shown: tuple[object, ...] = ()
        self._shown_at = 0.0  # [s]
        self._states = self.publisher("bag_recorder/state")
        self.serve_deferred("bag_recorder/record", self._serve)
        for name, entry in topics.items():
            qos = qos_profile(entry.qos)
            qos.depth = DEPTH
            record = partial(self._record, name)
            self.create_subscription(interface_class(entry.type), name, self._gated(record), qos, raw=True)
        self.every(STEP_PERIOD, self._step)

    def start(self) -> None:
        """Open a recording, as parameter and the state of the run want it."""
        begun = _state_file()
        again = begun is not None and begun.exists()
        wanted = begun.read_text() != OFF if begun is not None and again else self._parameters.record_at_start
        if wanted:
            try:
                beside = self._next_folder()
                self._begin(beside if again else self._default or beside)
            except DiskFullError as error:
                self._failure = str(error)  # the state reports it, and a person can ask again
                self.note_refusal(error)
            except InvalidValueError as error:
                self.failure = str(error)
                raise
        self._publish()

    def stop(self) -> None:
        """Close the recording, so that it is a valid bag."""
        ended = self._recorder.close(self.now())
        if ended is not None:
            print(f"telerobot: recorded {ended}", flush=True)
        self._publish()

    def _begin(self, folder: Path) -> Recording:
        wall = time.time_ns() - time.monotonic_ns()
        began = self._recorder.begin(folder, self.now(), wall + time.monotonic_ns())
        self._wall, self._failure = wall, ""
        _want("")
        print(f"telerobot: recording to {folder}", flush=True)
        return began

    def _next_folder(self) -> Path:
        """Beside the other recordings of this run."""
        self._default = self._default or default_folder(time.localtime())
        return free_beside(self._default)

    def _serve(self, request: Any, response: Any, send: Send) -> None:
        if not self.active:
            raise InvalidValueError("record", "on" if request.on else OFF, "allowed: while the recorder is active")
        if request.on:
            began = self._begin(Path(request.folder) if request.folder else self._next_folder())
            response.success, response.folder = True, str(began.folder)
            response.message = f"recording to {began.folder}"
            send(response)
        else:
            self._recorder.end(self.now(), partial(self._ended, response, send))
            _want(OFF)
        self._publish()

    def _ended(self, response: Any, send: Send, recording: Recording) -> None:
        """On the thread that has closed the bag."""
        print(f"telerobot: recorded {recording}", flush=True)
        response.success, response.folder = not recording.counts.failure, str(recording.folder)
        response.message = f"recorded {recording}"
        send(response)

    def _record(self, name: str, data: bytes) -> None:
        self._recorder.write(name, self._received(), data)

    def _received(self) -> int:
        """ROS time now [ns], for the bag: a step of the host's clock does not change the order of its messages."""
        return self._wall + time.monotonic_ns()

    def _step(self) -> None:
        recording = self._recorder.recording(self.now())
        changed = (recording.on, recording.folder, recording.counts.failure) != self._shown
        if changed or self.now() - self._shown_at >= STATE_PERIOD:
            self._publish()

    def _publish(self) -> None:
        recording = self._recorder.recording(self.now())
        counts, folder = recording.counts, recording.folder
        self._shown, self._shown_at = (recording.on, folder, counts.failure), self.now()
        self._states.publish(
            RecorderState(
                stamp=self.stamp(),
                recording=recording.on,
                folder=str(folder or ""),
                duration=recording.duration,
                size=counts.size,
                written=counts.written,
                dropped=counts.dropped,
                failure=self._failure or counts.failure,
                free=counts.free if recording.on else free_bytes(folder or self._default or Path.cwd()),
                reserve=self._recorder.reserve_bytes,
            )
        )

    def health(self) -> Health:
        """Counts of messages written and dropped."""
        recording = self._recorder.recording(self.now())
        counts, failure = recording.counts, self._failure or recording.counts.failure
        bad = failure or counts.dropped
        words = "messages dropped" if counts.dropped else "recording" if recording.on else "not recording"
        return Health(
            level=DiagnosticStatus.WARN if bad else DiagnosticStatus.OK,
            message=failure or words,
            values={"written": counts.written, "dropped": counts.dropped},
        )


def recorded_topics(graph_name: str, with_hosts: bool = False) -> dict[str, BagTopic]:
    """Every topic of the table; with a link, the operator's side of it as well. `diagnostics` is global."""
    topics = {entry.name: BagTopic(entry.type, entry.qos) for entry in graph.TOPICS if entry.name != "diagnostics"}
    if "link_emulator" in graph.GRAPHS[graph_name] or (with_hosts and graph_name == "operator"):
        topics |= {graph.OPERATOR_SIDE + name: topics[name] for name in graph.operator_side()}
    diagnostics = graph.topic("diagnostics")
    return {**topics, "/diagnostics": BagTopic(diagnostics.type, diagnostics.qos)}


def _state_file() -> Path | None:
    state = os.environ.get(STATE_VARIABLE)
    return Path(state) / BEGUN if state else None


def _want(word: str) -> None:
    """Keep what was asked for, for a recorder that is started again in this run."""
    begun = _state_file()
    if begun is not None:
        begun.write_text(word)


def main(options: NodeOptions) -> int:
    """Run the node as a process."""
    return run_node(BagRecorderNode, options)
