"""The workcell of a rehearsal (`telerobot_nodes/rtc/rehearsal`), with the rules that hold at every moment checked."""

from __future__ import annotations

from telerobot_nodes.rtc import rehearsal
from telerobot_nodes.rtc.rehearsal import KinematicExecutor, Obstacles, SlideChecks, SlideExecutive, SlideKinematics

__all__ = ["Cell", "KinematicExecutor", "Obstacles", "SlideChecks", "SlideExecutive", "SlideKinematics"]


class Cell(rehearsal.Cell):
    """A cell that checks itself."""

    def take(self, outputs):
        super().take(outputs)
        self._check()

    def _check(self) -> None:
        """Rules that hold at every moment."""
        resources = self.unit.resources
        for name, resource in resources.resources.items():
            assert len(resources.holders(name)) <= resource.capacity
        assert all(count == 1 for count in self.report_count.values())
