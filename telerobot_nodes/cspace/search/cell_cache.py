"""Files of cells that outlive a process: read once per arm, written when cells were added; made anew when unusable."""

from __future__ import annotations

import re
from pathlib import Path

from telerobot_nodes.cspace.geometry import Voxels
from telerobot_nodes.cspace.search.cells import CellDatabase


class CellCache:
    """One file per arm in `folder`; without a folder nothing is kept. Trouble with a file is noted, never raised."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.notes: dict[str, str] = {}  # arm -> result of reading and writing its file
        self._saved: dict[str, int] = {}  # arm -> cells in its file

    def _note(self, arm: str, read: str = "", written: str = "") -> None:
        before, _, after = self.notes.get(arm, "").partition("; ")
        self.notes[arm] = f"{read or before}; {written or after}"

    def file(self, arm: str) -> Path | None:
        """The file of an arm."""
        return None if self.folder is None else self.folder / f"cells_{re.sub(r'[^A-Za-z0-9_]', '_', arm)}.bin"

    def fill(self, arm: str, cells: CellDatabase) -> None:
        """Load the cells of the arm's file if it is intact and of the same scene; else it is rebuilt later."""
        file = self.file(arm)
        if file is None or not file.exists():
            self._note(arm, "no file of cells yet")
            return
        try:
            trouble = cells.load(file)
        except (ValueError, KeyError, IndexError, OSError, EOFError) as error:
            cells.clear()
            trouble = f"not readable: {error}"
        self._note(arm, f"file not used, made anew: {trouble}" if trouble else f"{len(cells)} cells read")
        self._saved[arm] = 0 if trouble else len(cells)

    def keep(self, arm: str, cells: CellDatabase) -> None:
        """Write the cells when there are more than in the file; not those among voxels, which change too often."""
        file = self.file(arm)
        if any(isinstance(thing, Voxels) for thing in cells.obstacles):
            return
        if file is None or len(cells) <= max(self._saved.get(arm, 0), 1):
            return
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            cells.save(file)
        except OSError as error:
            self._note(arm, written=f"file not written: {error}")
            return
        self._saved[arm] = len(cells)
        self._note(arm, written=f"{len(cells)} cells written")
