import mujoco
import numpy as np
import pytest

from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.hardware import ARM_BITS, SCENE_BITS, Coupling, Fixture, furnish
from telerobot_nodes.hardware.fixtures import TOOL, TUBE_SIDES, FixtureJoint, Shape

BOX = Shape("box", (0.1, 0.2, 0.3))


def built(*fixtures, couplings=()):
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    spec.worldbody.add_body(name="hand").add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[0.01, 0, 0])
    furnish(spec, fixtures, couplings, (ARM_BITS, SCENE_BITS), "hand")
    return spec.compile()


def bits(model, body):
    geom = int(model.body(body).geomadr[0])
    return int(model.geom_contype[geom]), int(model.geom_conaffinity[geom])


def test_a_fixture_has_its_pose_mass_and_shape_in_the_model():
    model = built(Fixture("block", (BOX,), pose=(1.0, 2.0, 3.0, 0.0, 0.0, 1.0, 0.0), mass=0.7))
    body = model.body("block")
    np.testing.assert_allclose(body.pos, [1.0, 2.0, 3.0])
    np.testing.assert_allclose(body.quat, [0.0, 0.0, 0.0, 1.0])  # MuJoCo: w first
    assert body.mass[0] == pytest.approx(0.7)
    np.testing.assert_allclose(model.geom_size[int(body.geomadr[0])], BOX.size)


def test_free_bodies_touch_everything_held_bodies_the_scene_and_others_the_arm():
    model = built(
        Fixture("free", (BOX,), joint=FixtureJoint("free")),
        Fixture("held", (BOX,), parent=TOOL),
        Fixture("on_held", (BOX,), parent="held"),
        Fixture("fixed", (BOX,)),
    )
    assert bits(model, "free") == (ARM_BITS[0] | SCENE_BITS[0], ARM_BITS[1] | SCENE_BITS[1])
    assert bits(model, "held") == bits(model, "on_held") == ARM_BITS
    assert bits(model, "fixed") == SCENE_BITS


def test_a_tube_is_a_ring_whose_inner_faces_touch_the_inner_circle():
    model = built(Fixture("tube", (Shape("tube", (0.05, 0.06, 0.1)),), mass=0.24))
    body = model.body("tube")
    assert body.geomnum[0] == TUBE_SIDES
    for geom in range(int(body.geomadr[0]), int(body.geomadr[0]) + TUBE_SIDES):
        center, half = model.geom_pos[geom], model.geom_size[geom]
        assert np.linalg.norm(center[:2]) - half[0] == pytest.approx(0.05)
        assert half[2] == pytest.approx(0.1)
    assert body.mass[0] == pytest.approx(0.24)


def test_a_joint_has_its_axis_span_and_friction_and_weight_is_balanced_on_request():
    joint = FixtureJoint("hinge", (0.0, 1.0, 0.0), (-0.5, 0.6), friction=0.2, damping=0.3, armature=0.4)
    model = built(Fixture("door", (BOX,), joint=joint, weightless=True))
    row = model.joint("door_joint")
    np.testing.assert_allclose(row.axis, [0.0, 1.0, 0.0])
    np.testing.assert_allclose(row.range, [-0.5, 0.6])
    dof = int(row.dofadr[0])
    assert (model.dof_frictionloss[dof], model.dof_damping[dof], model.dof_armature[dof]) == (0.2, 0.3, 0.4)
    assert model.body_gravcomp[model.body("door").id] == 1.0


def test_a_coupling_binds_two_joints_by_its_ratio():
    nut = Fixture("nut", (BOX,), joint=FixtureJoint("hinge"))
    lead = Fixture("lead", (BOX,), joint=FixtureJoint("slide", span=(0.0, 0.1)))
    model = built(nut, lead, couplings=(Coupling("lead", "nut", 0.002),))
    assert model.neq == 1
    assert model.eq_data[0, :2].tolist() == [0.0, 0.002]


def test_a_coupling_needs_fixtures_with_joints():
    with pytest.raises(InvalidValueError, match=r"coupling\.of"):
        built(
            Fixture("nut", (BOX,), joint=FixtureJoint("hinge")),
            Fixture("block", (BOX,)),
            couplings=(Coupling("nut", "block", 1.0),),
        )


def test_a_name_that_the_scene_has_already_is_rejected_by_name():
    with pytest.raises(InvalidValueError, match="name: 'hand' is not allowed; allowed: a name that no body"):
        built(Fixture("hand", (BOX,)))


def test_an_unknown_parent_is_rejected_by_name():
    with pytest.raises(InvalidValueError, match=r"block\.parent"):
        built(Fixture("block", (BOX,), parent="nowhere"))


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: Shape("cone", (0.1,)), "shape.kind"),
        (lambda: Shape("box", (0.1, 0.1)), "box.size"),
        (lambda: Shape("sphere", (-0.1,)), r"sphere.size\[0\]"),
        (lambda: Shape("tube", (0.2, 0.1, 0.1)), r"tube.size\[0\]"),
        (lambda: Shape("box", (0.1,) * 3, soft=(10.0,)), "shape.soft"),
        (lambda: FixtureJoint("ball"), "joint.kind"),
        (lambda: FixtureJoint("hinge", axis=(0.0, 0.0, 0.0)), "joint.axis"),
        (lambda: FixtureJoint("hinge", span=(1.0, 0.0)), "joint.span"),
        (lambda: FixtureJoint("hinge", friction=-1.0), "joint.friction"),
        (lambda: Fixture("block", ()), "block.shapes"),
        (lambda: Fixture("block", (BOX,), mass=0.0), "block.mass"),
    ],
)
def test_invalid_values_are_rejected_by_field(make, field):
    with pytest.raises(InvalidValueError, match=field):
        make()
