"""The planner in a process of its own, so that the node's callbacks never wait for a plan.

A thread sends one job at a time and waits for the answer. A job that exceeds its limit ends the process; the next job
starts another one, as after a crash. When the node ends, its end of the pipe closes and the worker ends.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import queue
import signal
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from telerobot_nodes.cspace.geometry import Scene
from telerobot_nodes.cspace.service import Refusal, Result
from telerobot_nodes.errors import TelerobotError

NICENESS = 5  # below the control loop and the executor
LOAD_LIMIT = 300.0  # [s] more for the first job: nothing may be compiled yet


@dataclass(frozen=True)
class WorkerOptions:
    """Options of the worker; plain values, as they are sent to another process."""

    arms: Mapping[str, tuple[str, tuple[float, ...]]]  # name -> robot, pose (7,) of its base in WORLD
    settings: Mapping[str, Any] = field(default_factory=dict)  # of PlannerSettings
    service: Mapping[str, Any] = field(default_factory=dict)  # of ServiceSettings
    cache: Path | None = None


@dataclass(frozen=True)
class Job:
    """A method of PlanningService, its arguments, and the scene to use."""

    method: str
    arguments: tuple[Any, ...]
    scene: Scene
    limit: float  # [s] after which the worker is ended


Done = Callable[[Any, float], None]  # result or Refusal, seconds taken


class PlannerWorker:
    """Jobs in, answers on `done` (called on this object's thread). `start` and `stop` once each."""

    def __init__(self, options: WorkerOptions) -> None:
        self._options = options
        self._jobs: queue.Queue[tuple[Job, Done] | None] = queue.Queue()
        self._process: Any = None
        self._pipe: Connection | None = None
        self._fresh = True
        self._stopping = False
        self._thread: threading.Thread | None = None
        self.starts = 0
        self.notes: dict[str, str] = {}  # of the cell files

    @property
    def waiting(self) -> int:
        """Number of jobs not begun."""
        return self._jobs.qsize()

    def start(self) -> None:
        """Start the thread, which starts the process; the process loads the planner at once."""
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="planner", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the process; jobs not done are answered as refused."""
        self._stopping = True
        self._jobs.put(None)
        self._end_process()
        if self._thread is not None:
            self._thread.join(timeout=2.0)

    def ask(self, job: Job, done: Done) -> None:
        """Queue a job."""
        self._jobs.put((job, done))

    @property
    def pid(self) -> int:
        """Process id of the worker, 0 without one."""
        return int(self._process.pid or 0) if self._process is not None else 0

    # on the thread -------------------------------------------------------------------------------------------

    def _run(self) -> None:
        self._begin_process()
        while (entry := self._jobs.get()) is not None and not self._stopping:
            job, done = entry
            began = time.monotonic()
            result = self._do(job)
            done(result, time.monotonic() - began)
        while not self._jobs.empty():
            left = self._jobs.get_nowait()
            if left is not None:
                left[1](Refusal("the planner is stopping"), 0.0)

    def _do(self, job: Job) -> Any:
        """The job's result, or why there is none."""
        if self._process is None or not self._process.is_alive():
            self._begin_process()
        pipe = self._pipe
        if pipe is None:
            return Refusal("the planner's process could not be started")
        try:
            pipe.send(job)
            if not pipe.poll(job.limit + (LOAD_LIMIT if self._fresh else 0.0)):
                self._end_process()
                return Refusal(f"no answer within {job.limit:g} s; the planner starts again", Result.BUDGET_SPENT)
            result, self.notes = pipe.recv()
        except (EOFError, OSError):
            self._end_process()
            return Refusal("the planner's process ended; the next request starts another one")
        self._fresh = False
        return result

    def _begin_process(self) -> None:
        if self._stopping:
            return
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(theirs, self._options), name="planner", daemon=True)
        self._process.start()
        theirs.close()
        self.starts += 1
        self._fresh = True

    def _end_process(self) -> None:
        process, pipe = self._process, self._pipe
        self._process = self._pipe = None
        if pipe is not None:
            pipe.close()
        if process is not None:
            process.terminate()
            process.join(timeout=1.0)


def _work(pipe: Connection, options: WorkerOptions) -> None:
    """The worker's process: serves until its pipe closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the node ends the worker
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with contextlib.suppress(OSError):
        os.nice(NICENESS)
    service: Any = None
    try:
        service = _service(options)
        while True:
            job: Job = pipe.recv()
            pipe.send((_result(service, job), service.cache_notes))
    except (EOFError, OSError, KeyboardInterrupt):
        os._exit(0)  # nothing is left to do; libraries are not finalized
    except TelerobotError as error:
        with contextlib.suppress(OSError):
            pipe.recv()
            pipe.send((Refusal(str(error)), {}))


def _service(options: WorkerOptions) -> Any:
    """The planner with everything it needs loaded, so that the first request does not wait for it."""
    from telerobot_nodes.core.robot import load_robot
    from telerobot_nodes.core.values import se3_from_pose
    from telerobot_nodes.cspace.search import PlannerSettings
    from telerobot_nodes.cspace.service import PlanningService, ServiceSettings, default_plugins, precompile
    from telerobot_nodes.nodes.planning.moveit_plugin import moveit_plugins

    precompile.main()
    arms = {name: load_robot(robot, None, se3_from_pose(base)) for name, (robot, base) in options.arms.items()}
    settings = ServiceSettings(planner=PlannerSettings(**options.settings), **options.service)
    service = PlanningService(arms, settings, {**default_plugins(), **moveit_plugins()}, options.cache)
    service.warm()
    return service


def _result(service: Any, job: Job) -> Any:
    """The result of the method, or the Refusal with its reason."""
    try:
        service.set_scene(job.scene)
        return getattr(service, job.method)(*job.arguments)
    except TelerobotError as error:
        return Refusal(str(error))
    except Exception as error:  # noqa: BLE001 -- process boundary: an error in one request must not affect the next
        return Refusal(f"internal error: {error!r}")
