"""A leaf on an arm in physics on this host, in a process of its own: `telerobot macro test --follow` [US5231693]."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

import numpy as np

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.menus import Leaf, with_step
from telerobot_nodes.nodes.clients import as_texts
from telerobot_nodes.nodes.menus.leaf_runs import LeafEnd
from telerobot_nodes.nodes.menus.motion import Motion

TEST = (sys.executable, "-m", "telerobot_nodes", "macro", "test")
NICENESS = 10  # of the process: nodes that move an arm come first
ONE_STEP = "simulated"  # name of the macro that a primitive becomes


@dataclass(frozen=True)
class Situation:
    """What a simulation takes from the real arm; empty arrays: not known."""

    joints: FloatArray = field(default_factory=lambda: np.empty(0))  # (dof,) [rad] where it begins; home
    round_trip: float = 0.0  # [s] of the link to the robot
    camera_pose: FloatArray = field(default_factory=lambda: np.empty(0))  # (7,) in WORLD, for `camera.pose`

    def words(self) -> list[str]:
        """Options of `telerobot macro test`."""
        words = ["--delay", f"{max(self.round_trip, 0.0):.3f}"]
        for option, numbers in (("--start", self.joints), ("--camera", self.camera_pose)):
            if numbers.size:
                words += [option, " ".join(f"{number:.9f}" for number in numbers)]
        return words


class SimulatedRun:
    """A leaf of the menus, computed as fast as the host allows and drawn in its own time.

    A macro's run is recorded beside its file, as `telerobot macro test` records it.
    """

    def __init__(self, leaf: Leaf, values: Mapping[str, Any], robot: str, situation: Situation) -> None:
        self.progress = "simulation begins"
        self.end: LeafEnd | None = None
        self.motion = Motion()
        self._stopped = False
        self._process: subprocess.Popen[str] | None = None
        words = ["--robot", robot, "--follow", *situation.words()]
        Thread(target=self._run, args=(leaf, values, words), name=f"simulate {leaf.path}", daemon=True).start()

    def stop(self) -> None:
        """End the simulation."""
        self._stopped = True
        if self._process is not None:
            self._process.terminate()

    def _run(self, leaf: Leaf, values: Mapping[str, Any], words: list[str]) -> None:
        try:
            with TemporaryDirectory(prefix="telerobot-") as name:
                folder, macro, arguments = _macro_of(leaf, values, Path(name))
                self._follow([*TEST, macro, *arguments, "--folder", folder, *words])
        except Exception as error:  # noqa: BLE001 -- boundary of the thread: a person must see that it ended
            self.end = LeafEnd(f"not simulated: {error}", ok=False)

    def _follow(self, command: list[str]) -> None:
        pipe = subprocess.PIPE
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True) as process:
            self._process = process
            os.setpriority(os.PRIO_PROCESS, process.pid, NICENESS)
            if self._stopped:  # before it was there
                process.terminate()
            assert process.stdout is not None
            assert process.stderr is not None
            for line in process.stdout:
                self._take(json.loads(line))
            why = process.stderr.read().strip()
        if self.end is None:
            self.end = LeafEnd("simulation stopped" if self._stopped else f"not simulated: {why[-300:]}", ok=False)

    def _take(self, told: Mapping[str, Any]) -> None:
        """One line of the process: a sample, the end of a step, or the end of all."""
        if "joints" in told:
            self.motion.add(told["time"], np.array(told["joints"]))
        elif "label" in told:
            self.progress = f"simulated: {told['label']} {told['result']} ({told['elapsed']:.1f} s)"
        else:
            text = "simulated: succeeded" if told["succeeded"] else f"simulated: {told['reason']}"
            self.end = LeafEnd(text, told["succeeded"])


def _macro_of(leaf: Leaf, values: Mapping[str, Any], folder: Path) -> tuple[str, str, list[str]]:
    """Folder and name of the leaf's macro, and its arguments; a primitive becomes a macro of one step in `folder`."""
    if leaf.macro_folder is not None:
        return str(leaf.macro_folder), leaf.runs, [f"{key}={text}" for key, text in as_texts(values).items()]
    (folder / f"{ONE_STEP}.yaml").write_text(with_step("", ONE_STEP, leaf, values), encoding="utf-8")
    return str(folder), ONE_STEP, []
