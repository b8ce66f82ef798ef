"""What a person wants of the cell, skill by skill: texts, what must be so afterwards, and nothing false believed."""

import numpy as np

from telerobot_nodes.rtc.world import Validity

TURN = 2 * np.pi
HOME = (0.2, 0.0, 0.7, 0.0, np.pi, 0.0)  # of the arms of a rehearsal


def near(value, wanted, tolerance=0.015):
    return bool(np.all(np.abs(np.asarray(value) - np.asarray(wanted)) < tolerance))


def ran(cell, *texts):
    """All succeed, and nothing false is believed after any of them."""
    for text in texts:
        report = cell.run(text)
        if report.outcome != "succeeded" or cell.falsehoods():
            return False
    return True


def failed(cell, text, reason=""):
    report = cell.run(text)
    return report.outcome == "failed" and reason in report.reason and not cell.falsehoods()


def pick(cell):
    done = ran(cell, "pick module and place on dock with left_arm")
    return done and near(cell.pose("module")[:3], (0.66, 0.27, 0.25)) and not cell.real.held


def place(cell):
    done = ran(cell, "grasp module with left_arm", "lift module by 10 cm") and near(cell.pose("module")[2], 0.35)
    return done and ran(cell, "place module on dock") and near(cell.pose("module")[:3], (0.66, 0.27, 0.25))


def crank(cell):
    return ran(cell, "turn crank by 720 deg with left_arm") and near(cell.real.angle["crank"], 2 * TURN, 0.15)


def crank_back(cell):
    done = ran(cell, "turn crank by 90 deg clockwise with left_arm")
    return done and near(cell.real.angle["crank"], -TURN / 4, 0.15)


def crank_twice(cell):
    return ran(cell, "turn crank by 90 deg", "turn crank by 50 deg") and near(cell.real.angle["crank"], 2.443, 0.2)


def bolt(cell):
    return ran(cell, "turn bolt by 90 deg with left_arm") and near(cell.real.angle["bolt"], TURN / 4, 0.15)


def door(cell):
    done = ran(cell, "open door by 60 deg with left_arm") and near(cell.real.angle["door"], -TURN / 6, 0.15)
    return done and ran(cell, "close door by 60 deg") and near(cell.real.angle["door"], 0.0, 0.15)


def drawer(cell):
    done = ran(cell, "open drawer by 5 cm with left_arm") and near(cell.real.travel["drawer"], 0.05)
    return done and ran(cell, "close drawer by 5 cm") and near(cell.real.travel["drawer"], 0.0)


def pull(cell):
    return ran(cell, "pull drawer by 4 cm with left_arm") and near(cell.real.travel["drawer"], 0.04)


def push(cell):
    return ran(cell, "push box by 5 cm along x with left_arm") and near(cell.pose("box")[:2], (0.50, -0.34))


def slide(cell):
    return ran(cell, "slide box by 3 cm along y with left_arm") and near(cell.pose("box")[:2], (0.45, -0.31))


def insert(cell):
    done = ran(cell, "insert pin into hole with left_arm") and near(cell.pose("pin")[:3], (0.55, -0.12, 0.26), 0.01)
    return done and ran(cell, "remove pin from hole") and near(cell.pose("pin")[2], 0.35)


def seat(cell):
    return ran(cell, "seat stud in thread with left_arm") and near(cell.real.angle["stud"], TURN / 8, 0.15)


def open_in_the_air(cell):
    done = ran(cell, "grasp module with left_arm", "lift module by 10 cm", "open gripper with left_arm")
    return done and not cell.real.held and failed(cell, "place module on dock", "does not hold")


def displaced(cell):
    cell.real.poses["module"] = cell.real.poses["module"] + np.array([0.0, -0.12, 0, 0, 0, 0, 0])
    return ran(cell, "grasp module with left_arm") and "left_arm" in cell.real.held


def too_thin(cell):
    cell.real.sizes["module"] = (0.016, 0.06)
    done = failed(cell, "grasp module with left_arm", "has not the width")
    return done and ran(cell, "open gripper with left_arm") and not cell.real.held


def met_nothing(cell):
    cell.executor.faults = {"close": ["empty"] * 9}
    return failed(cell, "grasp module with left_arm", "hold nothing")


def slips(cell):
    done = ran(cell, "grasp module with left_arm")
    cell.executor.faults = {"up": ["slip"]}
    cell.executor.real.held.clear()
    return done and failed(cell, "lift module", "slipped") and failed(cell, "place module on dock", "does not hold")


def not_found_again(cell):
    cell.real.poses["module"] = cell.real.poses["module"] + np.array([0.0, -0.12, 0, 0, 0, 0, 0])
    cell.executor.faults = {"look_again": ["not_found"] * 9, "look_once_more": ["not_found"] * 9}
    return failed(cell, "grasp module with left_arm")


def stopped_half_way(cell):
    cell.executor.faults = {"round": ["force_limit"]}
    return crank(cell)


def stopped_for_good(cell):
    cell.executor.faults = {"round": ["force_limit"] * 9}
    done = failed(cell, "turn crank by 720 deg with left_arm", "force")
    return done and near(cell.database.view.read("crank.angle"), cell.real.angle["crank"], 0.1)


def stops_and_says_it_is_there(cell):
    cell.executor.faults = {"round": ["reached"]}  # half of two turns: at the very pose where it should end
    return crank(cell)


def tool(cell):
    return cell.executor.checks.kinematics.forward("left_arm", cell.executor.joints["left_arm"])


def approach(cell):
    return ran(cell, "approach module with left_arm") and near(tool(cell)[:3], (0.70, -0.17, 0.35))


def move(cell):
    done = ran(cell, "move left_arm to above dock") and near(tool(cell)[:3], (0.66, 0.27, 0.32))
    done = done and ran(cell, "move left_arm by 5 cm up") and near(tool(cell)[:3], (0.66, 0.27, 0.37))
    done = done and ran(cell, "move guarded left_arm to above shelf") and near(tool(cell)[:3], (0.35, 0.35, 0.65))
    done = done and ran(cell, "move left_arm to above dock interpolate task") and near(tool(cell)[:2], (0.66, 0.27))
    return done and ran(cell, "move left_arm to home") and near(cell.executor.joints["left_arm"], HOME)


def retract(cell):
    z = tool(cell)[2]
    done = ran(cell, "retract left_arm by 5 cm") and near(tool(cell)[2], z + 0.05, 0.002)
    return done and ran(cell, "retract left_arm") and near(tool(cell)[2], z + 0.15, 0.002)


def follow(cell):
    done = ran(cell, "follow survey with left_arm") and near(tool(cell)[:3], (0.45, 0.20, 0.60))
    points = np.array([point[:3] for point in cell.executor.poses(cell.executor.sent[-1])])
    stations = ((0.45, -0.20, 0.60), (0.50, 0.0, 0.60), (0.45, 0.20, 0.60))
    return done and all(np.linalg.norm(points - station, axis=1).min() < 0.01 for station in stations)


def seen_again(cell):
    cell.real.poses["module"] = cell.real.poses["module"] + np.array([0.0, -0.12, 0, 0, 0, 0, 0])
    done = ran(cell, "locate module") and near(cell.database.view.pose("module")[:2], (0.70, -0.29))
    cell.real.poses["module"] = cell.real.poses["module"] + np.array([0.0, 0.05, 0, 0, 0, 0, 0])
    return done and ran(cell, "inspect module") and near(cell.database.view.pose("module")[:2], (0.70, -0.24))


def not_in_sight(cell):
    cell.executor.faults = {"find": ["not_found"], "look": ["not_found"]}
    done = ran(cell, "locate module", "inspect module")
    cell.executor.faults = {"find": ["not_found"] * 9}
    return done and failed(cell, "locate module", "does not see")


def as_long(cell):
    texts = {"wait for 3 s": 3.0, "hold left_arm for 2 s": 2.0, "comply left_arm along x y": 10.0}
    return all(near(cell.run(text).elapsed, seconds, 0.3) for text, seconds in texts.items())


def traded(cell):
    done = ran(cell, "trade left_arm to operator") and failed(cell, "retract left_arm", "operator's")
    done = done and cell.database.view.item("left_arm.joints").validity is Validity.SUSPECT
    return done and ran(cell, "return left_arm to program", "retract left_arm")


def touch(cell):
    done = ran(cell, "touch table with left_arm")
    return done and tool(cell)[2] < 0.24 and near(tool(cell)[:2], (0.64, 0.40))


def touched_nothing(cell):
    cell.executor.faults = {"feel": ["missed"] * 9}
    return failed(cell, "touch table with left_arm", "nothing was touched")


def touched_far_off(cell):
    """The fingers meet something 10 cm too early, on the way down to the dock: nothing is let go there."""
    cell.real.surfaces.append((0.66, 0.27, 0.36))
    return failed(cell, "pick module and place on dock with left_arm", "too far from where it should be")


def came_down_early(cell):
    """On the dock lies something of 3 cm: what is carried is neither let go on it nor believed to be on the dock."""
    cell.real.surfaces.append((0.66, 0.27, 0.25))
    return failed(cell, "pick module and place on dock with left_arm", "did not come down") and bool(cell.real.held)


def put_down_early(cell):
    cell.real.surfaces.append((0.66, 0.27, 0.25))
    done = ran(cell, "grasp module with left_arm", "lift module")
    return done and failed(cell, "place module on dock", "did not come down") and bool(cell.real.held)


def pressed_on_nothing(cell):
    """What is to be polished gives way as soon as it is pressed on."""
    cell.executor.meanwhile = {"rub": cell.real.surfaces.clear}
    return failed(cell, "polish plate for 4 s with left_arm")


def slid_in_the_air(cell):
    cell.executor.meanwhile = {"along": cell.real.surfaces.clear}
    return failed(cell, "slide box by 3 cm along y with left_arm", "was not pressed on")


def slid_in_the_fingers(cell):
    def shove():
        name, T_tool_thing = cell.real.held["left_arm"]
        cell.real.held["left_arm"] = (name, T_tool_thing + np.array([0.02, 0, 0, 0, 0, 0, 0]))

    cell.executor.meanwhile = {"along": shove}
    return failed(cell, "slide box by 3 cm along y with left_arm", "not where the fingers have it")


def taken_away(cell):
    """Somebody takes the box away while the arm goes the way on which it is to be pushed."""

    def take():
        cell.real.poses["box"] = cell.real.poses["box"] + np.array([0, 0.10, 0, 0, 0, 0, 0])

    cell.executor.meanwhile = {"along": take}
    return failed(cell, "push box by 5 cm along x with left_arm", "not seen where it was to go")


def polish(cell):
    done = ran(cell, "polish plate for 4 s with left_arm") and near(tool(cell)[:2], (0.62, 0.08))
    steps = {primitive.step: primitive for primitive in cell.executor.sent}
    low = cell.executor.poses(steps["rub"])[-1][2]
    return done and low < 0.24 and tool(cell)[2] > low + 0.05 and near(steps["rub"].trajectory.duration, 4.0)


def level(cell):
    done = ran(cell, "grasp module with left_arm", "lift module by 4 cm", "level module with left_arm")
    return done and near(cell.pose("module")[2], 0.25, 0.01)


def release(cell):
    done = ran(cell, "grasp module with left_arm")
    low = tool(cell)[2]
    done = done and ran(cell, "release module") and not cell.real.held and near(tool(cell)[2], low + 0.10)
    doubted = cell.database.view.item("module.pose").validity is Validity.SUSPECT
    return done and doubted and failed(cell, "release module", "does not hold")


def refused(cell):
    done = ran(cell, "grasp module with left_arm")
    for text in ("grasp box with left_arm", "push box by 5 cm with left_arm"):
        done = done and failed(cell, text, "holds something")
    done = done and failed(cell, "remove module from hole with left_arm", "is no pin")
    return done and failed(cell, "place pin on dock with left_arm", "does not hold")


def empty_hand(cell):
    return failed(cell, "lift module with left_arm", "does not hold") and failed(
        cell, "release module with left_arm", "does not hold"
    )


def already_held(cell):
    done = ran(cell, "grasp module with left_arm", "lift module by 4 cm")
    return done and ran(cell, "grasp module with left_arm") and near(cell.pose("module")[2], 0.29)


# Command, the step that goes wrong once, how: it is done all the same.
TROUBLES = [
    ("grasp module with left_arm", "grasp_init", "blocked"),
    ("grasp module with left_arm", "to_approach", "collision"),
    ("grasp module with left_arm", "move_in", "collision"),
    ("grasp module with left_arm", "touch_1", "missed"),
    ("grasp module with left_arm", "touch_2", "missed"),
    ("grasp module with left_arm", "close", "empty"),
    ("grasp crank with left_arm", "above", "collision"),
    ("grasp crank with left_arm", "down", "collision"),
    ("grasp crank with left_arm", "shut", "empty"),
    ("pick module and place on dock with left_arm", "raise", "collision"),
    ("pick module and place on dock with left_arm", "over", "collision"),
    ("pick module and place on dock with left_arm", "down", "missed"),
    ("pick module and place on dock with left_arm", "leave", "collision"),
    ("approach module with left_arm", "come", "collision"),
    ("move left_arm to above dock", "go", "collision"),
    ("open door by 60 deg with left_arm", "swing_it", "force_limit"),
    ("open drawer by 5 cm with left_arm", "pull_it", "force_limit"),
    ("touch table with left_arm", "feel", "missed"),
    ("polish plate for 4 s with left_arm", "meet", "missed"),
    ("polish plate for 4 s with left_arm", "rub", "force_limit"),
    ("push box by 5 cm along x with left_arm", "over", "collision"),
    ("push box by 5 cm along x with left_arm", "meet", "missed"),
]  # fmt: skip


def troubled(cell):
    """Each trouble in a cell of its own; of the same skills, tables and arm."""
    for text, step, outcome in TROUBLES:
        other = cell.another()
        other.executor.faults = {step: [outcome]}
        if not ran(other, text):
            return False
    return True


# Command, and the step in which the sensors fall silent half way: it fails, and nothing false is believed.
SILENCES = [
    ("open door by 60 deg with left_arm", "swing_it"),
    ("open drawer by 5 cm with left_arm", "pull_it"),
    ("turn crank by 90 deg with left_arm", "round"),
    ("push box by 5 cm along x with left_arm", "along"),
    ("slide box by 3 cm along y with left_arm", "along"),
    ("pull drawer by 4 cm with left_arm", "drag"),
    ("pick module and place on dock with left_arm", "over"),
    ("move left_arm to above dock", "go"),
]  # fmt: skip


def silent(cell):
    for text, step in SILENCES:
        other = cell.another()
        other.executor.faults = {step: ["sensor_loss"]}
        if not failed(other, text, "sensor data were lost"):
            return False
    return True


MISSIONS = [
    pick, place, crank, crank_back, crank_twice, bolt, door, drawer, pull, push, slide, insert, seat, open_in_the_air,
    displaced, too_thin, met_nothing, slips, not_found_again, stopped_half_way, stopped_for_good,
    stops_and_says_it_is_there, approach, move, retract, follow, seen_again, not_in_sight, as_long, traded, touch,
    touched_nothing, touched_far_off, came_down_early, put_down_early, pressed_on_nothing, slid_in_the_air,
    slid_in_the_fingers, taken_away, polish, level, release, refused, empty_hand, already_held, troubled, silent,
]  # fmt: skip
