"""[GCMSF] claims that every behaviour comes from one set of input parameters: each of them, by the source's name.

Every entry shows that the parameter does what the source says it does, in the primitive as it runs.
"""

import numpy as np
import pinocchio as pin
import pytest

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.motion.law import Fusion, Termination
from telerobot_nodes.motion.law import law_records as lr
from telerobot_nodes.motion.parameters import FIELDS, parameters_from
from telerobot_nodes.motion.primitives import Phase, Primitive

TABLE = {
    "system": "trBase massProp period",
    "trajectory": "trTnDest trNom timeVelSel timeVelVal accTime",
    "fusion": "maxSfVel transThreshold angThreshold",
    "ending": "select testTime endTime endTransErr endAngErr endTransVel endAngVel"
    " endForceErr endTorqueErr endForceVel endTorqueVel",
    "force": "trForce trSense selVectFc complyVect forceSetpoints deadZone forceGains maxForceVel"
    " minForceThres minTorqueThres maxForceThres maxTorqueThres",
    "dither": "ditherWave trDither ditherMag ditherPeriod",
    "springs": "selVectSp springGains maxSpringVel",
    "teleoperation": "teleMode trCamera trTeleop selVectTp teleGains maxTeleVel",
    "joints": "selVectLim selVectSing jsGain jsTheta jSafetyLimit",
}
NAMES = [name for names in TABLE.values() for name in names.split()]

PERIOD = 0.005
QUIET = {"max_force_thres": 0, "max_torque_thres": 0, "end_time": 100.0}
ALL = [1] * 6
ARM = load_robot("arm")
HOME = ARM.forward(ARM.home)
SENSOR = lr.sensor_in_tool(ARM)
QUARTER_Z = [0, 0, 0, 0, 0, np.sqrt(0.5), np.sqrt(0.5)]
CLAIMS = {}


def claim(name):
    def keep(function):
        CLAIMS[name] = function
        return function

    return keep


def play(seconds, q=None, wrench=(0,) * 6, hand=None, hand_rests=np.inf, **values):
    """Run a primitive with an ideal arm; a wrench at TN, the hand's velocity. Returns it with its tool poses."""
    primitive = Primitive(ARM, PERIOD)
    primitive.start(0.0, ARM.home if q is None else q, parameters_from({**QUIET, **values}))
    primitive.poses, primitive.joints = [], []
    at_sensor = SENSOR.actInv(pin.Force(np.array(wrench, float))).vector
    now = 0.0
    for _ in range(round(seconds / PERIOD)):
        now += PERIOD
        primitive.measure(primitive.setpoint.q)
        primitive.set_wrench(now, at_sensor)
        if hand is not None and now <= hand_rests:
            primitive.teleoperate(PERIOD * np.array(hand, float))
        going = primitive.step(now)
        primitive.poses.append(ARM.forward(primitive.setpoint.q))
        primitive.joints.append(primitive.setpoint.q.copy())
        primitive.now = now
        if not going:
            break
    return primitive


def moved(primitive):
    """How the tool moved (6,), seen from where it began: offset [m], rotation vector [rad]."""
    T = primitive.poses[0].actInv(primitive.poses[-1]) if len(primitive.poses) > 1 else pin.SE3.Identity()
    T = HOME.actInv(primitive.poses[-1]) if primitive.joints[0] is not None else T
    return np.concatenate((T.translation, pin.log3(T.rotation)))


def along(T):
    return pin.SE3ToXYZQUAT(HOME * T).tolist()


def shift(x=0.0, y=0.0, z=0.0, turn=(0, 0, 0)):
    return pin.SE3(pin.exp3(np.array(turn, float)), np.array([x, y, z]))


def test_the_set_has_every_parameter_of_the_table_in_its_group_and_a_claim_for_each():
    assert {row.source: row.group for row in FIELDS.values() if row.source} == {
        name: group for group, names in TABLE.items() for name in names.split()
    }
    assert set(CLAIMS) == set(NAMES)


def test_every_field_is_the_word_of_the_source_in_snake_case():
    for row in FIELDS.values():
        if row.source:
            snake = "".join(f"_{c.lower()}" if c.isupper() else c for c in row.source)
            assert row.name == snake


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.lengthy
def test_parameter(name):
    CLAIMS[name]()


# every source at once, against a computation of its own --------------------------------------------------------------


def frame(random, angle):
    axis = random.standard_normal(3)
    return pin.SE3(pin.exp3(angle * axis / np.linalg.norm(axis)), random.uniform(-0.1, 0.1, 3))


def small(six):
    return pin.SE3(pin.exp3(six[3:]), six[:3].copy())


def rows_of(T):
    return np.concatenate((T.translation, pin.log3(T.rotation)))


@pytest.mark.parametrize("angle", [1e-8, 1e-4, 0.5, 2.0, 3.1])
@pytest.mark.parametrize("seed", [0, 1])
def test_sources_together_add_what_each_adds_alone_by_the_equations(angle, seed):
    """Frames and the sensor motion so far turned by next to nothing, or by nearly half a turn."""
    random = np.random.default_rng(seed)
    T_nom, F, S, D, T, C, tr_del = (frame(random, angle) for _ in range(7))
    wrench, hand, size = random.normal(size=6), 1e-5 * random.normal(size=6), random.uniform(1e-5, 1e-4, 6)
    further = 1e-6 * random.normal(size=6)
    frames = {"tr_nom": T_nom, "tr_force": F, "tr_sense": S, "tr_dither": D, "tr_teleop": T, "tr_camera": C}
    values = {name: pin.SE3ToXYZQUAT(value).tolist() for name, value in frames.items()}
    fast = {"max_force_vel": [10] * 6, "max_tele_vel": [10] * 6, "max_spring_vel": [10] * 4, "max_sf_vel": [10, 10]}
    chosen = {"comply_vect": ALL, "sel_vect_tp": ALL, "sel_vect_sp": ALL, "dither_mag": size.tolist()}
    gains = {"force_gains": [1e-3] * 6, "dead_zone": [0] * 6, "spring_gains": [1, 2, 3, 3], "filter_time": 0.0}
    set_of = parameters_from(
        {**QUIET, **values, **fast, **chosen, **gains, "tele_mode": "camera", "dither_wave": "sine"}
    )
    law = Fusion(ARM, PERIOD, set_of)
    law.inputs.joint[:] = ARM.home
    law.inputs.value[lr.InputValue.NOMINAL_KIND] = lr.Nominal.STREAM
    E = tr_del.inverse()
    law.state.R[lr.StateFrame.DEL_INVERSE], law.state.p[lr.StateFrame.DEL_INVERSE] = E.rotation, E.translation
    law.inputs.six[lr.InputSix.WRENCH] = SENSOR.actInv(pin.Force(wrench)).vector
    law.inputs.six[lr.InputSix.TELE], law.inputs.six[lr.InputSix.FURTHER] = hand, further
    law.advance(0.03)

    felt = S.actInv(T_nom.actInv(pin.Force(wrench))).vector
    by_force = F * small(-1e-3 * PERIOD * felt) * F.inverse()
    turn = (HOME * T_nom * E * T).rotation.T @ C.rotation
    by_hand = T * small(np.concatenate((turn @ hand[:3], turn @ hand[3:]))) * T.inverse()
    by_dither = D * small(size * np.sin(2 * np.pi * 0.03 / np.array(set_of.dither.dither_period))) * D.inverse()
    pull = -PERIOD * np.concatenate(([1, 2, 3] * tr_del.translation, 3 * pin.log3(tr_del.rotation)))
    by_springs = small(pull).inverse()
    expected = [rows_of(source) for source in (by_force, by_hand, by_dither, by_springs)]
    for name, got, wanted in zip(("force", "hand", "dither", "springs"), law.state.source, expected, strict=False):
        np.testing.assert_allclose(got, wanted, atol=1e-9, err_msg=name)
    np.testing.assert_array_equal(law.state.source[5], further)
    np.testing.assert_allclose(law.state.six[lr.StateSix.STEP], np.sum(expected, axis=0) + further, atol=1e-8)


# system -----------------------------------------------------------------------------------------------------------


@claim("trBase")
def base():
    T_base = shift(0.5, -0.2, 0.1, (0, 0, 0.4))
    goal = T_base * HOME * shift(0.02)
    p = play(3, tr_base=pin.SE3ToXYZQUAT(T_base).tolist(), tr_tn_dest=pin.SE3ToXYZQUAT(goal).tolist())
    np.testing.assert_allclose((T_base * p.poses[-1]).homogeneous, goal.homogeneous, atol=1e-4)


@claim("massProp")
def mass():
    # the arm holds 2 kg up, 0.1 m out: without the load's properties it gives way
    weight = pin.SE3(np.eye(3), np.array([0, 0, 0.1])).act(
        pin.Force(HOME.rotation.T @ np.array([0, 0, 2 * 9.81]), np.zeros(3))
    )
    known = play(1, wrench=weight.vector, comply_vect=ALL, mass_prop=[2, 0, 0, 0.1])
    unknown = play(1, wrench=weight.vector, comply_vect=ALL)
    assert np.abs(moved(known)).max() < 1e-4 < np.abs(moved(unknown)[:3]).max()


@claim("period")
def reports():
    for period in (0.1, 0.5):
        primitive = Primitive(ARM, PERIOD)
        primitive.start(0.0, ARM.home, parameters_from({**QUIET, "period": period}))
        assert sum(primitive.report_due(t) for t in np.arange(0, 2, PERIOD)) == round(2 / period)


# trajectory -------------------------------------------------------------------------------------------------------


@claim("trTnDest")
def destination():
    p = play(7, tr_tn_dest=along(shift(0.03, -0.02, 0.01, (0.1, 0, 0.2))))
    np.testing.assert_allclose(moved(p), [0.03, -0.02, 0.01, 0.1, 0, 0.2], atol=1e-4)


@claim("trNom")
def nominal_frame():
    # a crank: the tool turns about an axis 0.1 m away, on an arc
    T_nom = shift(x=-0.1)
    goal = HOME * T_nom * shift(turn=(0, 0, 0.6)) * T_nom.inverse()
    p = play(5, tr_nom=pin.SE3ToXYZQUAT(T_nom).tolist(), tr_tn_dest=pin.SE3ToXYZQUAT(goal).tolist(), time_vel_val=0.3)
    for T in p.poses:
        seen = (HOME * T_nom).actInv(T).translation
        assert np.linalg.norm(seen) == pytest.approx(0.1, abs=1e-4)
    np.testing.assert_allclose(p.poses[-1].homogeneous, goal.homogeneous, atol=1e-4)


def arrival(**values):
    p = play(8, tr_tn_dest=along(shift(0.06)), **{**values, "end_time": 0.0})
    assert p.reason is Termination.COMPLETED
    return p.now


@claim("timeVelSel")
def time_or_velocity():
    assert arrival(time_vel_sel="time", time_vel_val=2.0) == pytest.approx(2.0, abs=0.05)
    assert arrival(time_vel_sel="velocity", time_vel_val=0.02) == pytest.approx(3.3, abs=0.05)


@claim("timeVelVal")
def time_or_velocity_value():
    assert arrival(time_vel_sel="time", time_vel_val=1.0) == pytest.approx(1.0, abs=0.05)
    assert arrival(time_vel_sel="time", time_vel_val=3.0) == pytest.approx(3.0, abs=0.05)


@claim("accTime")
def ramp():
    for acc_time in (0.2, 0.8):
        p = play(0.7 * acc_time, tr_tn_dest=along(shift(0.1)), time_vel_val=0.05, acc_time=acc_time)
        speed = (p.poses[-1].translation - p.poses[-2].translation) / PERIOD
        u = 0.7
        assert np.linalg.norm(speed) == pytest.approx(0.05 * (3 * u**2 - 2 * u**3), abs=1e-3)


# fusion -----------------------------------------------------------------------------------------------------------


@claim("maxSfVel")
def sensor_speed():
    p = play(1, hand=[1, 0, 0, 0, 0, 0], sel_vect_tp=ALL, max_tele_vel=[1] * 6, max_sf_vel=[0.02, 0.1])
    assert np.linalg.norm(moved(p)[:3]) == pytest.approx(0.02, rel=0.02)
    p = play(1, hand=[0, 0, 0, 0, 0, 1], sel_vect_tp=ALL, max_tele_vel=[1] * 6, max_sf_vel=[0.02, 0.1])
    assert np.linalg.norm(moved(p)[3:]) == pytest.approx(0.1, rel=0.02)


def stops(reason, **values):
    p = play(3, **values)
    assert p.phase is Phase.ENDED
    assert p.reason is reason
    return p


@claim("transThreshold")
def most_offset():
    p = stops(Termination.TRANS_THRESHOLD, hand=[0.05, 0, 0, 0, 0, 0], sel_vect_tp=ALL, trans_threshold=0.02)
    assert 0.02 <= np.linalg.norm(moved(p)[:3]) < 0.025


@claim("angThreshold")
def most_rotation():
    p = stops(Termination.ANG_THRESHOLD, hand=[0, 0, 0, 0.2, 0, 0], sel_vect_tp=ALL, ang_threshold=0.1)
    assert 0.1 <= np.linalg.norm(moved(p)[3:]) < 0.12


# ending -----------------------------------------------------------------------------------------------------------


@claim("select")
def bits():
    drift = {"hand": [0.01, 0, 0, 0, 0, 0], "sel_vect_tp": ALL, "end_time": 2.0, "end_trans_err": 1e-4}
    assert play(5, **drift, select=8).reason is Termination.CONDITIONS
    assert play(5, **drift, select=1).reason is Termination.END_TIME
    assert play(5, **drift, select=1 + 8).reason is Termination.END_TIME


@claim("testTime")
def averaging():
    for test_time in (0.4, 1.2):
        p = play(5, select=1, test_time=test_time, end_time=4.0)
        assert p.now == pytest.approx(test_time, abs=0.05)


@claim("endTime")
def longest():
    for end_time in (1.0, 2.0):
        p = play(5, select=4, end_trans_vel=0.0, hand=[0.01, 0, 0, 0, 0, 0], sel_vect_tp=ALL, end_time=end_time)
        assert p.reason is Termination.END_TIME
        assert p.now == pytest.approx(end_time, abs=0.05)


def ending_claim(name, bit, small, large, **values):
    """Below its limit the condition holds, above it does not."""

    def check():
        common = {**values, "select": bit, "end_time": 3.0}
        assert play(5, **common, **{name: large}).reason is Termination.CONDITIONS
        assert play(5, **common, **{name: small}).reason is Termination.END_TIME

    return check


HAND_X = {"hand": [0.01, 0, 0, 0, 0, 0], "sel_vect_tp": ALL}
TURN_X = {"hand": [0, 0, 0, 0.05, 0, 0], "sel_vect_tp": ALL}
PRESS = {"sel_vect_fc": [0, 0, 1, 0, 0, 1], "force_gains": [0] * 6, "dead_zone": [0] * 6, "wrench": [0, 0, 4, 0, 0, 2]}
CLAIMS["endTransErr"] = ending_claim("end_trans_err", 1, 0.001, 0.1, **HAND_X)
CLAIMS["endAngErr"] = ending_claim("end_ang_err", 2, 0.005, 0.5, **TURN_X)
CLAIMS["endTransVel"] = ending_claim("end_trans_vel", 4, 0.005, 0.02, **HAND_X)
CLAIMS["endAngVel"] = ending_claim("end_ang_vel", 8, 0.02, 0.1, **TURN_X)
CLAIMS["endForceErr"] = ending_claim("end_force_err", 16, 3.9, 4.1, **PRESS)
CLAIMS["endTorqueErr"] = ending_claim("end_torque_err", 32, 1.9, 2.1, **PRESS)


def changing(name, bit):
    """The error changes while the condition is tested: 10 N/s, 5 N m/s."""

    def check():
        for limit, expected in ((20.0, Termination.CONDITIONS), (1.0, Termination.END_TIME)):
            values = {k: v for k, v in PRESS.items() if k != "wrench"}
            primitive = Primitive(ARM, PERIOD)
            chosen = {**QUIET, **values, "select": bit, "end_time": 3.0, name: limit}
            primitive.start(0.0, ARM.home, parameters_from(chosen))
            now = 0.0
            while primitive.phase is not Phase.ENDED:
                now += PERIOD
                at_tn = pin.Force(np.array([0, 0, 10 * now, 0, 0, 5 * now]))
                primitive.set_wrench(now, SENSOR.actInv(at_tn).vector)
                primitive.step(now)
            assert primitive.reason is expected

    return check


CLAIMS["endForceVel"] = changing("end_force_vel", 64)
CLAIMS["endTorqueVel"] = changing("end_torque_vel", 128)


# force ------------------------------------------------------------------------------------------------------------

SOFT = {"force_gains": [1e-3] * 3 + [1e-2] * 3, "dead_zone": [0] * 6, "trans_threshold": 1.0}


@claim("trForce")
def force_frame():
    p = play(0.5, wrench=[0, 0, 0, 0, 0, -1], comply_vect=ALL, **SOFT, tr_force=[0.1, 0, 0, 0, 0, 0, 1])
    # it turns about FORCE, so the tool swings round a point 0.1 m away
    centre = np.array([0.1, 0, 0])
    T = HOME.actInv(p.poses[-1])
    assert np.linalg.norm(pin.log3(T.rotation)) > 1e-3
    np.testing.assert_allclose(T.act(centre), centre, atol=1e-4)


@claim("trSense")
def sense_frame():
    p = play(0.5, wrench=[0, 5, 0, 0, 0, 0], comply_vect=[0, 0, 0, 1, 1, 1], **SOFT, tr_sense=[0.2, 0, 0, 0, 0, 0, 1])
    # felt 0.2 m beside the line of the force, it is a moment of -1 N m about z, and gives way to it
    np.testing.assert_allclose(moved(p)[3:], [0, 0, 0.005], atol=3e-4)


@claim("selVectFc")
def force_dofs():
    values = {"sel_vect_fc": [1, 0, 0, 0, 0, 0], "force_setpoints": [5, 0, 0, 0, 0, 0], **SOFT}
    np.testing.assert_allclose(moved(play(1, **values))[:3], [0.005, 0, 0], atol=2e-4)


@claim("complyVect")
def comply_dofs():
    p = play(1, wrench=[5, 5, 5, 0, 0, 0], comply_vect=[0, 1, 0, 0, 0, 0], **SOFT)
    np.testing.assert_allclose(moved(p)[:3], [0, -0.005, 0], atol=2e-4)


@claim("forceSetpoints")
def setpoints():
    for wanted in (-4.0, 4.0):
        p = play(
            1,
            wrench=[0, 0, 1, 0, 0, 0],
            sel_vect_fc=[0, 0, 1, 0, 0, 0],
            force_setpoints=[0, 0, wanted, 0, 0, 0],
            **SOFT,
        )
        assert moved(p)[2] == pytest.approx(1e-3 * (wanted - 1.0), abs=2e-4)


@claim("deadZone")
def dead_zone():
    for zone, expected in ((0, -0.005), (2, -0.003), (6, 0.0)):
        p = play(1, wrench=[5, 0, 0, 0, 0, 0], comply_vect=ALL, **{**SOFT, "dead_zone": [zone] * 6})
        assert moved(p)[0] == pytest.approx(expected, abs=2e-4)


@claim("forceGains")
def gains():
    for gain in (1e-4, 1e-3):
        p = play(1, wrench=[5, 0, 0, 0, 0, 0], comply_vect=ALL, **{**SOFT, "force_gains": [gain] * 6})
        assert moved(p)[0] == pytest.approx(-5 * gain, rel=0.05)


@claim("maxForceVel")
def force_speed():
    p = play(1, wrench=[50, 0, 0, 0, 0, 0], comply_vect=ALL, **SOFT, max_force_vel=[0.01] * 6)
    assert moved(p)[0] == pytest.approx(-0.01, rel=0.05)


def contact_lost(name, touching, reason):
    primitive = Primitive(ARM, PERIOD)
    primitive.start(0.0, ARM.home, parameters_from({**QUIET, name: 2.0}))
    for k, scale in enumerate((0.0, 1.0, 1.0, 0.1)):
        primitive.set_wrench(0.01 * k, scale * SENSOR.actInv(pin.Force(np.array(touching, float))).vector)
        primitive.step(0.01 * k)
        assert primitive.reason is (reason if k == 3 else Termination.RUNNING)


@claim("minForceThres")
def least_force():
    contact_lost("min_force_thres", [0, 0, 5, 0, 0, 0], Termination.MIN_FORCE)


@claim("minTorqueThres")
def least_torque():
    contact_lost("min_torque_thres", [0, 0, 0, 0, 0, 5], Termination.MIN_TORQUE)


@claim("maxForceThres")
def most_force():
    stops(Termination.MAX_FORCE, wrench=[0, 6, 0, 0, 0, 0], max_force_thres=5)
    assert play(0.5, wrench=[0, 4, 0, 0, 0, 0], max_force_thres=5).reason is Termination.RUNNING


@claim("maxTorqueThres")
def most_torque():
    stops(Termination.MAX_TORQUE, wrench=[0, 0, 0, 0, 2, 0], max_torque_thres=1)
    assert play(0.5, wrench=[0, 0, 0, 0, 0.5, 0], max_torque_thres=1).reason is Termination.RUNNING


# dither -----------------------------------------------------------------------------------------------------------


def dithered(seconds=2.0, **values):
    p = play(seconds, **{"dither_mag": [2e-3, 0, 0, 0, 0, 0], "dither_period": [0.5] * 6, **values})
    return np.array([HOME.actInv(T).translation for T in p.poses])


@claim("ditherWave")
def wave_shape():
    t = PERIOD * (1 + np.arange(400))
    sine = 2e-3 * np.sin(2 * np.pi * t / 0.5)
    triangle = 2e-3 * 2 / np.pi * np.arcsin(np.sin(2 * np.pi * t / 0.5))
    np.testing.assert_allclose(dithered(dither_wave="sine")[:, 0], sine, atol=1e-4)
    np.testing.assert_allclose(dithered(dither_wave="triangle")[:, 0], triangle, atol=1e-4)
    square = dithered(dither_wave="square")[:, 0]
    assert np.mean(np.abs(np.abs(square) - 2e-3) < 2e-4) > 0.5  # the joints take their time


@claim("trDither")
def dither_frame():
    way = dithered(tr_dither=QUARTER_Z)
    assert np.ptp(way[:, 1]) == pytest.approx(4e-3, rel=0.05)
    assert np.ptp(way[:, 0]) < 2e-4


@claim("ditherMag")
def dither_size():
    for mag in (1e-3, 3e-3):
        assert np.ptp(dithered(dither_mag=[0, mag, 0, 0, 0, 0])[:, 1]) == pytest.approx(2 * mag, rel=0.05)


@claim("ditherPeriod")
def dither_time():
    for period, turns in ((0.5, 4), (1.0, 2)):
        x = dithered(dither_period=[period] * 6)[:, 0]
        rising = np.flatnonzero((x[:-1] < 0) & (x[1:] >= 0))
        assert len(rising) in (turns - 1, turns)


# springs ----------------------------------------------------------------------------------------------------------

PUSHED = {"sel_vect_tp": ALL, "hand": [0.02, 0.02, 0, 0, 0, 0.1]}


def sprung(**values):
    """The hand pushes for a second against the springs."""
    return moved(play(1.0, **PUSHED, **values))


@claim("selVectSp")
def spring_dofs():
    free = sprung()
    held = sprung(sel_vect_sp=[1, 0, 0, 0, 0, 1], spring_gains=[20] * 4, max_spring_vel=[1] * 4)
    assert abs(held[0]) < 0.2 * free[0]
    assert held[1] > 0.8 * free[1]
    # one orientation DOF, z: the z axis is held in its direction, and free to turn about itself
    assert held[5] == pytest.approx(free[5], rel=0.1)
    free, held = (
        moved(play(1.0, **{**PUSHED, "hand": [0, 0, 0, 0.1, 0, 0]}, sel_vect_sp=s, spring_gains=[20] * 4))
        for s in ([0] * 6, [0, 0, 0, 0, 0, 1])
    )
    assert abs(held[3]) < 0.2 * free[3]


@claim("springGains")
def spring_stiffness():
    stiff, soft = (sprung(sel_vect_sp=ALL, spring_gains=[k] * 4, max_spring_vel=[1] * 4) for k in (10.0, 2.0))
    # a spring k against a hand v rests at v / k
    assert stiff[0] == pytest.approx(0.02 / 10, rel=0.15)
    assert soft[0] == pytest.approx(0.02 / 2 * (1 - np.exp(-2.0)), rel=0.15)
    assert stiff[5] == pytest.approx(0.1 / 10, rel=0.15)


@claim("maxSpringVel")
def spring_speed():
    held = sprung(sel_vect_sp=ALL, spring_gains=[50] * 4, max_spring_vel=[0.01, 0.01, 0.01, 0.02])
    assert held[0] == pytest.approx(0.02 - 0.01, abs=2e-3)
    assert held[5] == pytest.approx(0.1 - 0.02, abs=5e-3)


# teleoperation ----------------------------------------------------------------------------------------------------


def handed(hand, **values):
    """The hand moves for a second; a quarter of a second later all of it has arrived."""
    return moved(play(1.25, hand=hand, hand_rests=1.0 + PERIOD / 2, **{"sel_vect_tp": ALL, **values}))


@claim("teleMode")
def mode():
    np.testing.assert_allclose(handed([0.02, 0, 0, 0, 0, 0], tele_mode="tool")[:3], [0.02, 0, 0], atol=5e-4)
    in_world = HOME.rotation @ handed([0.02, 0, 0, 0, 0, 0], tele_mode="world")[:3]
    np.testing.assert_allclose(in_world, [0.02, 0, 0], atol=5e-4)


@claim("trCamera")
def camera():
    in_world = HOME.rotation @ handed([0.02, 0, 0, 0, 0, 0], tele_mode="camera", tr_camera=QUARTER_Z)[:3]
    np.testing.assert_allclose(in_world, [0, 0.02, 0], atol=5e-4)


@claim("trTeleop")
def teleop_frame():
    np.testing.assert_allclose(handed([0.02, 0, 0, 0, 0, 0], tr_teleop=QUARTER_Z)[:3], [0, 0.02, 0], atol=5e-4)
    way = handed([0, 0, 0, 0, 0, 0.2], tr_teleop=[0.1, 0, 0, 0, 0, 0, 1])
    T = pin.SE3(pin.exp3(way[3:]), way[:3])
    np.testing.assert_allclose(T.act(np.array([0.1, 0, 0])), [0.1, 0, 0], atol=1e-3)


@claim("selVectTp")
def tele_dofs():
    way = handed([0.02, 0.02, 0.02, 0.1, 0.1, 0.1], sel_vect_tp=[0, 1, 0, 0, 0, 0])
    np.testing.assert_allclose(way, [0, 0.02, 0, 0, 0, 0], atol=5e-4)


@claim("teleGains")
def tele_scale():
    way = handed([0.02, 0.02, 0, 0, 0, 0], tele_gains=[0.5, -1, 1, 1, 1, 1])
    np.testing.assert_allclose(way[:2], [0.01, -0.02], atol=5e-4)


@claim("maxTeleVel")
def tele_speed():
    way = moved(play(1.0, hand=[1.0, 0, 0, 0, 0, 0], sel_vect_tp=ALL, max_tele_vel=[0.03] * 6))
    assert way[0] == pytest.approx(0.03, rel=0.03)


# joints -----------------------------------------------------------------------------------------------------------


def near_limit():
    q = ARM.home.copy()
    q[0] = ARM.limits.upper[0] - 0.05
    return q


def first_joint(seconds=1.0, **values):
    return play(seconds, q=near_limit(), **values).joints[-1][0] - near_limit()[0]


@claim("selVectLim")
def limit_joints():
    assert first_joint(sel_vect_lim=[1, 0, 0, 0, 0, 0]) < -0.01
    assert first_joint(sel_vect_lim=[0, 1, 1, 0, 0, 0]) == pytest.approx(0.0, abs=1e-6)


def near_singularity(**values):
    q = ARM.home.copy()
    q[4] = 0.03
    p = play(1.0, q=q, trans_threshold=5, **values)
    sigma = [np.linalg.svd(ARM.jacobian(x), compute_uv=False)[-1] for x in (q, p.joints[-1])]
    return sigma[1] - sigma[0]


@claim("selVectSing")
def singular():
    assert near_singularity(sel_vect_sing=False) == pytest.approx(0.0, abs=1e-9)
    assert near_singularity(sel_vect_sing=True, js_theta=[0, 0.5]) > 1e-3


@claim("jsGain")
def field_gain():
    weak = first_joint(0.2, sel_vect_lim=ALL, js_gain=[0.0005, 0])
    strong = first_joint(0.2, sel_vect_lim=ALL, js_gain=[0.002, 0])
    assert strong < 2 * weak < 0


@claim("jsTheta")
def field_reach():
    assert first_joint(sel_vect_lim=ALL, js_theta=[0.04, 0]) == pytest.approx(0.0, abs=1e-6)
    assert first_joint(sel_vect_lim=ALL, js_theta=[0.2, 0]) < -0.01


@claim("jSafetyLimit")
def safety():
    for end, reason in ((0.03, Termination.JOINT_LIMIT), (-0.1, Termination.RUNNING)):
        goal = near_limit()
        goal[0] += end
        p = play(2, q=near_limit(), joint_dest=goal.tolist(), j_safety_limit=[0.1, 0.0])
        assert p.reason is reason
