"""A clause acts on a step, or is refused by its name before anything moves."""

import numpy as np
import pytest

REFUSED = {
    "hold left_arm for 1 s speed 0.1": "speed: hold has no step for it",
    "wait for 1 s force 5 N": "force: wait has no step",
    "move left_arm to dock stiffness 500 N/m": "stiffness: move has no step for it; allowed: with compliant motion",
    "move left_arm to dock dither 1 mm": "dither: move",
    "move left_arm to dock shared operator x program z": "shared: move",
    "move left_arm to dock mode compliant": "mode: move",
    "comply left_arm mode position": "mode: comply",
    "grasp module via dock": "via: grasp",
    "grasp module interpolate task": "interpolate: step to_approach is straight in joint space",
    "move left_arm by 5 cm up interpolate joint": "interpolate: step nudge is straight in task space",
    "look at dock unless force > 5 then stop": "a reflex is watched while an arm moves; look moves none",
    "look at dock until contact": "`until` is watched while an arm moves; look moves none",
    "locate module via operator-intervention": "via operator-intervention: locate",
    "locate module guarded": "guarded: locate",
    "move left_arm to dock accept slipping": "accept: 'slipping' is no result of move",
    "grasp module with left_arm and right_arm": "with: grasp has nothing for right_arm to do",
    "push box via operator-intervention": "via operator-intervention: step along enters the path",
    "wait for 1 s with left_arm": "with: wait has nothing for left_arm",
    "move left_arm to dock frame tool": "frame: move",
    "teleoperate left_arm maintain safe-work-range": "safe-work-range: teleoperate has no step",
    "polish plate for 1 s maintain safe-work-range shared operator x program z": "safe-work-range: the operator's hand",
    "level module against wall": "against: level does not use a place",
    "grasp module speed 0.1 via operator-intervention": "speed: grasp has no step",
    "polish plate for 1 s force 12 guarded": "allowed: above 12, which the motion keeps",
    "polish plate for 1 s unless force > 4 N then stop": "unless: max_force_thres",
    "perform 'hold' by 5 cm with left_arm": "a number of time",
    "perform 'grasp' by 5 cm": "grasp takes no amount",
}


@pytest.mark.parametrize(("text", "says"), REFUSED.items(), ids=REFUSED)
def test_a_clause_that_no_step_keeps_is_refused_by_name_and_nothing_moves(cell, text, says):
    report = cell.run(text)
    assert report.outcome in ("failed", "refused")
    assert says in report.reason
    assert cell.executor.sent == []
    assert says in cell.run(f"try {text}").reason


@pytest.mark.parametrize("arms", ["left_arm and right_arm", "right_arm"])
def test_an_arm_beside_the_one_that_is_returned_is_refused_as_named_by_with(cell, arms):
    cell.run("trade left_arm to operator")
    assert cell.run(f"return left_arm to program with {arms}").reason.startswith("with: right_arm")
    assert cell.run("place module on dock with left_arm").reason.startswith("left_arm is the operator's")


AMOUNTS = {
    "move left_arm by 30 deg up": "number of length",
    "move left_arm by 3 kg up": "number of length",
    "turn crank by 90": "needs a unit",
    "turn crank by 5 cm": "number of angle",
    "open door by 10 cm": "number of angle",
    "open door by 60": "needs a unit",
    "open drawer by 70 deg": "number of length",
    "close gripper by 10 deg with left_arm": "number of length",
    "wait for 5 cm": "number of time",
}


@pytest.mark.parametrize(("text", "says"), AMOUNTS.items(), ids=AMOUNTS)
def test_an_amount_is_of_the_kind_that_the_skill_measures(cell, text, says):
    report = cell.run(text)
    assert says in report.reason
    assert cell.executor.sent == []


def test_a_clause_acts_on_the_steps_that_can_keep_it_and_leaves_the_others(cell):
    cell.run("polish plate for 1 s with left_arm stiffness 500 N/m dither 2 mm")
    by_step = {primitive.step: primitive.parameters for primitive in cell.executor.sent}
    assert "spring_gains" in by_step["rub"]
    assert not {"spring_gains", "dither_mag"} & {*by_step["meet"], *by_step["come"]}


def test_shared_control_leaves_the_program_force_and_path_and_the_hand_its_axes(cell):
    """The hand has x and y, the program z: it keeps its force there, and nothing else drives the hand's axes."""
    cell.run("polish plate for 1 s with left_arm maintain force 5 N shared operator x y program z rx ry")
    by_step = {primitive.step: primitive.parameters for primitive in cell.executor.sent}
    assert not any("sel_vect_tp" in by_step[step] for step in ("come", "meet", "leave"))
    rub = by_step["rub"]
    assert rub["sel_vect_tp"] == (True, True, False, False, False, False)
    assert rub["sel_vect_fc"] == (False, False, True, False, False, False)
    assert rub["sel_vect_sp"] == (False, False, False, True, True, False)  # no spring against the force
    assert rub["force_setpoints"] == (0.0, 0.0, 5.0, 0.0, 0.0, 0.0)
    np.testing.assert_array_equal(np.array(rub["dither_mag"])[:2], 0.0)
    assert rub["max_force_thres"] == 30.0
    assert int(rub["select"]) & 15 == 0  # the hand's offset ends nothing


def test_an_axis_of_the_hand_keeps_no_force(cell):
    cell.run("polish plate for 1 s with left_arm shared operator z program x y")
    rub = next(primitive for primitive in cell.executor.sent if primitive.step == "rub").parameters
    assert not any(rub["sel_vect_fc"])
    assert not any(rub["force_setpoints"])
    assert rub["select"] == 0


def test_the_speed_of_a_command_bounds_the_hand(cell):
    cell.run("teleoperate left_arm speed 0.03")
    assert cell.executor.sent[-1].parameters["max_tele_vel"] == (0.03, 0.03, 0.03, 0.5, 0.5, 0.5)


def test_a_speed_in_degrees_is_a_speed_of_turning(cell):
    text = "move left_arm to (0.4, 0.0, 0.6, 0.7071068, 0.7071068, 0, 0) speed 9 deg/s"
    cell.run(text)
    assert cell.executor.sent[-1].trajectory.duration == pytest.approx(10.0, rel=0.1)


def test_a_heading_is_meant_in_the_frame_given(cell):
    cell.run("move left_arm by 5 cm up frame tool")  # the tool's z is down
    assert cell.executor.sent[-1].trajectory.points[-1][2] < cell.executor.sent[-1].trajectory.points[0][2] - 0.04


def test_the_executive_is_asked_before_anything_moves_and_when_a_step_is_bound(make_cell):
    from telerobot_nodes.errors import InvalidValueError

    cell, asked = make_cell(), []

    def check(arm, primitive):
        asked.append((arm, primitive.number > 0, primitive.step))
        if "dither_mag" in primitive.parameters and primitive.parameters["dither_mag"][2] > 0.1:
            raise InvalidValueError("dither_mag[2]", primitive.parameters["dither_mag"][2], "allowed: 0 .. 0.1 [m]")

    cell.checks.executive.check_primitive = check
    report = cell.run("polish plate for 1 s with left_arm dither 0.2 m")
    assert "step rub: dither: dither_mag[2]: 0.2 is not allowed" in report.reason
    assert cell.executor.sent == []
    assert [step for _, real, step in asked if not real] == ["come", "meet", "rub"]
    asked.clear()
    assert cell.run("polish plate for 1 s with left_arm").outcome == "succeeded"
    assert [step for _, real, step in asked if real] == ["come", "meet", "rub", "leave"]
