"""What the halt receiver of each arm has to know of names: its arm's, and those that stop something else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from telerobot.msg import ArmName
from telerobot_nodes.rtc.skills import Arm

if TYPE_CHECKING:
    from telerobot_nodes.nodes.framework import GraphNode


class ArmNames:
    """Publishes, to the halt receivers of all arms, how halts name each of them and the commands under way."""

    def __init__(self, node: GraphNode, arms: Sequence[Arm]) -> None:
        self._arms = tuple(arms)
        topic = "rtc_decision_unit/arm_name"
        self._publishers = [node.publisher(topic, namespace=arm.namespace or None) for arm in arms]
        self._texts = node.resolve_topic_name("rtc_decision_unit/commands")
        self._labels: tuple[str, ...] | None = None
        self.update(())

    def update(self, labels: Iterable[str]) -> None:
        """Take the labels of the commands under way; published when they have changed."""
        found = tuple(sorted(labels))
        if found == self._labels:
            return
        self._labels = found
        for arm, publisher in zip(self._arms, self._publishers, strict=True):
            others = [other.name for other in self._arms if other.name != arm.name]
            publisher.publish(ArmName(arm=arm.name, texts=self._texts, others=[*others, *found]))
