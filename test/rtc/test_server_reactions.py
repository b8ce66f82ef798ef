"""What a reflex does to the motion under way when a measurement makes its condition true."""

from dataclasses import replace

import pytest

from telerobot_nodes.rtc.decision import Measured, ReflexWatch, Send
from telerobot_nodes.rtc.server import Reactions
from telerobot_nodes.rtc.world import Validity, Write

CALM = Measured(wrench=(0.0,) * 6)
PRESSED = Measured(wrench=(0.0, 0.0, 25.0, 0.0, 0.0, 0.0))


class Watched:
    """A cell whose primitives are watched, in place of the host of a graph; what reflexes ask of the arms is kept."""

    def __init__(self, cell):
        self.cell, self.reflexes = cell, ReflexWatch()
        self.reactions = Reactions(cell.interface, self.reflexes, self)
        self.stopped, self.slowed = [], []
        begin = cell._one

        def one(output):
            begin(output)
            if isinstance(output, Send):
                request = cell.unit.commands[output.primitive.command].request
                self.reflexes.begin(output.primitive, request, cell.now)

        cell._one = one

    def stop(self, subsystem, reason, primitive, outcome=""):
        self.stopped.append((subsystem, outcome, primitive))
        running = self.cell.executor.running[primitive]
        running.report = replace(running.report, outcome=outcome)
        running.ends = self.cell.now

    def slow(self, primitive, speed):
        self.slowed.append((primitive.number, speed))

    def begin(self, text):
        """A command in the middle of its motion."""
        number = self.cell.say(text)
        self.cell.settle(self.cell.now + 1.0)
        assert self.cell.executor.running
        return number

    def doubt(self, thing, validity):
        self.cell.database.claim("test", [thing])
        self.cell.database.write("test", [Write(f"{thing}.pose", validity=validity)], self.cell.now)

    def measure(self, measured, arm="left_arm"):
        self.cell.take(self.reactions.measured(arm, measured, self.cell.now))


@pytest.fixture
def world(cell):
    return Watched(cell)


def test_a_reflex_that_stops_ends_its_motion_once(world):
    number = world.begin("move left_arm to dock unless force > 20 then stop")
    (primitive,) = world.cell.executor.running
    world.measure(CALM)
    assert not world.stopped
    world.measure(PRESSED)
    world.measure(PRESSED)
    assert world.stopped == [("left_arm", "reflex_1", primitive)]
    world.cell.settle()
    report = world.cell.reports[number]
    assert (report.outcome, report.reason) == ("failed", "reflex: force > 20, stopped")


def test_a_measurement_of_another_arm_ends_nothing(world):
    number = world.begin("move left_arm to dock unless force > 20 then stop")
    world.measure(PRESSED, "right_arm")
    assert not world.stopped
    world.cell.settle()
    assert world.cell.reports[number].outcome == "succeeded"


def test_slow_lets_the_motion_go_on_at_the_speed_named_and_reports_it(world):
    number = world.begin("move left_arm to dock unless force > 20 then slow to 2 cm/s")
    (primitive,) = world.cell.executor.running
    world.measure(PRESSED)
    world.measure(PRESSED)  # it holds still: no second firing
    assert world.slowed == [(primitive, pytest.approx(0.02))]
    assert not world.stopped
    assert "force > 20" in world.cell.progress[-1].text
    world.cell.settle()
    assert world.cell.reports[number].outcome == "succeeded"


def test_hold_keeps_the_command_where_it_is_until_it_is_resumed(world):
    number = world.begin("move left_arm to dock unless force > 20 then hold")
    world.measure(PRESSED)
    assert world.cell.unit.commands[number].paused
    assert list(world.cell.executor.held) == list(world.cell.executor.running)
    world.cell.settle(world.cell.now + 100.0)
    assert number not in world.cell.reports
    world.cell.say("resume")
    world.cell.settle()
    assert world.cell.reports[number].outcome == "succeeded"


def test_until_ends_the_motion_as_the_command_asks(world):
    number = world.begin("move left_arm to dock until force > 20")
    world.measure(PRESSED)
    assert [outcome for _, outcome, _ in world.stopped] == ["until"]
    world.cell.settle()
    assert world.cell.reports[number].outcome == "succeeded"


@pytest.mark.parametrize(("distance", "stopped"), [(0.11, False), (0.09, True)])
@pytest.mark.parametrize("thing", ["module", "dock"])
def test_distance_is_that_to_the_place_in_the_database(world, thing, distance, stopped):
    world.begin(f"move left_arm to dock unless distance to {thing} < 10 cm then stop")
    x, y, z = world.cell.database.view.pose(thing)[:3]
    world.measure(Measured(pose=(x, y, z + distance, 0.0, 1.0, 0.0, 0.0)))
    assert bool(world.stopped) is stopped


@pytest.mark.parametrize("validity", [Validity.SUSPECT, Validity.INVALID])
def test_a_guard_whose_thing_is_lost_stops_the_motion_after_a_second(world, validity):
    world.begin("move left_arm to dock unless distance to module < 10 cm then stop")
    world.doubt("module", validity)
    far = Measured(pose=(0.0, 0.0, 0.9, 0.0, 1.0, 0.0, 0.0))
    world.measure(far)
    world.cell.now += 1.01
    assert not world.stopped
    world.measure(far)
    assert [outcome for _, outcome, _ in world.stopped] == ["sensor_loss"]


def test_a_thing_in_motion_is_still_where_the_database_has_it(world):
    world.begin("move left_arm to dock unless distance to module < 10 cm then stop")
    world.doubt("module", Validity.BUSY)
    at = world.cell.database.view.pose("module", Validity.BUSY)
    world.measure(Measured(pose=(*at[:3], 0.0, 1.0, 0.0, 0.0)))
    assert [outcome for _, outcome, _ in world.stopped] == ["reflex_1"]


def test_distance_to_an_arm_cannot_be_asked_for(world):
    number = world.cell.say("move left_arm to dock unless distance to right_arm < 10 cm then stop")
    world.cell.settle()
    assert "'right_arm' is an arm, not a place or object" in world.cell.reports[number].reason


def test_joints_that_are_measured_reach_the_database(world):
    world.begin("move left_arm to dock")
    world.measure(Measured(joints=(0.1, 0.2, 0.3, 0.0, 3.0, 0.0), pose=(0.1, 0.2, 0.3, 0.0, 1.0, 0.0, 0.0)))
    assert world.cell.interface.arms["left_arm"][1][:3] == (0.1, 0.2, 0.3)
