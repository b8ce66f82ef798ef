"""Every skill as a play in physics: what is said before, the command, and what must then be true of the world."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from telerobot_nodes.bench.rtc.skill_truth import Seen

DOCK = (0.66, 0.27)
SURVEY = ((0.45, -0.20, 0.60), (0.50, 0.0, 0.60), (0.45, 0.20, 0.60))
WITH = " with left_arm"


@dataclass(frozen=True)
class Play:
    """One skill: texts `before`, the `text`, and whether the world `before` and `after` shows that it was done."""

    skill: str
    before: tuple[str, ...]
    text: str
    done: Callable[[Seen, Seen], bool]
    hand: tuple[float, ...] = ()  # (6,) [m/s], [rad/s] of the operator's device meanwhile


def plays(random: np.random.Generator) -> list[Play]:
    """One start of each of the 32 skills, with random amounts."""

    def near(low: float, high: float) -> float:
        return round(float(random.uniform(low, high)), 3)

    angle, swing, up, travel = near(60, 360), near(30, 70), near(0.03, 0.10), near(0.03, 0.07)
    rad, door = np.radians(angle), np.radians(swing)
    return [
        Play("approach", (), "approach module" + WITH, lambda a, b: _over(b, b.loose["module"][:2], 0.30, 0.42)),
        Play(
            "close",
            (f"open door by {swing} deg",),
            f"close door by {swing} deg",
            lambda a, b: abs(b.joints["door"]) < 0.15,
        ),
        Play(
            "comply",
            (),
            "comply left_arm along x y until time > 2 s",
            lambda a, b: _moved(a, b) < 0.01 and _took(b, 1.8),
        ),
        Play("follow", (), "follow survey" + WITH, lambda a, b: all(_passes(b, point) for point in SURVEY)),
        Play("grasp", (), "grasp module" + WITH, lambda a, b: b.held("module")),
        Play("hold", (), "hold left_arm for 2 s", lambda a, b: _moved(a, b) < 0.005 and _took(b, 1.9)),
        Play("insert", (), "insert pin into hole" + WITH, lambda a, b: b.inside("pin", "hole", 0.03)),
        Play(
            "insert_held",
            ("grasp pin" + WITH,),
            "insert pin into hole" + WITH,
            lambda a, b: b.inside("pin", "hole", 0.03),
        ),
        Play("inspect", (), "inspect module", lambda a, b: "module.pose" in b.valid),
        Play(
            "level",
            ("grasp module" + WITH, "lift module by 4 cm"),
            "level module" + WITH,
            lambda a, b: b.upright("module") > 0.9998 and abs(b.loose["module"][2] - 0.25) < 0.004,
        ),
        Play(
            "lift",
            ("grasp module" + WITH,),
            f"lift module by {up} m",
            lambda a, b: abs(_rise(a, b, "module") - up) < 0.01,
        ),
        Play("locate", (), "locate module", lambda a, b: "module.pose" in b.valid),
        Play("look", (), "look at dock", lambda a, b: True),
        Play("move", (), "move left_arm to above dock", lambda a, b: _over(b, DOCK, 0.28, 0.40)),
        Play("open", (), "open drawer" + WITH, lambda a, b: abs(b.joints["drawer"] - 0.08) < 0.02),
        Play("open", (), f"open door by {swing} deg" + WITH, lambda a, b: abs(b.joints["door"] + door) < 0.15),
        Play("pick", (), "pick module and place on dock" + WITH, lambda a, b: b.stands_at("module", DOCK, 0.25)),
        Play(
            "place",
            ("grasp module" + WITH, "lift module"),
            "place module on dock",
            lambda a, b: b.stands_at("module", DOCK, 0.25),
        ),
        Play("polish", (), "polish plate for 4 s" + WITH, lambda a, b: _pressed(b, "plate") > 2.0),
        Play(
            "pull",
            (),
            f"pull drawer by {travel} m" + WITH,
            lambda a, b: abs(b.joints["drawer"] - a.joints["drawer"] - travel) < 0.02,
        ),
        Play(
            "push",
            (),
            f"push box by {travel} m" + WITH,
            lambda a, b: abs(b.loose["box"][0] - a.loose["box"][0] - travel) < 0.02,
        ),
        Play(
            "release",
            ("grasp module" + WITH,),
            "release module",
            lambda a, b: b.forces.get("module", 0.0) < 0.5 and b.opening > 0.06,
        ),
        Play(
            "remove",
            ("insert pin into hole" + WITH,),
            "remove pin from hole" + WITH,
            lambda a, b: b.held("pin") and b.loose["pin"][2] - 0.04 > 0.27,
        ),
        Play("retract", (), f"retract left_arm by {up} m", lambda a, b: abs(b.tool[2] - a.tool[2] - up) < 0.01),
        Play(
            "return",
            ("trade left_arm to operator",),
            "return left_arm to program",
            lambda a, b: b.valid.get("left_arm.owner") == "program",
        ),
        Play("seat", (), "seat stud in thread" + WITH, lambda a, b: b.inside("stud", "thread", 0.002)),
        Play(
            "slide",
            (),
            "slide box by 3 cm" + WITH,
            lambda a, b: (
                abs(b.loose["box"][0] - a.loose["box"][0] - 0.03) < 0.01 and abs(b.loose["box"][2] - 0.25) < 0.005
            ),
        ),
        Play("tare", (), "tare left_arm", lambda a, b: b.wrench < 1.0),
        Play(
            "teleoperate",
            (),
            "teleoperate left_arm until time > 3 s",
            lambda a, b: _moved(a, b) > 0.03,
            (0.0, 0.0, -0.03, 0, 0, 0),
        ),
        Play("touch", (), "touch table" + WITH, lambda a, b: _pressed(b, "table") > 0.0),
        Play("trade", (), "trade left_arm to operator", lambda a, b: b.valid.get("left_arm.owner") == "operator"),
        Play(
            "turn",
            (),
            f"turn crank by {angle} deg" + WITH,
            lambda a, b: abs(b.joints["crank"] - a.joints["crank"] - rad) < 0.15,
        ),
        Play(
            "turn",
            (),
            "turn bolt by 90 deg clockwise" + WITH,
            lambda a, b: abs(b.joints["bolt"] - a.joints["bolt"] + 1.5708) < 0.15,
        ),
        Play("wait", (), "wait for 3 s", lambda a, b: _took(b, 2.9)),
    ]


def start_text(random: np.random.Generator) -> str:
    """Where the arm begins: over the table, somewhere around the middle of its workspace."""
    x, y, z = random.uniform((0.42, -0.15, 0.45), (0.58, 0.15, 0.55))
    return f"move left_arm to ({x:.3f}, {y:.3f}, {z:.3f}, 0, 1, 0, 0)"


def _over(seen: Seen, xy: object, low: float, high: float) -> bool:
    off = np.linalg.norm(seen.tool[:2] - np.asarray(xy))
    return bool(off < 0.01 and low < seen.tool[2] < high)


def _moved(before: Seen, after: Seen) -> float:
    return float(np.linalg.norm(after.tool[:3] - before.tool[:3]))


def _rise(before: Seen, after: Seen, name: str) -> float:
    return float(after.loose[name][2] - before.loose[name][2])


def _took(seen: Seen, seconds: float) -> bool:
    return seen.track[-1].time - seen.track[0].time >= seconds


def _passes(seen: Seen, point: tuple[float, ...]) -> bool:
    return min(float(np.linalg.norm(sample.tool - point)) for sample in seen.track) < 0.02


def _pressed(seen: Seen, name: str) -> float:
    """Time [s] in which the arm pressed on a body."""
    times = np.array([sample.time for sample in seen.track])
    pressed = np.array([sample.forces.get(name, 0.0) > 0.5 for sample in seen.track])
    return float(np.diff(times)[pressed[:-1]].sum())  # a busy machine samples unevenly
