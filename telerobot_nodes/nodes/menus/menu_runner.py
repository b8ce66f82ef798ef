"""The menus of a console or a panel: what is pressed runs, one leaf at a time; edited files are read again.

They are read on a thread: reading takes tenths of a second, in which the caller must still send a halt.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.menus import FormRefusedError, Leaf, MenuFolder, add_step, read_menus, sequence_folder
from telerobot_nodes.nodes.clients import as_texts
from telerobot_nodes.operator.forms import (
    AddLeaf,
    Asked,
    MenuItem,
    Mode,
    StartLeaf,
    StopLeaf,
)

if TYPE_CHECKING:
    from telerobot_nodes.nodes.menus.leaf_runs import LeafRun, LeafRuns
    from telerobot_nodes.nodes.menus.motion import Motion

READ_PERIOD = 1.0  # [s] between looks for edited files


class MenuWidgets(Protocol):
    """What shows the menus to a person."""

    def show_menus(self, items: tuple[MenuItem, ...]) -> None:
        """Show these menus; the person stays where he is, if that is left."""

    def take(self) -> Sequence[Asked]:
        """What is to be added, started and stopped, since the last call."""

    def refuse(self, path: str, refusals: Mapping[str, str]) -> None:
        """Show why a leaf does not run, each reason beside its field; what belongs to none, below."""

    def tell(self, text: str, colour: str = "") -> None:
        """Add a line; `colour`: good, bad, asked, hint."""

    def progress(self, text: str) -> None:
        """Show what runs now; empty: nothing does."""


class MenuRunner:
    """Reads the menus, runs one leaf at a time, shows its progress and its end. `step` it at 10 Hz on one thread."""

    def __init__(self, view: MenuWidgets, runs: LeafRuns, folder: Path, robot: str) -> None:
        """`robot`: name or file, for which the leaves are checked."""
        self._view, self._runs, self._robot = view, runs, robot
        self._running: tuple[Leaf, LeafRun] | None = None
        self._motion: Motion | None = None  # drawn until the next leaf or a stop
        self._looked = 0.0  # [s] at the files
        self._reader = ThreadPoolExecutor(1, "menus")
        self._fresh: Future[MenuFolder] | None = None
        model = load_robot(robot)
        self._folder = MenuFolder(folder, model)
        try:
            self._show(read_menus(folder, model))
        except TelerobotError as error:
            view.tell(str(error), "bad")

    def step(self, now: float) -> None:
        """Do what was pressed, read edited files, show what runs."""
        self._read(now)
        for asked in self._view.take():
            if isinstance(asked, StopLeaf):
                self._stop()
            elif isinstance(asked, AddLeaf):
                self._add(asked)
            else:
                self._start(asked)
        self._runs.step(now)
        self._runs.draw(self._motion)
        self._follow()

    def _read(self, now: float) -> None:
        if self._fresh is not None:
            if self._fresh.done():
                self._show(self._fresh.result())
                self._fresh = None
        elif now - self._looked >= READ_PERIOD:
            self._looked = now
            if self._folder.edited:
                folder, name = self._folder, self._robot
                self._fresh = self._reader.submit(lambda: folder.reread(load_robot(name)))

    def _show(self, folder: MenuFolder) -> None:
        if folder is self._folder:
            return
        news = [str(error) for name, error in folder.broken.items() if str(error) != str(self._folder.broken.get(name))]
        self._folder = folder
        self._view.show_menus(folder.items)
        for text in news:
            self._view.tell(text, "bad")

    def _start(self, asked: StartLeaf) -> None:
        if self._running is not None and asked.mode is not Mode.SETUP:
            self._view.tell(f"{self._running[0].path} runs; allowed: after its end, or `stop motion`", "bad")
            return
        with self._refusing(asked.path):
            leaf = self._folder.leaf(asked.path)
            values = leaf.fill(asked.typed)
            self._view.refuse(asked.path, {})
            if asked.mode is Mode.SETUP:
                sent = " ".join(f"{key}={text}" for key, text in as_texts(values).items())
                self._view.tell(f"{leaf.path} may run: {leaf.runs} {sent}".rstrip(), "good")
                return
            run = self._begin(leaf, values, asked.mode)
            self._running, self._motion = (leaf, run), run.motion
            self._view.tell(f"> {asked.mode.verb} {leaf.path}")

    def _begin(self, leaf: Leaf, values: Mapping[str, Any], mode: Mode) -> LeafRun:
        if mode is Mode.SIMULATION:
            return self._runs.simulate(leaf, values)
        return self._runs.practise(leaf, values) if mode is Mode.PRACTICE else self._runs.begin(leaf, values)

    def _add(self, asked: AddLeaf) -> None:
        with self._refusing(asked.path):
            leaf = self._folder.leaf(asked.path)
            values = leaf.fill(asked.typed)
            folder = sequence_folder(self._folder.folder)
            count = add_step(folder, asked.sequence, leaf, values, self._folder.robot)
            self._view.refuse(asked.path, {})
            self._view.tell(f"{leaf.path} is step {count} of {folder / asked.sequence}.yaml", "good")

    @contextmanager
    def _refusing(self, path: str) -> Iterator[None]:
        """Show a person why his leaf was refused."""
        try:
            yield
        except FormRefusedError as error:
            self._view.refuse(path, error.refusals)
        except TelerobotError as error:  # the file was edited since, or the macro is not tested
            self._view.tell(str(error), "bad")

    def _stop(self) -> None:
        if self._running is not None:
            self._running[1].stop()
        elif self._motion is None:
            self._view.tell("no motion of a menu is running")
        self._motion = None
        self._runs.clear()

    def _follow(self) -> None:
        if self._running is None:
            return
        leaf, run = self._running
        if run.end is None:
            self._view.progress(f"{leaf.path}: {run.progress}")
            return
        self._running = None
        self._view.progress("")
        self._view.tell(f"{leaf.path} {run.end.text}", "good" if run.end.ok else "bad")
