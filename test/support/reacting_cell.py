"""A workcell that reacts, without physics: the arm follows its way points, and things are where geometry puts them.

The crank goes round its axis and nowhere else, the door turns on its hinge, the drawer slides, what is held goes with
the tool, what is let go falls on what is below it. `truth` is what a person in the room would see; tests compare it
with what was asked and with what the database says.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import rtc_harness

from telerobot_nodes.core.values import interpolate, pose_from_se3, se3_from_pose
from telerobot_nodes.rtc.skills import Report
from telerobot_nodes.rtc.skills.pose_functions import axis_of, compose, inverse, shift, spun, swept, unit
from telerobot_nodes.rtc.world import Validity

FINE = 0.008  # [m], and ten times as many [rad], between the poses at which the world reacts
PLAY = 0.035  # [m] the fingers yield across a crank, a door or a drawer before the motion is stopped
REACH_OF_FINGERS = 0.03  # [m] of a grasp point along the fingers
FINGER = 0.01  # [m] half the thickness of a finger
ON_PLACE = 0.08  # [m] from the middle of a place that is still on it


@dataclass
class Truth:
    """Where things are: poses (7,) in WORLD, angles [rad], travels [m], what each arm holds."""

    poses: dict = field(default_factory=dict)
    sizes: dict = field(default_factory=dict)  # name: (width, height)
    kinds: dict = field(default_factory=dict)
    frames: dict = field(default_factory=dict)  # axis or direction of what is built in
    angle: dict = field(default_factory=dict)
    travel: dict = field(default_factory=dict)
    held: dict = field(default_factory=dict)  # arm: (object, pose of the object in the tool)
    opening: dict = field(default_factory=dict)  # gripper: [m]
    surfaces: list = field(default_factory=list)  # (x, y, z) of what carries


def truth_of(items) -> Truth:
    """The truth at the start: as the workcell file has it."""
    values = {item.key: item.value for item in items}
    truth = Truth()
    for key, value in values.items():
        name, _, attribute = key.partition(".")
        if attribute != "pose":
            continue
        if f"{name}.kind" not in values:
            truth.surfaces.append(tuple(value[:3]))
            continue
        truth.poses[name], truth.kinds[name] = np.array(value), values[f"{name}.kind"]
        truth.sizes[name] = (values[f"{name}.width"], values[f"{name}.height"])
        truth.frames[name] = np.array(values.get(f"{name}.axis", values.get(f"{name}.pull", ())))
        truth.angle[name] = truth.travel[name] = 0.0
        truth.surfaces.append((*value[:2], value[2] - 0.5 * truth.sizes[name][1]))
    return truth


class ReactingExecutor(rtc_harness.KinematicExecutor):
    """The level below, in a world that reacts."""

    def __init__(self, world, checks, faults=None):
        super().__init__(world, checks, faults)
        self.real = truth_of(world.view.query())
        self.grasp_points = {}  # object: poses of the tool in the object's frame
        self.arm_of = {}  # gripper: arm
        self.meanwhile = {}  # step: what happens in the world when it begins

    def _answer(self, primitive, fault):
        self.meanwhile.get(primitive.step, lambda: None)()
        report, duration = super()._answer(primitive, fault)
        moves = primitive.subsystem in self.joints and len(primitive.trajectory.points)
        if primitive.subsystem in ("operator", "program") or (fault is not None and not moves):
            return report, duration
        if primitive.executive == "free_grasp":
            return self._opens(primitive), duration
        if primitive.executive == "compliant_grasp":
            return self._closes(primitive), duration
        if primitive.executive == "locate":
            pose = tuple(np.asarray(self.pose(self.looking_for)).tolist())
            return Report(primitive.number, "found", readings={"pose": pose}), duration
        if moves:
            return self._goes(primitive, fault), duration
        return report, duration

    def pose(self, name):
        """Where a thing truly is."""
        for arm, (held, T_tool_thing) in self.real.held.items():
            if held == name:
                return compose(self._tool(arm), T_tool_thing)
        return self.real.poses[name]

    def _tool(self, arm):
        return self.checks.kinematics.forward(arm, self.joints[arm])

    # fingers ---------------------------------------------------------------------------------------------------

    def _opens(self, primitive):
        arm, width = self.arm_of[primitive.subsystem], float(primitive.parameters["width"])
        held = self.real.held.get(arm)
        if held is not None and width > self.real.sizes[held[0]][0] + 0.001:
            self._falls(held[0], compose(self._tool(arm), held[1]))
            del self.real.held[arm]
        elif held is not None:
            width = self.real.sizes[held[0]][0]
        self.real.opening[primitive.subsystem] = width
        return Report(primitive.number, "opened", readings={"width": width})

    def _falls(self, name, pose):
        """Down on the highest surface below it; what is built in stays."""
        self.real.poses[name] = np.array(pose)
        if self.real.kinds[name] in ("crank", "hinge", "slide"):
            return
        low = pose[2] - 0.5 * self.real.sizes[name][1]
        self.real.poses[name] = shift(pose, [0, 0, 1], self._surface(pose[:2], low) - low)

    def _surface(self, xy, below):
        near = [z for x, y, z in self.real.surfaces if np.hypot(x - xy[0], y - xy[1]) < ON_PLACE and z < below + 0.01]
        return max(near, default=0.0)

    def _closes(self, primitive):
        arm = self.arm_of[primitive.subsystem]
        opening, tool = self.real.opening.get(primitive.subsystem, 0.08), self._tool(arm)
        for name, points in self.grasp_points.items():
            width = self.real.sizes[name][0]
            for point in points:
                apart = compose(inverse(compose(self.real.poses[name], point)), tool)[:3]
                inside = abs(apart[1]) < 0.5 * (opening - width) + 1e-6 and abs(apart[2]) < REACH_OF_FINGERS
                if inside and abs(apart[0]) < 0.03 and width < opening:
                    self.real.held[arm] = (name, compose(inverse(tool), self.real.poses[name]))
                    self.real.opening[primitive.subsystem] = width
                    return Report(primitive.number, "gripped", readings={"width": width})
        self.real.opening[primitive.subsystem] = 0.0
        return Report(primitive.number, "empty", readings={"width": 0.0})

    # motion ----------------------------------------------------------------------------------------------------

    def _goes(self, primitive, fault):
        """Along the way points until the world or a fault, half way, says otherwise."""
        arm = primitive.subsystem
        poses = _finely(self.poses(primitive))
        touches = primitive.executive == "move_to_touch"
        outcome, last = ("missed" if touches else "reached"), len(poses) - 1
        if fault is not None:
            outcome, poses = fault, poses[: len(poses) // 2 + 1]
            last, touches = len(poses) - 1, False
        for i, pose in enumerate(poses):
            if touches and self._touches(arm, pose, poses[0]):
                outcome, last = "contact", i
                break
            if i and (stopped := self._reacts(arm, poses[i - 1], pose)):
                outcome, last = stopped if stopped in primitive.outcomes else "collision", i - 1
                break
        end = poses[last]
        if touches and outcome == "contact" and last:
            end = poses[last - 1]
        if primitive.executive == "compliant_motion":
            self._pushes(arm, poses[: last + 1])
        joints = self.checks.kinematics.solve(arm, end, self.joints[arm])
        track = tuple(tuple(np.asarray(p).tolist()) for p in (*poses[: last + 1], end))
        elapsed = primitive.trajectory.duration
        kept = {"force_kept": float(self._presses(arm, poses[0]))}
        return Report(
            primitive.number,
            outcome,
            tuple(joints.tolist()),
            tuple(end.tolist()),
            (0.0,) * 6,
            kept,
            elapsed,
            track=track,
        )

    def _reacts(self, arm, before, after):
        """Move what is held; an outcome when it does not follow."""
        if arm not in self.real.held:
            return ""
        name = self.real.held[arm][0]
        kind, frame = self.real.kinds[name], self.real.frames[name]
        if kind in ("crank", "hinge"):
            radius = self._handle_radius(name)
            away = compose(inverse(frame), after)[:3]
            if abs(np.hypot(away[0], away[1]) - radius) > PLAY:
                return "deviation"
            self.real.angle[name] += swept((before, after), frame)
            if kind == "hinge" and self.real.angle[name] > 0.05:  # the frame of the door
                return "force_limit"
        elif kind == "slide":
            step = after[:3] - before[:3]
            along = float(step @ unit(frame))
            if self.real.travel[name] + along < -0.005:  # it is shut
                return "force_limit"
            self.real.travel[name] += along
        elif kind == "bolt":
            self.real.angle[name] -= spun((before, after), before)
        return ""

    def _handle_radius(self, name):
        at_start = compose(self.real.poses[name], self.grasp_points[name][0])
        away = compose(inverse(self.real.frames[name]), at_start)[:3]
        return float(np.hypot(away[0], away[1]))

    def _touches(self, arm, pose, start):
        """What is held meets the surface below it; empty fingers meet the side or the top of a thing."""
        if arm in self.real.held:
            name, T_tool_thing = self.real.held[arm]
            thing = compose(pose, T_tool_thing)
            low = thing[2] - 0.5 * self.real.sizes[name][1]
            return low <= self._surface(thing[:2], low + 0.03) + 1e-3 and pose[2] < start[2] - 1e-3
        opening = self.real.opening.get(f"{arm.removesuffix('_arm')}_gripper", 0.08)
        for name, (width, height) in self.real.sizes.items():
            x, y, z = compose(inverse(self.real.poses[name]), (*pose[:3], 0, 0, 0, 1))[:3]
            inner = 0.5 * opening - 0.5 * width  # room to both sides inside open fingers
            side = abs(y) > inner and abs(y) < inner + FINE * 3 and abs(x) < 0.05
            closed = opening < 0.01 and max(abs(x), abs(y)) < 0.5 * width + FINGER
            if abs(z) < 0.5 * height + 0.02 and (closed or (opening > width and side)):
                return True
        return bool(pose[2] <= self._surface(pose[:2], pose[2]) + 1e-3 and pose[2] < start[2] - 1e-3)

    def _presses(self, arm, pose):
        """Whether something is under the tool, or under what it holds."""
        return self._touches(arm, shift(pose, [0, 0, 1], -0.01), np.asarray(pose))

    def _pushes(self, arm, poses):
        """Closed fingers move the thing in front of them."""
        if arm in self.real.held or self.real.opening.get(f"{arm.removesuffix('_arm')}_gripper", 0.08) > 0.01:
            return
        step = np.asarray(poses[-1])[:3] - np.asarray(poses[0])[:3]
        for name in self.real.poses:
            apart = self.real.poses[name][:3] - np.asarray(poses[0])[:3]
            if np.linalg.norm(apart) < 0.06 and step @ apart > 0.0:
                self.real.poses[name] = shift(self.real.poses[name], step)


def _finely(poses):
    out = [np.asarray(poses[0])]
    for pose in poses[1:]:
        T_a, T_b = se3_from_pose(out[-1]), se3_from_pose(pose)
        turn = np.linalg.norm(axis_of(out[-1], "x") - axis_of(pose, "x"))
        count = int(np.ceil(max(np.linalg.norm(np.asarray(pose)[:3] - out[-1][:3]) / FINE, turn / (10 * FINE)))) or 1
        out += [pose_from_se3(interpolate(T_a, T_b, k / count)) for k in range(1, count + 1)]
    return out


class ReactingCell(rtc_harness.Cell):
    """A cell whose world reacts."""

    def __init__(self, library, folder, **options):
        super().__init__(library, folder, executor=ReactingExecutor, **options)
        self._folder = folder
        executor, table = self.executor, library.workcell.command_objects
        executor.arm_of = {arm.gripper: name for name, arm in library.workcell.arms.items()}
        for name in executor.real.poses:
            row = table.get(("grasp", name), {})
            points = row.get("grasp_points", table["grasp", "default"]["grasp_points"])
            executor.grasp_points[name] = [np.array(point) for point in points.values()]

    def another(self) -> ReactingCell:
        """A cell of the same skills, at the start."""
        return ReactingCell(self.library, self._folder)

    @property
    def real(self) -> Truth:
        """What is so."""
        return self.executor.real

    def pose(self, name):
        """Where a thing truly is."""
        return self.executor.pose(name)

    def falsehoods(self) -> list[str]:
        """What the database calls valid and is not so."""
        view, wrong = self.database.view, []
        for name in self.real.poses:
            item = view.item(f"{name}.pose")
            if item.validity is Validity.VALID and self.real.kinds[name] not in ("crank", "hinge", "slide"):
                apart = np.linalg.norm(view.pose(name, Validity.BUSY)[:3] - self.pose(name)[:3])
                wrong += [f"{name} is {apart:.3f} m from where the database has it"] if apart > 0.015 else []
            wrong += self._wrong_number(name, "angle", 0.1) + self._wrong_number(name, "travel", 0.01)
        for arm in self.library.workcell.arms:
            said = view.item(f"{arm}.joints")
            if said.validity is Validity.VALID and np.abs(self.executor.joints[arm] - said.value).max() > 0.01:
                wrong.append(f"{arm} is not where the database has it")
            holds = self.real.held.get(arm, ("",))[0]
            said = view.item(f"{arm}.holds")
            if said.validity is Validity.VALID and said.value != holds and not (holds and said.value == "something"):
                wrong.append(f"{arm} holds {holds!r}, not {said.value!r}")
        return wrong

    def _wrong_number(self, name, attribute, tolerance):
        view, true = self.database.view, getattr(self.real, attribute)[name]
        true = -true if attribute == "angle" and self.real.kinds[name] == "hinge" else true
        if not view.has(f"{name}.{attribute}") or view.item(f"{name}.{attribute}").validity < Validity.VALID:
            return []
        said = view.item(f"{name}.{attribute}").value
        return [f"{name}.{attribute} is {true:.3f}, not {said:.3f}"] if abs(said - true) > tolerance else []
