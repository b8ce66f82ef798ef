"""What the link does for halts, so that neither their size nor the rate of other texts keeps one back."""

from __future__ import annotations

from rclpy.serialization import deserialize_message, serialize_message

from telerobot.msg import Halt, LinkStamp
from telerobot_nodes.core.memory import AGENT_LENGTH
from telerobot_nodes.nodes.halts import halt_of_text, scope_of_text

REASON_LENGTH = 200  # characters of a reason that cross, as many as the robot keeps
MOST_URGENT = 8_000  # [B] of a text that leaves before everything


def halt_that_fits(data: bytes, most: int) -> bytes:
    """A serialized Halt.msg; one of more than `most` bytes with its texts cut, for a halt needs none of them."""
    if len(data) <= most:
        return data
    try:
        halt = deserialize_message(data, Halt)
    except Exception:  # noqa: BLE001 -- a halt that cannot be read is a halt
        return bytes(serialize_message(Halt(agent="unknown", reason="unreadable message")))
    halt.agent, halt.reason = halt.agent[:AGENT_LENGTH], halt.reason[:REASON_LENGTH]
    halt.link.sender = halt.link.sender[:AGENT_LENGTH]
    return bytes(serialize_message(halt))


def halt_of_everything(data: bytes) -> bytes | None:
    """A text that halts everything, as a Halt.msg under the same name, which the robot counts once; None: no such."""
    if scope_of_text(data) != "":
        return None
    halt = halt_of_text(data)
    if halt is None:
        return None
    link = LinkStamp(sender=halt.named.agent, number=halt.named.number)
    return bytes(
        serialize_message(Halt(link=link, number=halt.named.number, agent=halt.named.agent, reason=halt.reason))
    )


def is_urgent(data: bytes) -> bool:
    """Whether a text halts an arm or a command that it names, so that no other message says the same."""
    return len(data) <= MOST_URGENT and scope_of_text(data) not in (None, "")
