"""Services whose responses reach a client that is discovered late.

A new client becomes known to a server in parts: its request may arrive before the reader of its responses is known.
The middleware (rmw_fastrtps) then waits 0.1 s, drops the response and warns; a client on a busy machine waits for it in
vain. Here such a response is sent again.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable
from threading import Timer
from typing import Any

from rclpy.exceptions import InvalidHandle
from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
from rclpy.logging import get_logger
from rclpy.node import Node
from rclpy.qos import qos_profile_services_default
from rclpy.service import Service
from rclpy.type_support import check_is_valid_srv_type

RETRIES = (0.2, 0.4, 0.8, 1.6, 3.2)  # [s] before each further try; few, as each keeps Python's lock for 0.1 s
DROPPED = "failed to send response"  # rclpy's warning


class PatientService(Service):  # type: ignore[misc]
    """rclpy's service; a response that its client cannot receive yet is sent again, from another thread."""

    @classmethod
    def on(cls, node: Node, kind: Any, name: str, callback: Callable[[Any, Any], Any]) -> PatientService:
        """A service of `node`, as `Node.create_service` makes one; the node adds it to its services."""
        warnings.filterwarnings("error", message=DROPPED, category=RuntimeWarning)  # the only way to learn of it
        qos, group = qos_profile_services_default, node.default_callback_group
        check_is_valid_srv_type(kind)  # loads the type support
        with node.handle:
            handle = _rclpy.Service(node.handle, kind, name, qos.get_c_qos_profile())
        service = cls(handle, kind, name, callback, group, qos)
        group.add_entity(service)
        return service

    def send_response(self, response: Any, header: Any) -> None:
        """rclpy's: called with what the callback returned, and the address of the client."""
        self._send(response, header, RETRIES)

    def _send(self, response: Any, header: Any, waits: tuple[float, ...]) -> None:
        with contextlib.suppress(InvalidHandle):  # the node has ended: the client has its time-out
            if self._arrives(response, header):
                return
            if not waits:
                get_logger("services").warning(f"{self.srv_name}: a response was dropped, its client cannot receive it")
                return
            timer = Timer(waits[0], self._send, (response, header, waits[1:]))
            timer.daemon = True
            timer.start()

    def _arrives(self, response: Any, header: Any) -> bool:
        """Send; False when the middleware has dropped the response."""
        try:
            super().send_response(response, header)
        except (RuntimeWarning, SystemError) as error:  # rclpy returns with the warning set, as an error
            if DROPPED not in str(error) and DROPPED not in str(error.__cause__):
                raise
            return False
        return True
