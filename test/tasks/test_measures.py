"""The judge's measures in a scene whose true values follow from statics and geometry."""

import math

import mujoco
import pytest
from hypothesis import given
from hypothesis import strategies as st

from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.tasks.measures import Judge, Verdict
from telerobot_nodes.tasks.task import Measure

G, MASS = 9.81, 2.0
SCENE = """<mujoco><option gravity="0 0 -9.81" timestep="0.001"/>
<worldbody>
  <geom name="floor" type="plane" size="2 2 .1"/>
  <body name="base" pos="0 0 0.5" euler="0 0 90">
    <body name="turned">
      <joint name="hinge" type="hinge" axis="1 0 0" damping="1"/>
      <geom type="sphere" size="0.02" pos="0 0 1" mass="0.1"/>
    </body>
  </body>
  <body name="box" pos="1 0 0.1"><freejoint/>
    <geom type="box" size="0.1 0.1 0.1" mass="1.5"/>
    <body name="lid" pos="0.05 0 0.2"><geom type="box" size="0.05 0.1 0.1" mass="0.5"/></body>
  </body>
  <body name="ball" pos="-1 0 0.1"><freejoint/>
    <geom type="sphere" size="0.1" mass="1" condim="4" friction="1 0.5 0.0001"/>
  </body>
</worldbody></mujoco>"""


def judged(*measures):
    model = mujoco.MjModel.from_xml_string(SCENE)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data, Judge(model, data, measures)


def value_of(measure, change=lambda data: None, begin=True):
    """The measure after a change of the state."""
    model, data, judge = judged(measure)
    if begin:
        judge.begin()
    change(data)
    mujoco.mj_forward(model, data)
    judge.sample("only")
    return judge.verdicts(0.001)[0].value


def measure(of, **values):
    return Measure("m", of, "<=", 1.0, **values)


def turn(angle):
    def change(data):
        data.joint("hinge").qpos = angle

    return change


def move(offset):
    def change(data):
        data.qpos[1:4] += offset

    return change


@given(st.floats(-3.0, 3.0))
def test_a_joint_is_measured_from_its_start(angle):
    assert value_of(measure("joint", joint="hinge"), turn(angle)) == pytest.approx(angle, abs=1e-12)


@pytest.mark.parametrize("angle", [0.0, 0.3, -1.2, 3.0])
def test_tilt_and_rotation_are_angles_without_a_sign(angle):
    assert value_of(measure("tilt", body="turned"), turn(angle)) == pytest.approx(abs(angle), abs=1e-6)
    assert value_of(measure("rotation", body="turned"), turn(angle)) == pytest.approx(abs(angle), abs=1e-6)
    assert value_of(measure("tilt", body="box", frame="turned"), turn(angle)) == pytest.approx(abs(angle), abs=1e-6)


def test_a_turn_about_its_own_z_axis_is_a_rotation_and_no_tilt():
    def change(data):
        data.qpos[4:8] = [math.cos(0.2), 0.0, 0.0, math.sin(0.2)]

    assert value_of(measure("rotation", body="box"), change) == pytest.approx(0.4, abs=1e-9)
    assert value_of(measure("tilt", body="box"), change) == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"axes": ("x",)}, 1.03),  # in WORLD
        ({"axes": ("x",), "relative": True}, 0.03),
        ({"axes": ("y",), "relative": True}, -0.04),  # one axis has a sign
        ({"axes": ("x", "y"), "relative": True}, 0.05),  # several are a length
        ({"axes": ("x",), "frame": "base"}, -0.04),  # the base's x axis is WORLD's y
        ({"axes": ("y",), "frame": "base"}, -1.03),
        ({"axes": ("z",), "frame": "base"}, 0.1 - 0.5),
        ({"axes": ("x", "y"), "relative": True, "target": 0.06}, 0.01),
    ],
)
def test_a_position_is_taken_along_the_axes_of_its_frame(values, expected):
    assert value_of(measure("position", body="box", **values), move([0.03, -0.04, 0.0])) == pytest.approx(expected)


def settled(*measures, torque=0.0):
    """Averages of the last 0.5 s, when box and ball have come to rest; `torque` [N m] turns the ball about z."""
    model, data, judge = judged(*measures)
    data.body("ball").xfrc_applied[5] = torque
    judge.begin()
    for step in range(1500):
        mujoco.mj_step(model, data)
        if step >= 1000:
            judge.sample("rest")
    return [verdict.value for verdict in judge.verdicts(0.001)]


def test_contact_forces_of_a_box_at_rest_are_its_weight_with_what_it_carries():
    values = {"body": "box", "reduce": "mean"}
    force, side, x, y = settled(
        measure("force", axes=("z",), **values),
        measure("force", axes=("x", "y"), **values),
        measure("torque", axes=("x",), **values),
        measure("torque", axes=("y",), **values),
    )
    assert force == pytest.approx(MASS * G, rel=1e-3)
    assert side < 1e-3 * MASS * G
    # the lid's 0.5 kg hang 5 cm along x: the floor's force acts there, at -r x F about y
    assert x == pytest.approx(0.0, abs=1e-3)
    assert y == pytest.approx(-0.5 * G * 0.05, abs=2e-3)


def test_the_torque_of_friction_in_one_contact_point_counts():
    along_z = measure("torque", body="ball", axes=("z",), reduce="mean")
    assert settled(along_z, torque=0.3) == pytest.approx([-0.3], abs=1e-3)


def test_a_body_fixed_to_another_does_not_press_on_it_as_a_contact():
    (force,) = settled(measure("force", body="lid", reduce="max"))
    assert force == 0.0


VALUES = [3.0, -1.0, 4.0, 1.0, -5.0, 9.0, 2.0, 6.0]


@pytest.mark.parametrize(
    ("reduce", "expected"),
    [
        ("final", VALUES[-1]),
        ("max", 9.0),
        ("min", -5.0),
        ("mean", sum(VALUES) / 8),
        ("rms", math.sqrt(sum(v * v for v in VALUES) / 8)),
        ("p95", 6.0 + 0.65 * 3.0),  # 0.95 * 7 = 6.65 between the sorted values 6 and 9
    ],
)
def test_a_run_is_reduced_to_one_number(reduce, expected):
    assert reduced(reduce=reduce) == pytest.approx(expected)


def reduced(values=VALUES, labels=None, period=0.1, **options):
    model, data, judge = judged(measure("position", body="box", axes=("x",), relative=True, **options))
    judge.begin()
    x = float(data.qpos[1])
    for value, label in zip(values, labels or ["run"] * len(values), strict=True):
        data.qpos[1] = x + value
        mujoco.mj_kinematics(model, data)
        judge.sample(label)
    return judge.verdicts(period)[0].value


def test_only_the_labels_named_count():
    labels = ["a", "a", "b", "b", "c", "c", "a", "a"]
    assert reduced(labels=labels, reduce="max", during=("a", "b")) == pytest.approx(6.0)
    assert reduced(labels=labels, reduce="min", during=("b",)) == pytest.approx(1.0)
    assert math.isnan(reduced(labels=labels, reduce="min", during=("d",)))


def test_a_moving_average_comes_before_the_reduction():
    averages = [sum(VALUES[i : i + 3]) / 3 for i in range(6)]
    assert reduced(reduce="max", smooth=0.3) == pytest.approx(max(averages))
    assert reduced(reduce="final", smooth=0.3) == pytest.approx(averages[-1])
    assert math.isnan(reduced(reduce="max", smooth=0.9))  # the run is shorter than the average


def test_nothing_is_sampled_before_the_run_begins_and_a_new_run_forgets_the_last():
    assert math.isnan(value_of(measure("joint", joint="hinge"), turn(1.0), begin=False))
    _, data, judge = judged(measure("joint", joint="hinge", reduce="max"))
    for angle in (1.0, 1.2):
        judge.begin()
        data.joint("hinge").qpos = angle
        judge.sample("run")
    assert judge.labels == ["run"]
    assert judge.verdicts(0.1)[0].value == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("value", "op", "met"),
    [
        (1.0, "<=", True),
        (1.1, "<=", False),
        (1.0, ">=", True),
        (0.9, ">=", False),
        (math.nan, "<=", False),
        (math.nan, ">=", False),
    ],
)
def test_a_verdict_keeps_its_limit_and_nothing_measured_is_not_met(value, op, met):
    assert Verdict("m", value, op, 1.0, "").met is met


@pytest.mark.parametrize(
    ("values", "field", "name"),
    [
        ({"of": "joint", "joint": "elbow"}, "success.m.joint", "elbow"),
        ({"of": "position", "body": "crate"}, "success.m.body", "crate"),
        ({"of": "force", "body": "box", "frame": "sky"}, "success.m.frame", "sky"),
    ],
)
def test_a_name_that_the_scene_does_not_have_is_rejected_with_its_field(values, field, name):
    with pytest.raises(InvalidValueError, match=rf"{field}.*{name}.*a name of the scene"):
        judged(measure(**values))
