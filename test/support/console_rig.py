"""A console on a thread of its own before a graph that only remembers, and pages of it in a real browser."""

import threading
import time
import traceback
from dataclasses import dataclass, field, replace

from telerobot_nodes.core.protocol import ExecutorMode
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.core.values.frames import pose_from_se3
from telerobot_nodes.operator.client import (
    HaltStage,
    LinkSetting,
    OperatorClient,
    Outcome,
    QueueStatus,
    RecorderStatus,
    Result,
    RobotStatus,
    SimulationStatus,
    commands,
)
from telerobot_nodes.operator.console import Console, ConsoleSetup
from telerobot_nodes.operator.scene import ArmShapes, Detail, load_shapes
from telerobot_nodes.operator.web import Workspaces

LIMIT = 60.0  # [s] for anything a browser must do in software rendering
COUNTED = """
window.framesDrawn = 0;
const draw = window.requestAnimationFrame.bind(window);
window.requestAnimationFrame = (frame) => draw((now) => { window.framesDrawn += 1; frame(now); });
window.pressesOnTheWay = 0;  // words of the stop bar that the console has not confirmed
const Plain = window.WebSocket;
window.WebSocket = class extends Plain {
  constructor(...where) {
    super(...where);
    this.ofBar = String(where[0]).endsWith("/stops");
    if (!this.ofBar) return;
    window.pressesOnTheWay = 0;
    this.addEventListener("message", (event) => {
      if (JSON.parse(event.data).heard !== undefined) window.pressesOnTheWay -= 1;
    });
  }
  send(word) {
    if (this.ofBar) window.pressesOnTheWay += 1;
    super.send(word);
  }
};
"""
OFFERED = frozenset(
    {
        *commands.Deed,
        commands.TimeClutch,
        commands.TimeRatio,
        commands.OrientationClutch,
        commands.LinearScale,
        commands.AngularScale,
        commands.Clear,
        commands.PositionClutch,
        commands.Brake,
        commands.Gripper,
        commands.Replay,
        commands.SetLink,
        commands.Tare,
        commands.Record,
    }
)


@dataclass
class Sink:
    """A graph that remembers what it was asked and answers at once."""

    commands: list = field(default_factory=list)
    halts: list = field(default_factory=list)
    estops: list = field(default_factory=list)
    targets: list = field(default_factory=list)
    changed: threading.Condition = field(default_factory=threading.Condition)

    def call(self, command, answer):
        self._keep(self.commands, command)
        answer(Outcome(Result.DONE), time.monotonic())

    def halt(self, number, reason):
        if number not in self.halts:
            self._keep(self.commands, commands.Halt(reason))
        self._keep(self.halts, number)

    def estop(self, number, reason):
        if number not in self.estops:
            self._keep(self.commands, commands.EStop(reason))
        self._keep(self.estops, number)

    def receipts(self):
        """Those that the robot shows once it has obeyed."""
        sent = (("operator", self.halts), ("e-stop operator", self.estops))
        return tuple((agent, numbers[-1]) for agent, numbers in sent if numbers)

    def stream(self, target):
        self._keep(self.targets, target)

    def _keep(self, where, what):
        with self.changed:
            where.append(what)
            self.changed.notify_all()

    def wait_for(self, wanted):
        with self.changed:
            assert self.changed.wait_for(lambda: any(wanted(entry) for entry in self.commands), LIMIT), self.commands

    def wait_for_target(self, wanted):
        with self.changed:
            assert self.changed.wait_for(lambda: any(wanted(entry) for entry in self.targets), LIMIT)


class RunningConsole:
    """A console on its own thread, as its node runs it; `state` is what the graph says."""

    def __init__(self):
        self.robot = load_robot("arm")
        self.sink = Sink()
        self.client = OperatorClient(self.sink, guard=threading.Lock())
        shapes = ArmShapes(load_shapes(self.robot, Detail.VISUAL), load_shapes(self.robot, Detail.COLLISION))
        self.workspaces = Workspaces("/operator_console")
        setup = ConsoleSetup(port=0, offered=OFFERED, complete=lambda text: ("grasp",), workspaces=self.workspaces)
        self.console = Console(self.client, self.robot, shapes, setup)
        self.home = pose_from_se3(self.robot.forward(self.robot.home))
        self.errors = []
        self.stepped = threading.Condition()
        self.steps = 0
        self.reset()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def reset(self):
        self.robot_status = RobotStatus(
            mode=ExecutorMode.RUNNING,
            joint_position=self.robot.home,
            tool_pose=self.home,
            authority="operator",
            halts_received=self.sink.receipts(),
        )
        self.queue_status = QueueStatus(lead=7.4, agent="operator", has_authority=True, target_pose=self.home)
        self.recorder_status = RecorderStatus(recording=True, duration=5.0, size=2_000_000, free=10**11)  # None: silent
        self.silent = False  # the robot
        self.hung = False  # the console's own thread

    def _run(self):
        while not self._stop.wait(0.04):
            if self.hung:
                continue
            now = time.monotonic()
            try:
                if not self.silent:
                    status = self.robot_status
                    if status.mode is not ExecutorMode.RUNNING:
                        status = replace(status, halts_received=self.sink.receipts())
                    self.client.receive_robot(status, now)
                self.client.receive_queue(self.queue_status, now)
                self.client.receive_simulation(SimulationStatus(head_pose=self.home), now)
                self.client.receive_link(LinkSetting(), now)
                if self.recorder_status is not None:
                    self.client.receive_recorder(self.recorder_status, now)
                self.console.step(now)
                self.client.tick(now)
                with self.stepped:
                    self.steps += 1
                    self.stepped.notify_all()
            except Exception as error:  # noqa: BLE001 -- the test fails on any of them
                self.errors.append("".join(traceback.format_exception(error)))

    def wait_for_presses(self, page):
        """Until the client has taken what was pressed in the page's stop bar."""
        page.wait_for_function("window.pressesOnTheWay === 0", polling=100)
        with self.stepped:
            first = self.steps
            assert self.stepped.wait_for(lambda: self.steps >= first + 2, LIMIT), self.errors

    def is_halt_open(self):
        """Whether the robot has not yet shown the receipt of the latest halt."""
        return self.client.halt_watch.stage is HaltStage.ASKED

    def wait_for_steps(self, wanted):
        """Until a step of the console after which `wanted()` holds."""
        with self.stepped:
            assert self.stepped.wait_for(wanted, LIMIT), self.errors

    def close(self):
        self._stop.set()
        self._thread.join()
        self.console.close()


def open_page(url, browser, width=1000, height=900):
    """A page of the console at `url`, once its stop bar knows the robot's state."""
    page = browser.new_page(viewport={"width": width, "height": height})
    page.set_default_timeout(1000.0 * LIMIT)
    page.add_init_script(COUNTED)
    page.goto(url, timeout=3000.0 * LIMIT)
    page.locator("#stops:not(.lost)").wait_for()
    page.locator("canvas").first.wait_for(timeout=2000.0 * LIMIT)
    return page
