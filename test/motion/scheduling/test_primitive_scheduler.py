"""The desk before the loop: every primitive taken has one end; bad ones are refused whole, with field and reason."""

import numpy as np
import pytest
from scheduler_host import UP, Host

from telerobot_nodes.core.protocol import HardwareState, PrimitiveOutcome
from telerobot_nodes.errors import InvalidValueError

DOWN = [0.0, 0.0, 0.02, 0.0, 0.0, 0.0, 1.0]
FAR = [0.0, 0.0, 3.0, 0.0, 0.0, 0.0, 1.0]


@pytest.fixture
def host():
    return Host()


def outcomes(ends):
    return [(report.id, report.outcome) for report in ends]


def test_primitives_run_one_after_the_other_and_each_has_one_end(host):
    start = host.arm.copy()
    first, second = host.ask(), host.ask(tr_rel_dest=DOWN)
    ends = host.until_idle()
    assert outcomes(ends) == [(first, PrimitiveOutcome.SUCCEEDED), (second, PrimitiveOutcome.SUCCEEDED)]
    assert [report.reason for report in ends] == ["completed", "completed"]
    np.testing.assert_allclose(host.arm, start, atol=1e-3)
    phases = [report.phase for report in host.reports if report.id == first]
    assert phases[0] == "queued"
    assert "nominal" in phases
    assert phases[-1] == "ended"


def test_a_primitive_that_waits_can_be_given_up_alone(host):
    first, second, third = host.ask(), host.ask(tr_rel_dest=DOWN), host.ask()
    host.run(0.2)
    host.scheduler.stop(second, "not wanted")
    ends = host.until_idle()
    assert outcomes(ends) == [
        (second, PrimitiveOutcome.REFUSED),
        (first, PrimitiveOutcome.SUCCEEDED),
        (third, PrimitiveOutcome.SUCCEEDED),
    ]
    assert ends[0].detail == "not wanted"


def test_stopping_all_stops_the_one_that_runs_and_gives_up_those_that_wait(host):
    first, second = host.ask(), host.ask()
    host.run(0.5)
    host.scheduler.stop(0, "stop service")
    ends = host.until_idle(2.0)
    assert outcomes(ends) == [(second, PrimitiveOutcome.REFUSED), (first, PrimitiveOutcome.STOPPED)]
    assert (ends[1].reason, ends[1].detail) == ("external_stop", "stop service")


def test_what_waits_is_given_up_when_one_ends_otherwise_than_meant(host):
    first, second = host.ask(tr_rel_dest=FAR), host.ask()
    ends = host.until_idle()
    assert outcomes(ends) == [(first, PrimitiveOutcome.REFUSED), (second, PrimitiveOutcome.REFUSED)]
    assert "tr_tn_dest" in ends[0].detail
    assert f"primitive {first}" in ends[1].detail


def test_one_stopped_before_it_began_never_moves_the_arm(host):
    start = host.arm.copy()
    number = host.ask()
    host.scheduler.stop(number, "never mind")
    assert outcomes(host.until_idle()) == [(number, PrimitiveOutcome.REFUSED)]
    host.run(0.2)
    np.testing.assert_array_equal(host.arm, start)


def test_a_primitive_is_refused_while_the_hardware_is_not_ready(host):
    host.control.set_hardware(HardwareState.ESTOP, "button")
    host.run(0.05)
    host.ask()
    ends = host.until_idle(1.0)
    assert ends[0].outcome is PrimitiveOutcome.REFUSED
    assert "e-stop: button" in ends[0].detail


def test_a_primitive_that_a_halt_overtook_is_refused_until_the_resume(host):
    number = host.ask()
    host.scheduler.update(host.now, host.control.output, None, float("nan"))  # ready, then a halt comes first
    host.control.halt(1, "operator")
    ends = host.until_idle()
    assert outcomes(ends) == [(number, PrimitiveOutcome.REFUSED)]
    assert "allowed: after RESUME of halt 1" in ends[0].detail
    host.control.resume(1)
    host.run(0.05)
    again = host.ask()
    assert outcomes(host.until_idle())[1:] == [(again, PrimitiveOutcome.SUCCEEDED)]


def test_a_change_is_answered_when_the_loop_has_it(host):
    host.ask("gcm", tr_rel_dest=UP, time_vel_val=3.0, end_time=0.0)
    with pytest.raises(InvalidValueError, match="while a primitive runs"):
        host.scheduler.change({"max_force_thres": 20.0})
    host.run(0.3)
    answers = [host.scheduler.change({"max_force_thres": 20.0}), host.scheduler.change({"max_force_thres": 21.0})]
    host.run(0.1)
    assert [answer.exception(0) for answer in answers] == [None, None]
    assert host.control.primitives.executive.parameters.force.max_force_thres == 21.0
    assert host.until_idle()[-1].outcome is PrimitiveOutcome.SUCCEEDED


def test_a_change_that_would_not_do_is_refused_whole_and_the_motion_goes_on(host):
    host.ask("gcm", tr_rel_dest=UP, time_vel_val=2.0, comply_vect=[True] * 6)
    host.run(0.3)
    before = host.control.primitives.executive.parameters
    answer = host.scheduler.change({"sel_vect_fc": [True] + [False] * 5, "max_force_thres": 3.0})
    host.run(0.1)
    assert "comply_vect[0]" in str(answer.exception(0))
    assert host.control.primitives.executive.parameters is before
    with pytest.raises(InvalidValueError, match="back_off"):
        host.scheduler.change({"back_off": "return"})
    assert host.until_idle()[-1].outcome is PrimitiveOutcome.SUCCEEDED


BAD = {
    "contradictory selection": (
        "gcm",
        {"sel_vect_fc": [1, 0, 0, 0, 0, 0], "comply_vect": [1, 0, 0, 0, 0, 0]},
        "comply",
    ),
    "no SE3": ("cartesian_guarded", {"tr_tn_dest": [0.5, 0.0, 0.3, 0.0, 0.0, 0.0, 0.2]}, "tr_tn_dest"),
    "NaN in a transform": ("cartesian_guarded", {"tr_rel_dest": [float("nan"), 0, 0, 0, 0, 0, 1]}, "tr_rel_dest"),
    "NaN gain": ("gcm", {"force_gains": [float("nan")] * 6}, "force_gains"),
    "negative time": ("cartesian_guarded", {"tr_rel_dest": UP, "time_vel_val": -1.0}, "time_vel_val"),
    "negative end time": ("gcm", {"end_time": -1.0}, "end_time"),
    "unknown key": ("gcm", {"forze_gains": [0.0] * 6}, "forze_gains"),
    "unknown primitive": ("dance", {}, "name"),
    "unknown bits": ("gcm", {"select": 4096}, "select"),
    "wrong number of joints": ("joint_guarded", {"joint_dest": [0.0, 0.0]}, "joint_dest"),
    "joint beyond its limit": ("joint_guarded", {"joint_dest": [9.0] * 6}, "joint_dest"),
    "two destinations": ("gcm", {"tr_rel_dest": UP, "tr_tn_dest": UP}, "tr_rel_dest"),
    "word for a number": ("gcm", {"end_time": "soon"}, "end_time"),
}


@pytest.mark.parametrize(("name", "values", "field"), BAD.values(), ids=BAD)
@pytest.mark.lengthy
def test_a_bad_set_is_refused_at_the_door_by_its_field_and_takes_no_number(host, name, values, field):
    with pytest.raises(InvalidValueError, match=field):
        host.scheduler.submit(name, "test", values)
    assert len(host.scheduler) == 0
    assert host.reports == []
    assert host.ask() == 1
