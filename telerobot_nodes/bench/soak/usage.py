"""Memory, open files and threads of processes, and the shared memory of this machine, as Linux shows them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

SHARED = Path("/dev/shm")


class Usage(NamedTuple):
    """Of one process and those that it started."""

    memory: float  # [MB] resident
    descriptors: int
    threads: int


class Sample(NamedTuple):
    """One look at everything."""

    time: float  # [s]
    processes: Mapping[str, Usage]
    shared: float  # [MB] in /dev/shm, of all programs of this machine
    shared_files: int


def family(pid: int) -> list[int]:
    """A process and all those below it; those that ended meanwhile are left out."""
    found = [pid]
    for member in found:
        with contextlib.suppress(OSError):
            tasks = list(Path(f"/proc/{member}/task").iterdir())
            for task in tasks:
                with contextlib.suppress(OSError):
                    found += map(int, (task / "children").read_text().split())
    return found


def usage_of(pid: int, alone: bool = False) -> Usage | None:
    """What a process uses, and those that it started, unless `alone`; None: it has ended."""
    rows = [row for member in ([pid] if alone else family(pid)) if (row := _own(member)) is not None]
    if not rows:
        return None
    return Usage(
        sum(row.memory for row in rows), sum(row.descriptors for row in rows), sum(row.threads for row in rows)
    )


def _own(pid: int) -> Usage | None:
    folder = Path(f"/proc/{pid}")
    try:
        pages = int((folder / "statm").read_text().split()[1])
        files, threads = len(list((folder / "fd").iterdir())), len(list((folder / "task").iterdir()))
    except OSError:
        return None
    return Usage(pages * os.sysconf("SC_PAGE_SIZE") / 1e6, files, threads)


def shared_memory(folder: Path = SHARED) -> tuple[float, int]:
    """Megabytes and files of a folder."""
    sizes = []
    for file in folder.iterdir() if folder.is_dir() else ():
        with contextlib.suppress(OSError):
            sizes.append(file.stat().st_blocks * 512)
    return sum(sizes) / 1e6, len(sizes)
