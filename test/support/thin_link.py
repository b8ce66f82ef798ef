"""A direction of a link with a bandwidth: messages leave one after the other, and those behind them wait."""

import plan_models

from telerobot_nodes.plan.log.sender import OPERATION_BYTES, POINT_BYTES

MESSAGE_BYTES = 60  # of each message


def size_of(operations):
    """Bytes of a message on the wire."""
    points = sum(len(entry.points) for entry in operations if entry.points is not None)
    return MESSAGE_BYTES + OPERATION_BYTES * len(operations) + POINT_BYTES * points


class ThinLink(plan_models.Link):
    """`bandwidth` [B/s]; `bytes` sent so far."""

    def __init__(self, bandwidth, *values, **named):
        super().__init__(*values, **named)
        self.bandwidth = bandwidth
        self.free = 0.0  # [s] when the last message has left
        self.bytes = 0

    def send(self, now, message):
        size = size_of(message)
        self.bytes += size
        self.free = max(self.free, now) + size / self.bandwidth
        super().send(self.free, message)
