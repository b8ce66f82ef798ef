"""A long recording made of a short one: its messages again and again, with counts and plan times that go on."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from telerobot_nodes import graph
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.operator.recording import BagReader, BagTopic, BagWriter, Bytes, by_length, groups

POLL = 0.05  # [s] while the writer's queue is full
QUEUED = 20_000  # messages
# What goes on counting in a longer run, by the end of the field's name
POINTS = ("first_seq", "last_seq", "after_seq", "executed_seq", "committed_seq", "tail_seq", "head_seq")
PLAN_TIMES = ("plan_time", "committed_time", "tail_time", "head_time", "robot_time", "estimate_time", "points.time")
COUNTS = ("link.number", "steps")
MOST_POINTS, MOST_COUNTS, MOST_PLAN_TIME = 1_000_000, 10_000_000, 100_000.0  # of one repetition; the last in [s]


def write_long_bag(source: Path, target: Path, duration: float) -> int:
    """Write a recording of at least `duration` [s]; returns the number of messages.

    Raises InvalidValueError when the source is no recording, is empty, or the target exists.
    """
    with BagReader(source) as bag:
        topics = [name for name, count in bag.counts.items() if count]
        if not topics:
            raise InvalidValueError("bag", str(source), "allowed: a recording with messages")
        writer = BagWriter(target, {name: BagTopic(bag.topics[name], _qos(name)) for name in topics})
        written = 0
        for number in range(int(np.ceil(duration / bag.duration))):
            for topic, at, data in _again(bag, topics, number):
                writer.write(topic, at, bytes(data))
                written += 1
                if written % QUEUED == 0:
                    _wait(writer, written)
            _wait(writer, written)
        counts = writer.close()
    if counts.failure or counts.dropped:
        raise InvalidValueError("long bag", str(target), f"allowed: a disk with room; {counts}")
    return written


def _qos(topic: str) -> graph.Qos:
    name = topic.lstrip("/").removeprefix(graph.OPERATOR_SIDE)
    return next((entry.qos for entry in graph.TOPICS if entry.name == name), graph.Qos.STATE)


def _wait(writer: BagWriter, written: int) -> None:
    while writer.counts().written < written and not writer.counts().failure:
        time.sleep(POLL)


def _again(bag: BagReader, topics: list[str], number: int) -> Iterator[tuple[str, int, Bytes]]:
    """Topic, receipt [ns] and message of the repetition `number`, in order of receipt."""
    shift = number * (round(bag.duration * 1e9) + 1)
    receipts, names, messages = [], [], []
    for number_of_topic, topic in enumerate(topics):
        places = bag.index.places(topic)
        receipts.append(places.time + shift)
        names.append(np.full(len(places.time), number_of_topic))
        messages += _moved(bag, topic, list(bag.index.messages(places)), number)
    at, which = np.concatenate(receipts), np.concatenate(names)
    for k in np.argsort(at, kind="stable").tolist():
        yield topics[which[k]], int(at[k]), messages[k]


def _moved(bag: BagReader, topic: str, messages: list[Bytes], number: int) -> list[Bytes]:
    """The messages with their counts and plan times as of the repetition `number`."""
    if not number:
        return messages
    moved: list[Bytes] = list(messages)
    for rows, octets, layout in groups(bag.store, bag.topics[topic], by_length(messages)):
        whole = octets.copy()
        for name, place in layout.fields.items():
            step = _step(bag, name)
            if step:
                _add(whole, place, number * step)
        for row, octet in zip(rows.tolist(), whole, strict=True):
            moved[row] = octet.tobytes()
    return moved


def _step(bag: BagReader, name: str) -> float:
    """What a field grows by in one repetition; 0: it stays."""
    last = name.rsplit(".", 1)[-1]
    if last in POINTS:
        return MOST_POINTS
    if name in COUNTS:
        return MOST_COUNTS
    if name == "monotonic":
        return bag.duration
    return MOST_PLAN_TIME if last in PLAN_TIMES or name in PLAN_TIMES else 0


def _add(octets: npt.NDArray[np.uint8], place: Any, step: float) -> None:
    dtype = np.dtype(place.dtype)
    count = 1 if place.count < 0 else place.count
    if not count:
        return
    end = place.offset + count * dtype.itemsize
    values = np.ascontiguousarray(octets[:, place.offset : end]).view(dtype)
    values += np.asarray(step, dtype)
    octets[:, place.offset : end] = values.view(np.uint8).reshape(len(octets), -1)
