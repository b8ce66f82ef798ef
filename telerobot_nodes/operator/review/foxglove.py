"""A recording as one MCAP file for Foxglove and PlotJuggler: every message, and the arm's frames and description."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.operator.recording import BagReader, message_types
from telerobot_nodes.operator.review.run_reader import arm_prefix

TF, DESCRIPTION = "/tf", "/robot_description"
FRAMES, STRING, JOINTS = "tf2_msgs/msg/TFMessage", "std_msgs/msg/String", "joint_states"
TF_PERIOD = 20_000_000  # [ns] shortest time between two poses of the arm
WORLD = "world"
SECOND = 1_000_000_000  # [ns]


def write_foxglove(bag: Path, robot: RobotModel, file: Path, namespace: str | None = None) -> int:
    """Write `file`; returns the number of messages. Raises InvalidValueError naming bag, topic or file."""
    from mcap.writer import Writer

    with BagReader(bag) as reader:
        prefix = arm_prefix(reader.topics, namespace, bag)
        arm = _Arm(robot, reader, f"{prefix}{JOINTS}")
        opened = False
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("xb") as stream:
                opened = True
                return _write(reader, arm, Writer(stream))
        except (OSError, InvalidValueError) as error:
            if opened:
                file.unlink()  # what is there is not whole
            if isinstance(error, InvalidValueError):
                raise
            raise InvalidValueError(
                "foxglove", str(file), f"allowed: a new file that can be written; {error}"
            ) from None


def _write(reader: BagReader, arm: _Arm, writer: Any) -> int:
    writer.start(profile="ros2", library="telerobot")
    count = _copy(reader, arm, writer)
    writer.finish()
    return count


def _copy(reader: BagReader, arm: _Arm, writer: Any) -> int:
    channels = {topic: _channel(writer, reader.store, topic, kind) for topic, kind in reader.topics.items()}
    for topic, kind in ((TF, FRAMES), (DESCRIPTION, STRING)):
        if topic in channels:
            raise InvalidValueError(f"{reader.path}: {topic}", "recorded", "allowed: a bag without it")
        channels[topic] = _channel(writer, arm.types, topic, kind)
    count = 0
    for topic, time, data in _merged(reader, arm):
        writer.add_message(channels[topic], time, data, time)
        count += 1
    return count


def _channel(writer: Any, store: Any, topic: str, kind: str) -> int:
    definition = store.generate_msgdef(kind, ros_version=2)[0]
    schema = writer.register_schema(name=kind, encoding="ros2msg", data=definition.encode())
    return int(writer.register_channel(topic=topic, message_encoding="cdr", schema_id=schema))


def _merged(reader: BagReader, arm: _Arm) -> Iterator[tuple[str, int, bytes]]:
    """Topic, receipt [ns] and message, in order; the arm's description first."""
    described = False
    for topic, time, data in reader.serialized():
        if not described:
            yield DESCRIPTION, time, arm.description()
            described = True
        yield topic, time, data
        if topic == arm.topic and (frames := arm.frames(time, data)):
            yield TF, time, frames


class _Arm:
    """The arm's links as frames in WORLD, from its measured joints."""

    def __init__(self, robot: RobotModel, reader: BagReader, topic: str) -> None:
        self.topic, self.types = topic, message_types()
        self._robot, self._reader, self._data = robot, reader, robot.new_data()
        self._links = [i for i, frame in enumerate(robot.model.frames) if frame.type == pin.FrameType.BODY]
        self._next = 0

    def description(self) -> bytes:
        """The URDF as a serialized String."""
        return self._packed(STRING, data=self._robot.urdf)

    def frames(self, time: int, data: bytes) -> bytes:
        """A serialized TFMessage of a JointState; empty: too soon after the last one."""
        if time < self._next:
            return b""
        self._next = time + TF_PERIOD
        message = self._reader.decode(self.topic, data)
        names = list(message.name)
        missing = [name for name in self._robot.joint_names if name not in names]
        if missing:
            field = f"{self._reader.path}: {self.topic}: name"
            raise InvalidValueError(field, names, f"allowed: holding {', '.join(missing)}; give --robot")
        q = np.array([message.position[names.index(name)] for name in self._robot.joint_names])
        pin.framesForwardKinematics(self._robot.model, self._data, q)
        return self._packed(FRAMES, transforms=[self._transform(time, link) for link in self._links])

    def _transform(self, time: int, link: int) -> Any:
        kinds, T_world_link = self.types.types, self._data.oMf[link]
        x, y, z, w = pin.Quaternion(T_world_link.rotation).coeffs().tolist()
        stamp = kinds["builtin_interfaces/msg/Time"](sec=time // SECOND, nanosec=time % SECOND)
        return kinds["geometry_msgs/msg/TransformStamped"](
            header=kinds["std_msgs/msg/Header"](stamp=stamp, frame_id=WORLD),
            child_frame_id=self._robot.model.frames[link].name,
            transform=kinds["geometry_msgs/msg/Transform"](
                translation=kinds["geometry_msgs/msg/Vector3"](*T_world_link.translation.tolist()),
                rotation=kinds["geometry_msgs/msg/Quaternion"](x=x, y=y, z=z, w=w),
            ),
        )

    def _packed(self, kind: str, **fields: Any) -> bytes:
        return bytes(self.types.serialize_cdr(self.types.types[kind](**fields), kind))
