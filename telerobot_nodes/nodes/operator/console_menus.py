"""The console's menus on the graph: a leaf runs as any client's primitive does; edited files are read again.

They are read on a thread: reading takes tenths of a second, in which the node must still send a halt.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Condition
from typing import TYPE_CHECKING, Any

from telerobot_nodes.core.protocol import identity
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.menus import FormRefusedError, Leaf, MenuFolder, read_menus
from telerobot_nodes.nodes.clients import Primitives, RunningPrimitive
from telerobot_nodes.operator.client import PrimitiveReport, PrimitiveResult
from telerobot_nodes.operator.console import MenuView, RunLeaf

if TYPE_CHECKING:
    from pathlib import Path

    from telerobot_nodes.core.robot import RobotModel
    from telerobot_nodes.nodes.framework import GraphNode

READ_PERIOD = 1.0  # [s] between looks for edited files
LIMIT = 3600.0  # [s]


class ConsoleMenus:
    """Reads the menus, runs one leaf at a time, shows its progress and its end. Runs on the node's thread."""

    def __init__(self, node: GraphNode, view: MenuView, robot: RobotModel, folder: Path) -> None:
        self._node, self._view = node, view
        self._changed = Condition()
        self._primitives = Primitives(_Goals(node), self._changed, identity("console"))
        self._running: tuple[Leaf, RunningPrimitive] | None = None
        self._looked = 0.0  # [s] at the files
        self._reader = ThreadPoolExecutor(1, "menus")
        self._fresh: Future[MenuFolder] | None = None
        self._folder = MenuFolder(folder, robot)
        self._show(_first(folder, robot, view))

    def step(self) -> None:
        """Do what was pressed, read edited files, show what runs."""
        now = self._node.now()
        self._read(now)
        for asked in self._view.take():
            if isinstance(asked, RunLeaf):
                self._run(asked)
            elif self._running is not None:
                self._running[1].stop()
            else:
                self._view.tell("no motion of a menu is running")
        self._primitives.step(now)
        self._follow()

    def _read(self, now: float) -> None:
        if self._fresh is not None:
            if self._fresh.done():
                self._show(self._fresh.result())
                self._fresh = None
        elif now - self._looked >= READ_PERIOD:
            self._looked = now
            if self._folder.edited:
                folder, name = self._folder, self._node.options.robot
                self._fresh = self._reader.submit(lambda: folder.reread(load_robot(name)))

    def _show(self, folder: MenuFolder) -> None:
        if folder is self._folder:
            return
        news = [str(error) for name, error in folder.broken.items() if str(error) != str(self._folder.broken.get(name))]
        self._folder = folder
        self._view.show_menus(folder.items)
        for text in news:
            self._view.tell(text, "bad")

    def _run(self, asked: RunLeaf) -> None:
        if self._running is not None:
            self._view.tell(f"{self._running[0].path} runs; allowed: after its end, or `stop motion`", "bad")
            return
        try:
            leaf = self._folder.leaf(asked.path)
            values = leaf.fill(asked.typed)
        except FormRefusedError as error:
            self._view.refuse(asked.path, error.refusals)
            return
        except TelerobotError as error:  # the file was edited since
            self._view.tell(str(error), "bad")
            return
        self._view.refuse(asked.path, {})
        if leaf.entry.macro:
            self._view.tell(f"a macro runs from a shell: telerobot menu run {leaf.path}", "bad")
            return
        running = self._primitives.begin(leaf.entry.primitive, values, LIMIT)
        self._running = leaf, running
        self._view.tell(f"> {leaf.path}")

    def _follow(self) -> None:
        if self._running is None:
            return
        leaf, running = self._running
        if not running.ended:
            self._view.progress(_progress(leaf, running.report))
            return
        self._running = None
        self._view.progress("")
        result = running.wait(0.0)
        self._view.tell(f"{leaf.path} {_end(result)}", "good" if result.ok else "bad")


class _Goals:
    """What `Primitives` needs of its carrier, by right of the table."""

    def __init__(self, node: GraphNode) -> None:
        self._node = node
        self.action_client, self.client, self.now = node.action_client, node.client, node.now

    @property
    def namespace(self) -> str:
        """Namespace of the arm, without a slash at its end; empty: root."""
        return str(self._node.get_namespace()).rstrip("/")

    def guarded(self, callback: Callable[..., None]) -> Callable[..., None]:
        """`callback` with its errors noted instead of raised."""

        def call(*arguments: Any) -> None:
            try:
                callback(*arguments)
            except TelerobotError as error:
                self._node.note_refusal(error)
            except Exception as error:  # noqa: BLE001 -- boundary: a bad report must not end the node
                self._node.note_error(error)

        return call


def _first(folder: Path, robot: RobotModel, view: MenuView) -> MenuFolder:
    try:
        return read_menus(folder, robot)
    except TelerobotError as error:
        view.tell(str(error), "bad")
        return MenuFolder(folder, robot)


def _progress(leaf: Leaf, report: PrimitiveReport | None) -> str:
    if report is None:
        return f"{leaf.path}: sent"
    force = sum(float(part) ** 2 for part in report.wrench[:3]) ** 0.5
    return f"{leaf.path}: {report.phase}, {report.elapsed:.1f} s, {force:.1f} N"


def _end(result: PrimitiveResult) -> str:
    report = result.report
    detail = f": {report.detail}" if report is not None and report.detail else ""
    took = f" ({report.elapsed:.1f} s)" if report is not None and report.elapsed else ""
    return f"{result.end.value}, {result.reason}{detail}{took}"
