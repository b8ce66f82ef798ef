"""Checks of the computer: processors, real-time rights, clock, shared memory, disk."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import statistics
import tempfile
import time
from pathlib import Path

from telerobot_nodes.doctor.findings import Finding, Verdict, judged
from telerobot_nodes.doctor.scheduling_lateness import probe

CORES, MEMORY = 2, 4.0  # least of the host of a whole graph [-], [GB]
PROBE = 2.0  # [s]
REAL_TIME_PRIORITY, NICENESS = 80, -15  # what the nodes that move the arm ask for
CLOCK_UNSYNCHRONISED = 5  # adjtimex(2): TIME_ERROR
SHARED_MEMORY, LEFT_OVER = Path("/dev/shm"), ("fastrtps_", "fastdds_", "sem.fastrtps_", "sem.fastdds_")
SHARED_FREE, SHARED_LEFT = 256.0, 64.0  # [MB] least that is free, most that is left over
DISK_FREE, SYNC_TIME, SYNCS = 2.0, 0.05, 10  # [GB], [s] of one small file, number of trials


def processors() -> Finding:
    """Cores that this process may use, and memory."""
    cores = len(os.sched_getaffinity(0))
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    short = cores < CORES or memory < 0.9 * MEMORY
    advice = f"a whole graph needs {CORES} cores and {MEMORY:g} GB; leave nodes out with --without"
    return judged("processors", f"{cores} cores, {memory:.1f} GB", Verdict.CARE if short else None, advice)


def scheduling(seconds: float = PROBE) -> Finding:
    """How late this host runs periodic work that needs as much as a graph."""
    lateness = probe(seconds)
    advice = "measurements get too old and the arm stops; end other programs, or use a quicker host"
    return judged("scheduling", lateness.figures, Verdict.WRONG if lateness.busy else None, advice)


def real_time() -> Finding:
    """Whether this user's processes may raise their priority."""
    child = os.fork()
    if child == 0:
        try:
            os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(REAL_TIME_PRIORITY))
            os.setpriority(os.PRIO_PROCESS, 0, NICENESS)
        except OSError:
            os._exit(1)
        os._exit(0)
    allowed = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    advice = (
        f"put `USER - rtprio {REAL_TIME_PRIORITY + 19}` and `USER - nice {NICENESS - 5}` into "
        "/etc/security/limits.d/telerobot.conf and log in again"
    )
    found = "real-time priority allowed" if allowed else "real-time priority not allowed"
    return judged("real time", found, None if allowed else Verdict.CARE, advice)


def clock() -> Finding:
    """Whether the system's clock is synchronised. The link does not need it."""
    state = ctypes.CDLL(None).adjtimex(ctypes.create_string_buffer(512))  # modes 0: read only
    wrong = state in (-1, CLOCK_UNSYNCHRONISED)
    advice = "recordings of two hosts are joined by their clocks: run chrony or systemd-timesyncd on both"
    found = "not synchronised, or not known" if wrong else "synchronised"
    return judged("clock", found, Verdict.CARE if wrong else None, advice)


def shared_memory(folder: Path = SHARED_MEMORY) -> Finding:
    """Room for the transport's shared memory, and segments that nobody uses any more."""
    if not folder.is_dir():
        return Finding("shared memory", f"no {folder}", Verdict.CARE, "messages on this host go through sockets")
    free = shutil.disk_usage(folder).free / 1e6
    left = _left_over(folder)
    size = sum(map(_size, left)) / 1e6
    found = f"{free:.0f} MB free; {len(left)} segments left over, {size:.1f} MB"
    if free < SHARED_FREE:
        return Finding("shared memory", found, Verdict.WRONG, f"mount {folder} with {SHARED_FREE:g} MB or more")
    advice = f"with no graph running: rm {' '.join(f'{folder}/{start}*' for start in LEFT_OVER)}"
    return judged("shared memory", found, Verdict.CARE if size > SHARED_LEFT else None, advice)


def disk(folder: Path) -> Finding:
    """Room in the folder of recordings and journals, and the time until a small file is safe in it."""
    try:
        free = shutil.disk_usage(folder).free / 1e9
        took = _sync_time(folder)
    except OSError as error:
        return Finding("disk", f"{folder}: {error.strerror}", Verdict.WRONG, "name a folder that this user may write")
    found = f"{free:.1f} GB free in {folder}, a file is safe after {1e3 * took:.1f} ms"
    if free < DISK_FREE:
        return Finding("disk", found, Verdict.WRONG, "an hour of recording takes about 1.4 GB: make room")
    advice = "the journal waits for this disk; record to another one with --bag"
    return judged("disk", found, Verdict.CARE if took > SYNC_TIME else None, advice)


def _left_over(folder: Path) -> list[Path]:
    """Segments of the transport that no process of this host has mapped or open, as far as this user may see."""
    segments = {file for file in folder.iterdir() if file.name.startswith(LEFT_OVER)}
    for process in Path("/proc").glob("[0-9]*"):
        if not segments:
            break
        used = _used_by(process)
        segments = {file for file in segments if str(file) not in used}
    return sorted(segments)


def _used_by(process: Path) -> set[str]:
    """Files that a process has mapped or open; of a process that is gone, or of another user, none."""
    used: set[str] = set()
    with contextlib.suppress(OSError):
        maps = (process / "maps").read_text(encoding="utf-8", errors="replace")
        used.update(words[5] for words in (line.split(maxsplit=5) for line in maps.splitlines()) if len(words) == 6)
        for one in (process / "fd").iterdir():
            with contextlib.suppress(OSError):  # closed meanwhile
                used.add(str(one.readlink()))
    return used


def _size(file: Path) -> int:
    """Bytes of a file; 0 when it is gone."""
    with contextlib.suppress(OSError):
        return file.stat().st_size
    return 0


def _sync_time(folder: Path) -> float:
    """Median time [s] until a small file is written and synchronised. Raises OSError."""
    took = []
    with tempfile.NamedTemporaryFile(dir=folder, prefix="telerobot-doctor-") as file:
        for _ in range(SYNCS):
            begin = time.monotonic()
            file.write(bytes(4096))
            file.flush()
            os.fsync(file.fileno())
            took.append(time.monotonic() - begin)
    return statistics.median(took)
