"""The folder of menus: a YAML file each, read strictly and checked for one robot; a broken file keeps its old menu."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from telerobot_nodes.core.config import Rules, Spot, build, read_yaml, share_path
from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.errors import ParameterFileError, TelerobotError
from telerobot_nodes.macros import OWN as MACROS
from telerobot_nodes.macros import MacroFolder, read_macros
from telerobot_nodes.menus.leaf import Leaf, leaf_of
from telerobot_nodes.menus.menu import Entry, Menu
from telerobot_nodes.menus.parts import pose_of
from telerobot_nodes.menus.sequence_files import MENU, sequence_folder, sequences_of
from telerobot_nodes.operator.forms import MenuItem

OWN = Path("menus")  # the operator's folder, below the working directory
Stamp = tuple[tuple[str, int, int], ...]  # name, time of the last change [ns], size [bytes] of each file


class NoMenuError(TelerobotError):
    """There is no menu or leaf of this name."""


@dataclass(frozen=True)
class ReadMenu:
    """One menu with its leaves by path, in the order of the file."""

    menu: Menu
    leaves: Mapping[str, Leaf]


@dataclass(frozen=True)
class MenuFolder:
    """The menus of a folder by name, and the error of each file that cannot be read."""

    folder: Path
    robot: RobotModel = field(repr=False)
    menus: Mapping[str, ReadMenu] = field(default_factory=dict)
    broken: Mapping[str, ParameterFileError] = field(default_factory=dict)
    stamp: Stamp = ()

    @property
    def leaves(self) -> dict[str, Leaf]:
        """Every leaf by path, menus in their order."""
        return {path: leaf for menu in self.menus.values() for path, leaf in menu.leaves.items()}

    @property
    def items(self) -> tuple[MenuItem, ...]:
        """The tree for a page or a panel."""
        leaves = self.leaves
        return tuple(
            MenuItem(name, read.menu.doc, tuple(_item(entry, name, leaves) for entry in read.menu.entries))
            for name, read in self.menus.items()
        )

    def leaf(self, path: str) -> Leaf:
        """The leaf of this path, or of this end of one. Raises NoMenuError."""
        leaves = self.leaves
        found = [name for name in leaves if name == path] or [name for name in leaves if name.endswith(f"/{path}")]
        if len(found) == 1:
            return leaves[found[0]]
        known = ", ".join(found or leaves) or "none"
        ends = {name.rsplit("/", 1)[-1]: name for name in leaves} | {name: name for name in leaves}
        near = [] if found else get_close_matches(path, ends, 1)
        hint = f"did you mean {ends[near[0]]}?" if near else f"{'give one of' if found else 'there are'}: {known}"
        raise NoMenuError(f"no single leaf is called {path!r} in {self.folder}; {hint}")

    @property
    def edited(self) -> bool:
        """True when a file is not as it was read."""
        return stamp_of(self.folder) != self.stamp

    def reread(self, robot: RobotModel | None = None) -> MenuFolder:
        """The folder as it is now; a file that is broken now keeps the menu that was read before. Never raises.

        `robot`: a model of its own, for another thread, which a RobotModel does not share.
        """
        stamp = stamp_of(self.folder)
        if stamp == self.stamp:
            return self
        try:
            now = read_menus(self.folder, robot or self.robot)
        except TelerobotError as error:
            gone = ParameterFileError(str(self.folder), 0, "folder", str(error))
            return MenuFolder(self.folder, self.robot, self.menus, {"": gone}, stamp)
        kept = {name: self.menus[name] for name in now.broken if name in self.menus}
        return MenuFolder(self.folder, now.robot, _ordered({**now.menus, **kept}), now.broken, now.stamp)


def folder_of(named: Path | None = None) -> Path:
    """The folder of menus: the one named, else ./menus, else the package's own."""
    return named or (OWN if OWN.is_dir() else share_path("config/menus"))


def read_menus(folder: Path, robot: RobotModel) -> MenuFolder:
    """Every menu of a folder, checked for `robot`; macros are those of the folder `macros` beside it.

    A broken file does not hide the others. Raises NoMenuError: there is no folder.
    """
    if not folder.is_dir():
        raise NoMenuError(f"there is no folder {folder}")
    stamp = stamp_of(folder)
    beside = folder.resolve().parent / MACROS
    macros = read_macros(beside) if beside.is_dir() else MacroFolder(beside, {}, {})
    menus: dict[str, ReadMenu] = {}
    broken: dict[str, ParameterFileError] = {}
    for file in sorted(folder.glob("*.yaml")):
        try:
            menus[file.stem] = read_menu(file, robot, macros)
        except ParameterFileError as error:
            broken[file.stem] = error
    if MENU not in menus and MENU not in broken:
        named = {leaf.entry.macro for menu in menus.values() for leaf in menu.leaves.values()}
        menus |= _sequences(folder, macros, named, robot)
    return MenuFolder(folder, robot, _ordered(menus), broken, stamp)


def _sequences(folder: Path, beside: MacroFolder, named: set[str], robot: RobotModel) -> dict[str, ReadMenu]:
    """The menu of the operator's own macros, unless there are none. `beside`: those that the menus name."""
    own = sequence_folder(folder)
    if own.resolve() == beside.folder.resolve():
        found = sequences_of(beside, named, robot)
    else:
        found = sequences_of(read_macros(own), (), robot) if own.is_dir() else None
    return {MENU: ReadMenu(*found)} if found is not None else {}


def read_menu(file: Path, robot: RobotModel, macros: MacroFolder) -> ReadMenu:
    """The menu of one file. Raises ParameterFileError."""
    menu = build(Menu, read_yaml(file), Spot(str(file)), Rules(prepare=_prepared))
    if menu.name != file.stem:
        menu.source.reject("menu", f"{menu.name!r} is not allowed; allowed: {file.stem}, the name of its file")
    entries = _leaves(menu.entries, menu.name)
    return ReadMenu(menu, {path: leaf_of(path, entry, robot, macros) for path, entry in entries})


def stamp_of(folder: Path) -> Stamp:
    """What changes when a file of the folder, or a macro beside it, is edited."""
    found = []
    for place in sorted({folder.resolve(), folder.resolve().parent / MACROS, sequence_folder(folder).resolve()}):
        for file in sorted(place.glob("*.yaml")):
            try:
                status = file.stat()
            except OSError:  # taken away just now
                continue
            found.append((str(file), status.st_mtime_ns, status.st_size))
    return tuple(found)


def _prepared(key: str, value: Any, _known: frozenset[str]) -> tuple[str, Any]:
    """A pose may be `{xyz: [m], rpy_deg: [roll, pitch, yaw]}`."""
    if isinstance(value, Mapping) and set(value) == {"xyz", "rpy_deg"}:
        return key, list(pose_of(value["xyz"], value["rpy_deg"], key))
    return key, value


def _leaves(entries: tuple[Entry, ...], above: str) -> Iterator[tuple[str, Entry]]:
    for entry in entries:
        path = f"{above}/{entry.name}"
        if entry.entries:
            yield from _leaves(entry.entries, path)
        else:
            yield path, entry


def _item(entry: Entry, above: str, leaves: Mapping[str, Leaf]) -> MenuItem:
    path = f"{above}/{entry.name}"
    if entry.entries:
        return MenuItem(entry.name, entry.doc, tuple(_item(inner, path, leaves) for inner in entry.entries))
    return MenuItem(entry.name, entry.doc, form=leaves[path].form)


def _ordered(menus: Mapping[str, ReadMenu]) -> dict[str, ReadMenu]:
    return dict(sorted(menus.items(), key=lambda one: (one[1].menu.order, one[0])))
