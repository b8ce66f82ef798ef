"""The consoles of this host, each for a workspace of its own: the arm, and the robot to practise with [US5231693].

Each console's health names its address. What is received is another process's text: an address that is none is ignored.
"""

from __future__ import annotations

import re

EXECUTION = "execution"  # the workspace without a namespace
SILENT = 3.5  # [s] after which a console counts as ended; its health comes every second
_ADDRESS = re.compile(r"http://[\w.:\[\]-]{1,200}/?")


def workspace_of(node: str) -> str:
    """Workspace of a console by its fully qualified name: the namespace, or EXECUTION."""
    return node.strip("/").rpartition("/")[0] or EXECUTION


class Workspaces:
    """Addresses of the other consoles, by workspace."""

    def __init__(self, own: str) -> None:
        """`own`: fully qualified name of this console."""
        self.own = workspace_of(own)
        self._found: dict[str, tuple[str, float]] = {}  # address, time of the latest report [s]

    def receive(self, node: str, address: str, now: float) -> None:
        """Note the address that the console `node` reports at `now` [s]."""
        workspace = workspace_of(node)
        if workspace != self.own and _ADDRESS.fullmatch(address):
            self._found[workspace] = (address, now)

    def doors(self, now: float) -> dict[str, str]:
        """Address of each other workspace whose console has reported of late, in the order of their names."""
        self._found = {name: found for name, found in self._found.items() if now - found[1] <= SILENT}
        return {name: self._found[name][0] for name in sorted(self._found)}
