"""What the host does to the graph: configuration, security, interfaces, clocks, disk, load."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from telerobot_nodes.bench.faults import judge
from telerobot_nodes.bench.faults.rig import Rig
from telerobot_nodes.bench.faults.rows import Goal, Outcome, Row, at_most, holds, none
from telerobot_nodes.bench.link import NetworkHosts, NotAllowedError, Side
from telerobot_nodes.core.protocol import LinkState
from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.operator.client import commands

HOUR = 3600.0  # [s]
DISK = 160  # [MB]; a recorder begins on one with 64 MB free or more
HOG = 8.0  # [s]
LATE_START = 90.0  # [s] for a graph to be ready
BAD_FILES = {
    "NaN": ("path_plan_queue:\n  ros__parameters:\n    free_speed: .nan\n", "free_speed"),
    "unknown key": ("path_plan_queue:\n  ros__parameters:\n    fre_speed: 0.1\n", "fre_speed"),
    "key twice": ("path_plan_queue:\n  ros__parameters:\n    capacity: 600\n    capacity: 700\n", "capacity"),
    "wrong type": ("path_plan_queue:\n  ros__parameters:\n    capacity: many\n", "capacity"),
    "wrong node name": ("path_plan_qeue:\n  ros__parameters:\n    capacity: 600\n", "path_plan_qeue"),
    "no YAML": ("path_plan_queue: [\n", "YAML"),
}


def bad_configuration(rig: Rig) -> Outcome:
    """Parameter files that cannot be."""
    goals: list[Goal] = []
    with tempfile.TemporaryDirectory() as name:
        for case, (text, word) in BAD_FILES.items():
            file = Path(name) / "bad.yaml"
            file.write_text(text)
            code, output = rig.telerobot(("run", "path_plan_queue", "--params", str(file)))
            goals.append(holds(f"{case}: start refused", code > 0))
            goals.append(holds(f"{case}: file, line and key named", f"{file}:" in output and word in output))
    return Outcome(f"{len(BAD_FILES)} malformed parameter files, one node started with each", tuple(goals))


def security_missing(rig: Rig) -> Outcome:
    """Security asked for that the middleware has not, and a profile that is none."""
    goals: list[Goal] = []
    with tempfile.TemporaryDirectory() as name:
        broken = Path(name) / "profile.xml"
        broken.write_text("<dds><profiles><participant")
        secured = {"ROS_SECURITY_ENABLE": "true", "ROS_SECURITY_KEYSTORE": name}
        cases = {
            "security, enforced": {**secured, "ROS_SECURITY_STRATEGY": "Enforce"},
            "security, permissive": {**secured, "ROS_SECURITY_STRATEGY": "Permissive"},
            "a profile that is no XML": {"FASTRTPS_DEFAULT_PROFILES_FILE": str(broken)},
            "a profile that is not there": {"FASTRTPS_DEFAULT_PROFILES_FILE": str(broken) + ".not"},
        }
        for case, environment in cases.items():
            code, _ = rig.telerobot(("run", "forward_simulator"), 20.0, environment)
            goals.append(holds(f"{case}: start refused", code > 0))
    return Outcome("a node started with security or a profile that its middleware has not", tuple(goals))


_FRESH = """
import time
from telerobot_nodes.runtime import join_graph
join_graph()
from telerobot_nodes.core.protocol import LinkState
from telerobot_nodes.nodes.framework import Foreground
with Foreground("fault_late") as client:
    seen = []
    client.subscribe("link/state", seen.append)
    print("listens" if client.wait(lambda: seen, 30.0) else "hears nothing", flush=True)
    client.wait(lambda: seen and seen[-1].state == LinkState.FRESH, 60.0)
    print("fresh" if seen and seen[-1].state == LinkState.FRESH else "not fresh", time.monotonic(), flush=True)
"""


def before_the_interface(rig: Rig) -> Outcome:
    """The robot's graph on a host whose interface gets its address later, as while the host starts up."""
    try:
        net = NetworkHosts(("cell", "desk"))
    except NotAllowedError as error:
        return Outcome("no address at the start", untried=f"network namespaces: {error}")
    left_out = ("bag_recorder", "rtc_decision_unit", "cspace_planner")
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        stack.callback(net.close)
        folder = Path(name)
        words = [word for node in left_out for word in ("--without", node)]
        file = str(net.write_hosts(folder, {"cell": "robot", "desk": "operator"}))
        commands = {"cell": ("up", "robot", *words), "desk": ("run", "link", "--graph", "operator")}
        ready = {"cell": "graph robot ready", "desk": "link ready"}
        net.have_address("cell", False)
        for host, command in commands.items():
            whole = (*command, "--hosts", file, "--host", host)
            side = Side(host, rig.robot_domain + 2, whole, ready[host], folder / f"{host}.log", net.inside(host))
            side.start()
            stack.callback(side.stop)
            side.wait_ready(LATE_START)
        program = net.program("cell", _FRESH, rig.robot_domain + 2)
        stack.callback(program.kill)
        listens = next(iter(program.stdout or ()), "").startswith("listens")
        rig.spin(15.0)
        given = time.monotonic()
        net.have_address("cell", True)
        answer, at, *_ = [*next(iter(program.stdout or ()), "").split(), "", "inf"]
    took = float(at) - given if answer == "fresh" else float("inf")
    return Outcome(
        "the robot's graph in a network namespace whose interface gets its address 15 s after the graph is ready",
        (holds("the graph is ready without the address", listens), at_most("link fresh after that", took, 10.0)),
        "inside a host the graph uses loopback only, which is always up",
    )


SHIM = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
enum { SLICE = 20000000, SECOND = 1000000000, MONOTONIC = 2 }; /* a bit of a condition's state in glibc */
static volatile long *offset;
static int (*clock_of)(clockid_t, struct timespec *);
static int (*wait_of)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
static int (*lock_of)(pthread_mutex_t *, const struct timespec *);
static int (*take_of)(sem_t *, const struct timespec *);
__attribute__((constructor)) static void map(void) {
    clock_of = dlsym(RTLD_NEXT, "clock_gettime");
    wait_of = dlvsym(RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2");
    lock_of = dlsym(RTLD_NEXT, "pthread_mutex_timedlock");
    take_of = dlsym(RTLD_NEXT, "sem_timedwait");
    int file = open(getenv("FAULT_CLOCK"), O_RDONLY);
    if (file >= 0) offset = mmap(0, 8, PROT_READ, MAP_SHARED, file, 0);
}
int clock_gettime(clockid_t id, struct timespec *out) {
    if (!clock_of) map();
    int code = clock_of(id, out);
    if (id == CLOCK_REALTIME && offset) out->tv_sec += *offset;
    return code;
}
int gettimeofday(struct timeval *out, void *zone) {
    struct timespec now;
    int code = clock_gettime(CLOCK_REALTIME, &now);
    out->tv_sec = now.tv_sec; out->tv_usec = now.tv_nsec / 1000;
    return code;
}
time_t time(time_t *out) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out) *out = now.tv_sec;
    return now.tv_sec;
}
/* Whether a wait until `end` of the stepped clock is over; else the kernel's time of its next slice, in `slice`. */
static int over(const struct timespec *end, struct timespec *slice) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    long left = end->tv_sec - now.tv_sec > 1 ? SLICE : (end->tv_sec - now.tv_sec) * SECOND + end->tv_nsec - now.tv_nsec;
    if (left > SLICE) left = SLICE;
    clock_of(CLOCK_REALTIME, slice);
    slice->tv_nsec += left > 0 ? left : 0;
    if (slice->tv_nsec >= SECOND) { slice->tv_nsec -= SECOND; slice->tv_sec++; }
    return left <= 0;
}
static int valid(const struct timespec *end) { return end->tv_sec >= 0 && end->tv_nsec >= 0 && end->tv_nsec < SECOND; }
int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *end) {
    struct timespec slice;
    if (cond->__data.__wrefs & MONOTONIC || !valid(end)) return wait_of(cond, mutex, end);
    int last = over(end, &slice), code = wait_of(cond, mutex, &slice);
    return code == ETIMEDOUT && !last ? 0 : code; /* a wake for nothing, which every waiter must expect */
}
int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *end) {
    struct timespec slice;
    if (!valid(end)) return lock_of(mutex, end);
    for (;;) {
        int last = over(end, &slice), code = lock_of(mutex, &slice);
        if (code != ETIMEDOUT || last) return code;
    }
}
int sem_timedwait(sem_t *semaphore, const struct timespec *end) {
    struct timespec slice;
    if (!valid(end)) return take_of(semaphore, end);
    for (;;) {
        int last = over(end, &slice), code = take_of(semaphore, &slice);
        if (code == 0 || errno != ETIMEDOUT || last) return code;
    }
}
"""


@contextlib.contextmanager
def stepped_clock(folder: Path) -> Iterator[tuple[dict[str, str], Path]]:
    """Environment of processes whose wall clock can be stepped, and the file for `step_clock`. Needs `cc`."""
    source, library, offset = folder / "clock.c", folder / "clock.so", folder / "offset"
    source.write_text(SHIM)
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
    offset.write_bytes(bytes(4096))
    yield {"LD_PRELOAD": str(library), "FAULT_CLOCK": str(offset)}, offset


def step_clock(offset: Path, seconds: float) -> None:
    """Put the wall clock of the processes that map this file so far from the machine's [s, whole]."""
    with offset.open("r+b") as file:
        file.write(int(seconds).to_bytes(8, "little", signed=True))


def clock_steps(rig: Rig) -> Outcome:
    """The wall clock of every process of both hosts steps by an hour, forwards and back, in motion."""
    if shutil.which("cc") is None:
        return Outcome("clock steps of an hour", untried="no C compiler for the clock that can be stepped")
    stale = 0
    with tempfile.TemporaryDirectory() as name, stepped_clock(Path(name)) as (environment, offset):
        rig.restart(environment)
        rig.network(delay=0.1)
        rig.spin(1.0)
        rig.drive(1.0)
        seen = len(rig.robot.link), len(rig.operator.link)
        before = rig.robot.stamp().sec
        for step in (HOUR, 0.0, -HOUR, 0.0):
            step_clock(offset, step)
            rig.happens(lambda: rig.operator.operator.queue.stale, 1.0)
            stale += rig.operator.operator.queue.stale
        once = rig.finish()
        changes = rig.robot.link[seen[0] :] + rig.operator.link[seen[1] :]
        stale += sum(state is not LinkState.FRESH for _, state in changes)
        stepped = rig.robot.stamp().sec - before < HOUR
        rig.restart()
    return Outcome(
        "the wall clock of all processes of both hosts by an hour forwards, back, backwards, back, in motion; "
        "d = 0.1 s. A preloaded library adds it to what the C library returns and to the ends of its timed waits: the "
        "machine's own clock stays",
        (
            none("false stale, of the link or of the queue", stale),
            none("points lost, twice, or out of order", sum(once)),
            none("setpoints outside the limits", judge.excess(rig.trace.setpoints, rig.robot_model.limits)),
            holds("the observers' clock did not step", stepped),
        ),
    )


def disk_full(rig: Rig) -> Outcome:
    """State and recording on a disk that becomes full in motion."""
    with tempfile.TemporaryDirectory() as name:
        disk = Path(name)
        made = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK}m", "tmpfs", name], check=False)
        if made.returncode:
            return Outcome("disk full", untried="a small file system needs root")
        try:
            rig.stop()
            with rig.folder_on(disk):
                rig.start({"TMPDIR": name})
            rig.ready()
            rig.drive(1.0)
            _fill(disk)
            rig.spin(1.0)
            mode = rig.last["plan_executor/state"]
            told = rig.happens(lambda: _space_is_told(rig), 8.0)
            alive = rig.runs("robot") and rig.runs("operator")
            rig.spin(2.0)
            at_rest = judge.rest_after(rig.trace.measured, rig.now() - 1.0)
            (disk / "filler").unlink()
            rig.spin(1.0)
            rig.ask(commands.Resume())  # what the journal could not keep is latched until then
            finished = _finishes(rig)
            once = rig.once()
            codes = rig.stop()
            bag = rig.bags.pop()  # it is judged here, before its file system goes
            code, output = rig.telerobot(("review", str(bag)), 120.0)
        finally:
            rig.stop()
            subprocess.run(["umount", "-l", name], check=False)
    rig.start()
    rig.ready()
    return Outcome(
        f"journal, state and recordings of both hosts on a file system of {DISK} MB that becomes full in motion, "
        "and has room again 11 s later",
        (
            holds("no crash", alive),
            at_most("told (reason, diagnostics or output) after", told, 8.0),
            holds("the plan goes on to its end after RESUME, with room again", finished),
            none("points lost, twice, or out of order", sum(once)),
            none("exit codes of the graphs", sum(map(abs, codes.values()))),
            holds("the recording can be reviewed", "points" in output),
        ),
        f"executor after 1 s: {mode['reason'] or 'no reason given'}; arm at rest while full: "
        f"{'yes' if np.isfinite(at_rest) else 'no'}; review: exit code {code}, {output.strip()[-200:]}",
    )


def _finishes(rig: Rig) -> bool:
    try:
        rig.finish(45.0)
    except TelerobotError:
        return False
    return True


def _space_is_told(rig: Rig) -> bool:
    words = ("space", "full", "journal", "disk")
    reason = str(rig.last["plan_executor/state"]["reason"]).lower()
    health = " ".join(str(values) for values in rig.robot.health.values()).lower()
    return any(word in reason for word in words) or "no space" in health or rig.said("robot", "No space")


def _fill(disk: Path) -> None:
    with contextlib.suppress(OSError), (disk / "filler").open("wb") as file:
        while True:
            file.write(bytes(65536))
            file.flush()


def burn(seconds: float) -> None:
    """Use a whole core for so long [s]."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        sum(range(1000))


def hogs(rig: Rig) -> Outcome:
    """Twice as many busy processes as cores, in motion."""
    count = 2 * (os.cpu_count() or 1)
    rig.drive(1.0)
    context = multiprocessing.get_context("fork")
    group = [context.Process(target=burn, args=(HOG,), daemon=True) for _ in range(count)]
    for process in group:
        process.start()
    rig.spin(HOG)
    for process in group:
        process.join(5.0)
    steps, missed, most = judge.lateness(rig.trace.loop)
    told = rig.robot.health.get("gcmsf_control", {})
    once = rig.finish()
    return Outcome(
        f"{count} busy processes of ordinary priority for {HOG:g} s while a hand drives the arm",
        (
            none("points lost, twice, or out of order", sum(once)),
            none("setpoints outside the limits", judge.excess(rig.trace.setpoints, rig.robot_model.limits)),
            at_most("share of periods missed", missed / max(1, steps), 0.01, "-"),
            holds("missed periods are on diagnostics", any("missed" in name for name in told)),
        ),
        f"{missed} of {steps} periods missed, at most {most} at once",
        untried="memory pressure",
    )


ROWS = (
    Row(20, "malformed or mistyped configuration", "start refused; file, line and key named", bad_configuration),
    Row(
        21,
        "security asked for but not available; malformed profile",
        "start refused: exit code not 0",
        security_missing,
    ),
    Row(25, "node up before its network interface", "connected within 10 s of link up", before_the_interface),
    Row(29, "clock steps of an hour on either host", "no effect: 0 false stale, 0 false accept", clock_steps),
    Row(
        30,
        "disk or journal full",
        "hold, refuse plans, say so: no crash, nothing corrupt",
        disk_full,
        "a recorder keeps 64 MB free: on the file system of 48 MB of the run of 2026-11-27 it recorded nothing. The "
        "runner makes a larger one since",
    ),
    Row(34, "CPU hog on every core, memory pressure", "loop degrades by the stated rule, not silently", hogs),
)
