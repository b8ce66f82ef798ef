"""The operator's commands as methods, for whatever can send a command and wait for its outcome."""

from __future__ import annotations

from abc import ABC, abstractmethod

from telerobot_nodes.core.protocol import ControlMode
from telerobot_nodes.operator.client import commands
from telerobot_nodes.operator.client.commands import Command, Deed
from telerobot_nodes.operator.client.requests import Outcome


class OperatorWords(ABC):
    """One method per command; each returns its outcome, and raises InvalidValueError for a value out of range."""

    @abstractmethod
    def ask(self, command: Command) -> Outcome:
        """Send a command and wait for its outcome."""

    def clutch(self, engaged: bool) -> Outcome:
        """Time clutch. Engaged: plan time follows the hand. Disengaged: only the order of the points counts."""
        return self.ask(commands.TimeClutch(engaged))

    def position_clutch(self, engaged: bool) -> Outcome:
        """Position clutch. Disengaged: points form a trial path. Engaged again: a connecting path joins it."""
        return self.ask(commands.PositionClutch(engaged))

    def adopt(self) -> Outcome:
        """Engage the position clutch with the whole trial path."""
        return self.ask(Deed.ADOPT)

    def discard(self) -> Outcome:
        """Engage the position clutch without the trial path."""
        return self.ask(Deed.DISCARD)

    def collision_stop(self, engaged: bool) -> Outcome:
        """Engaged: the robot waits before points that are predicted to collide. Disengaged: it executes them."""
        return self.ask(commands.CollisionStop(engaged))

    def pass_singularities(self, engaged: bool) -> Outcome:
        """Engaged: the hand's path may pass singularities, as slowly as the joints need. Else it stops before them."""
        return self.ask(commands.PassSingularities(engaged))

    def brake(self, rate: float) -> Outcome:
        """Time brake: delete points from the end of the plan at `rate` [plan s/s]; 0 releases it."""
        return self.ask(commands.Brake(rate))

    def clear(self) -> Outcome:
        """Delete every point not yet executed."""
        return self.ask(commands.Clear())

    def undo(self) -> Outcome:
        """Bring back what the time brake or `clear` has deleted, until the next point is laid; releases the brake."""
        return self.ask(Deed.UNDO)

    def pause(self) -> Outcome:
        """Bring the arm to rest on its path and keep the plan."""
        return self.ask(Deed.PAUSE)

    def resume(self) -> Outcome:
        """Continue after a pause, or after a halt that the robot has confirmed."""
        return self.ask(commands.Resume())

    def reset(self) -> Outcome:
        """Release the e-stop or fault of the hardware; the arm holds."""
        return self.ask(commands.Reset())

    def tare(self) -> Outcome:
        """Take the present wrench as zero; the arm must be at rest."""
        return self.ask(commands.Tare())

    def ratio(self, value: float) -> Outcome:
        """Time ratio: plan seconds per second of the hand, 0.1 .. 10."""
        return self.ask(commands.TimeRatio(value))

    def orientation_clutch(self, engaged: bool) -> Outcome:
        """Engage: turning the hand turns the tool; disengage: the hand only moves it."""
        return self.ask(commands.OrientationClutch(engaged))

    def linear_scale(self, value: float) -> Outcome:
        """Motion of the tool per motion of the hand, 0 .. 10; 0: the hand only turns the tool."""
        return self.ask(commands.LinearScale(value))

    def angular_scale(self, value: float) -> Outcome:
        """Turning of the tool per turning of the hand, 0 .. 10."""
        return self.ask(commands.AngularScale(value))

    def rate(self, value: float) -> Outcome:
        """Rate of execution: plan seconds per second, 0.1 .. 10."""
        return self.ask(commands.Rate(value))

    def gripper(self, opening: float) -> Outcome:
        """Opening of the gripper [m] from the end of the plan on."""
        return self.ask(commands.Gripper(opening))

    def replay(self, file: str = "", speed: float = 1.0, scale: float = 0.0) -> Outcome:
        """Play a recorded hand; empty `file`: the demo's own; `scale` 0: chosen to fit the workspace."""
        return self.ask(commands.Replay(file, speed, scale))

    def stop_replay(self) -> Outcome:
        """End the replay."""
        return self.ask(commands.StopReplay())

    def set_link(self, delay: float, jitter: float = 0.0, loss: float = 0.0, outage: bool = False) -> Outcome:
        """Set the emulated link: one-way delay and its standard deviation [s], share of lost messages [-]."""
        return self.ask(commands.SetLink(delay, jitter, loss, up=not outage, down=not outage))

    def set_camera(self, camera: str = "", rate: float | None = None, budget: float | None = None) -> Outcome:
        """Request a camera, the rate of its pictures [Hz] and their byte budget [B/s]; None, empty: as it is."""
        return self.ask(commands.SetCamera(camera, rate, budget))

    def record(self, on: bool, folder: str = "") -> Outcome:
        """Begin a recording in a new folder, or end it; empty `folder`: the recorder's default, beside the others."""
        return self.ask(commands.Record(on, folder))

    def control_mode(self, mode: str) -> Outcome:
        """Who moves the arm: teleoperation, shared, supervisory, autonomous, traded. Raises InvalidValueError."""
        return self.ask(commands.Mode(ControlMode.named(mode)))

    def direct(self, on: bool) -> Outcome:
        """On: the input device moves the primitive that runs, and not the plan."""
        return self.ask(commands.Direct(on))

    def scrub(self, time: float) -> Outcome:
        """Show the simulated arm at plan time `time` [s] of the plan ahead; negative: off."""
        return self.ask(commands.Scrub(time))

    def request_control(self) -> Outcome:
        """Request authority over the plan."""
        return self.ask(Deed.REQUEST_CONTROL)

    def grant_control(self) -> Outcome:
        """Grant the request of another operator."""
        return self.ask(Deed.GRANT_CONTROL)

    def refuse_control(self) -> Outcome:
        """Refuse the request of another operator."""
        return self.ask(Deed.REFUSE_CONTROL)

    def release_control(self) -> Outcome:
        """Release authority, or withdraw the own request."""
        return self.ask(Deed.RELEASE_CONTROL)

    def take_control(self) -> Outcome:
        """Take authority without consent; for supervisors."""
        return self.ask(Deed.TAKE_CONTROL)
