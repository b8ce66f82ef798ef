"""`input_device`: a gamepad, joystick or 3-D mouse of this host as `joy`, and its rumble, without ROS's joy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus
from sensor_msgs.msg import Joy, JoyFeedback

from telerobot_nodes.core.config import NodeOptions
from telerobot_nodes.core.values import finite_array
from telerobot_nodes.nodes.framework import GraphNode, Health, node_parameters, run_node
from telerobot_nodes.operator.devices import ROLE_FRAME
from telerobot_nodes.operator.evdev import (
    Connection,
    DeviceParameters,
    DeviceSource,
    Enabling,
    Sample,
    folder_of,
    read_maps,
)

UNHEARD = 5.0  # [s] without a subscriber of `joy` until that is reported


class InputDeviceNode(GraphNode):
    """Events of the device in, Joy messages out."""

    def __init__(self, options: NodeOptions) -> None:
        super().__init__(options)
        parameters = node_parameters(self, DeviceParameters)
        maps = read_maps(folder_of(Path(parameters.maps) if parameters.maps else None))
        for error in maps.broken:
            self.note_refusal(error)
        self._source = DeviceSource(parameters, maps)
        self._joy = self.publisher("joy")
        self._reported = ""
        self._heard_at = self.now()
        self.subscribe("joy/set_feedback", self._on_feedback)
        self.every(1.0 / parameters.rate, self._tick)

    def stop(self) -> None:
        """End the motion of the device."""
        self._publish(self._source.close())

    def _tick(self) -> None:
        self._publish(self._source.step(self.now()))
        self._report()

    def _publish(self, sample: Sample | None) -> None:
        if sample is not None:
            message = Joy(axes=sample.axes, buttons=sample.buttons)
            message.header.stamp, message.header.frame_id = self.stamp(), ROLE_FRAME
            self._joy.publish(message)

    def _on_feedback(self, message: Any) -> None:
        strength = float(finite_array([message.intensity], "set_feedback.intensity", 1)[0])
        if message.type == JoyFeedback.TYPE_RUMBLE:
            self._source.rumble(strength, self.now())

    def _report(self) -> None:
        """Log what has changed."""
        text = self._state()
        if text != self._reported:
            self._reported = text
            self.get_logger().info(text)
        if self._joy.get_subscription_count() or self._source.connection is not Connection.CONNECTED:
            self._heard_at = self.now()
        elif self.now() - self._heard_at > UNHEARD:
            self._heard_at = float("inf")
            self.get_logger().warning("nobody receives the device; does a graph run here, in this namespace?")

    def _state(self) -> str:
        source = self._source
        if source.connection is Connection.CONNECTED and source.fitted is not None:
            return f"{source.device}, map {source.fitted.map.map}: {self._enabling()}"
        lost = f"{source.device} was unplugged, the motion has ended; " if source.unplugged else ""
        return f"{lost}waiting for a device{f': {source.problem}' if source.problem else ''}"

    def _enabling(self) -> str:
        """What the operator has to do."""
        fitted, enabling = self._source.fitted, self._source.enabling
        button = fitted.buttons[0] if fitted is not None else ""
        if enabling is Enabling.ENABLED:
            return "it moves the tool"
        if enabling is Enabling.LET_GO:
            return f"let go of every axis and of {button}"
        toggles = fitted is not None and fitted.map.enable == "toggle"
        return f"{'press' if toggles else 'hold'} {button} to move the tool"

    def health(self) -> Health:
        """The device, its map and what it waits for."""
        source = self._source
        connected = source.connection is Connection.CONNECTED
        values: dict[str, object] = {
            "state": self._state(),
            "connection": source.connection.value,
            "device": source.device.name if source.device else "",
            "path": source.device.path if source.device else "",
            "map": source.fitted.map.map if source.fitted else "",
            "enabled": source.enabling is Enabling.ENABLED,
            "rumbles": source.rumbles,
            "samples": source.samples,
            "events": source.events,
            "events_dropped": source.dropped,
            "unplugged": source.unplugged,
            "problem": source.problem,
        }
        level = DiagnosticStatus.OK if connected and not source.problem else DiagnosticStatus.WARN
        return Health(level, self._state(), values)


def main(options: NodeOptions) -> int:
    """Run the node as a process."""
    return run_node(InputDeviceNode, options)
