"""[GCMSF] claims that every behaviour comes from one set of input parameters.

Here: the set, and all sources of motion at once. `test_gcmsf_*.py` beside this file show that each parameter does what
the source says, in the primitive as it runs.
"""

import ast
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from gcmsf_play import ALL, ARM, HOME, PERIOD, QUIET, SENSOR

from telerobot_nodes.motion.law import Fusion
from telerobot_nodes.motion.law import law_records as lr
from telerobot_nodes.motion.parameters import FIELDS, parameters_from

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


def test_the_set_has_every_parameter_of_the_table_in_its_group_and_a_claim_for_each():
    assert {row.source: row.group for row in FIELDS.values() if row.source} == {
        name: group for group, names in TABLE.items() for name in names.split()
    }
    assert claimed() == {f"test_{snake(name)}" for names in TABLE.values() for name in names.split()}


def claimed():
    """Names of the tests in the files beside this one."""
    trees = (ast.parse(file.read_text()) for file in Path(__file__).parent.glob("test_gcmsf_*.py"))
    names = (node.name for tree in trees for node in tree.body if isinstance(node, ast.FunctionDef))
    return {name for name in names if name.startswith("test_")}


def snake(word):
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in word)


def test_every_field_is_the_word_of_the_source_in_snake_case():
    for row in FIELDS.values():
        if row.source:
            assert row.name == snake(row.source)


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
