"""A run is recorded whatever its end, and the remote robot takes only what was tested."""

import pytest

from telerobot_nodes.macros import Context, Ended, NotTestedError, Place, RecordedRun, records_of

DATE = "2026-01-01T00:00:00+00:00"


@pytest.fixture
def run(write, back):
    def run(place=Place.PHYSICS, **options):
        return RecordedRun(write(back=back), "back", {"way": 0.1}, "arm", DATE, place, **options)

    return run


def play(run, result):
    def send(step):
        if isinstance(result, BaseException):
            raise result
        return Ended(result)

    return run.play(Context, send, lambda end: None)


def test_what_succeeded_in_physics_may_run_at_the_remote_robot(run, tmp_path):
    with pytest.raises(NotTestedError):
        run(Place.REMOTE).require_test()
    run(Place.REMOTE, override=True).require_test()
    assert play(run(), "completed").succeeded
    run(Place.REMOTE).require_test()
    (record,) = records_of(tmp_path, "back")
    assert (record.succeeded, record.reason, record.date, record.arguments) == (True, "", DATE, {"way": (0.1,)})


def test_a_result_that_is_not_accepted_is_recorded_with_its_reason(run, tmp_path):
    end = play(run(Place.PRACTICE, delay=2.0), "max_force")
    (record,) = records_of(tmp_path, "back")
    assert (record.succeeded, record.reason) == (False, end.reason)
    assert (record.place, record.delay) == (Place.PRACTICE, 2.0)


def test_a_run_that_breaks_off_is_recorded_too(run, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        play(run(), KeyboardInterrupt())
    assert [record.reason for record in records_of(tmp_path, "back")] == ["KeyboardInterrupt"]


def test_a_run_that_a_person_ended_is_no_test(run, tmp_path):
    end = run().play(Context, lambda _: Ended("completed"), lambda end: None, lambda number: "back/back")
    assert not end.succeeded
    (record,) = records_of(tmp_path, "back")
    assert (record.succeeded, record.reason) == (False, "back/back: ended by a person before this step")
    with pytest.raises(NotTestedError):
        run(Place.REMOTE).require_test()
