"""One device from its events to samples: enabling, dead zone, rates, floods, losses, unplugging and replugging."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recorded_device import END, LOST, Recorded, events, frame, mouse_3d

from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.operator.evdev import (
    NEUTRAL,
    Connection,
    DeviceParameters,
    DeviceSource,
    Enabling,
    folder_of,
    read_maps,
)
from telerobot_nodes.operator.evdev.codes import KEY
from telerobot_nodes.operator.evdev.found import InputFolder
from telerobot_nodes.operator.evdev.kernel import Event, event_bytes, events_of
from telerobot_nodes.operator.evdev.mapped import MappedDevice

FULL = 32767
TICK = 0.01  # [s]


class Play:
    """A source, its recorded device, and the time."""

    def __init__(self, root, **parameters):
        self.root, self.now, self.samples = root, 0.0, []
        self.source = DeviceSource(DeviceParameters(root=str(root), **parameters), read_maps(folder_of()))

    def run(self, seconds=0.06):
        """Samples of the next seconds."""
        first = len(self.samples)
        for _ in range(round(seconds / TICK)):
            sample = self.source.step(self.now)
            self.now += TICK
            if sample is not None:
                self.samples.append((self.now, sample))
        return [sample for _, sample in self.samples[first:]]

    def enable(self, device):
        self.run()
        device.send(BTN_TL=1)
        assert self.run()[-1].buttons[0] == 1
        assert self.source.enabling is Enabling.ENABLED


@pytest.fixture
def pad(tmp_path):
    return Recorded(tmp_path)


@pytest.fixture
def play(tmp_path):
    return Play(tmp_path)


def test_without_a_device_there_is_no_sample_and_no_error(play):
    assert play.run(2.0) == []
    assert play.source.connection is Connection.WAITING


def test_the_sticks_move_the_tool_while_the_dead_mans_button_is_held(pad, play):
    pad.plug()
    play.enable(pad)
    pad.send(ABS_Y=-32768, ABS_X=FULL, ABS_RY=-32768, ABS_RX=-32768)
    assert play.run()[-1].axes == pytest.approx((1.0, -1.0, 1.0, 0.0, 0.0, 1.0), abs=1e-4)
    pad.send(BTN_TL=0)
    assert play.run()[-1] == NEUTRAL


def test_without_the_dead_mans_button_nothing_moves(pad, play):
    pad.plug()
    play.run()
    pad.send(ABS_Y=-32768)
    assert play.run()[-1] == NEUTRAL


def test_inside_the_dead_zone_an_axis_is_at_rest_and_it_starts_from_zero_at_the_edge(pad, play):
    pad.plug()
    play.enable(pad)
    for part, expected in ((0.11, 0.0), (0.13, 0.01 / 0.88), (0.56, 0.5)):
        pad.send(ABS_Y=-round(part * FULL))
        assert play.run()[-1].axes[0] == pytest.approx(expected, abs=1e-3)


def test_what_is_already_held_or_deflected_when_it_is_found_moves_nothing_until_it_was_let_go(pad, play):
    pad.values = {"ABS_Y": -32768}
    pad.plug()
    play.run()
    pad.send(BTN_TL=1)
    assert play.run()[-1] == NEUTRAL
    assert play.source.enabling is Enabling.LET_GO
    pad.send(ABS_Y=0)
    pad.send(BTN_TL=0)
    play.run()
    assert play.source.enabling is Enabling.READY
    play.enable(pad)


def test_samples_repeat_while_nothing_changes_and_are_bounded_in_rate_while_it_floods(pad, play):
    pad.plug()
    play.enable(pad)
    still = len(play.run(2.0))
    assert 38 <= still <= 42  # 20 Hz
    before = play.source.events
    count = len(play.samples)
    for tick in range(100):  # 10 kHz for 1 s
        for value in range(100):
            pad.send(ABS_Y=-20000 - 50 * value - tick)
        play.run(TICK)
    assert play.source.events - before == 100 * 100 * 2
    assert 90 <= len(play.samples) - count <= 101  # 100 Hz
    assert play.samples[-1][1].axes[0] > 0.5
    pad.send(BTN_TL=0)
    assert play.run()[-1] == NEUTRAL  # nothing of the flood waits in front of it


def test_a_flood_faster_than_it_can_be_read_ends_late_and_never_with_motion_after_the_release(pad, play):
    pad.plug()
    play.enable(pad)
    pad.write(b"".join(frame(ABS_Y=-32768) for _ in range(1300)))  # 62 kB: as much as a pipe takes
    pad.send(BTN_TL=0)
    assert play.run(TICK)[-1].axes[0] == 1.0
    assert play.run()[-1] == NEUTRAL


def test_unplugging_ends_the_motion_in_one_neutral_sample_and_then_silence(pad, play):
    pad.plug()
    play.enable(pad)
    pad.send(ABS_Y=-32768)
    assert play.run()[-1].axes[0] == 1.0
    pad.write(frame(ABS_Y=-32768)[:31])  # it vanishes in the middle of an event
    pad.unplug()
    assert play.run() == [NEUTRAL]
    assert (play.source.connection, play.source.unplugged) == (Connection.UNPLUGGED, 1)
    assert play.run(2.0) == []


def test_replugging_is_found_and_moves_nothing_before_the_dead_mans_button_is_pressed_anew(tmp_path, pad, play):
    pad.plug()
    play.enable(pad)
    pad.send(ABS_Y=-32768)
    play.run()
    pad.unplug()
    play.run(1.0)
    again = Recorded(tmp_path, 5).plug()  # another number, as the kernel may give it
    play.run(1.0)
    assert play.source.connection is Connection.CONNECTED
    again.send(ABS_Y=-32768, BTN_TL=1)  # still held: the first report of the device
    assert set(play.run(0.5)) == {NEUTRAL}
    again.send(ABS_Y=0)
    assert set(play.run(0.5)) == {NEUTRAL}
    again.send(BTN_TL=0)
    play.run()
    play.enable(again)
    again.send(ABS_Y=-32768)
    assert play.run()[-1].axes[0] == 1.0


def test_stops_act_at_once_without_the_dead_mans_button_and_after_replugging(pad, play):
    pad.plug()
    play.run()
    pad.send(BTN_EAST=1)
    assert play.run()[-1].buttons == (0, 1, 0, 0, 0)
    pad.unplug()
    play.run(1.0)
    pad.plug()
    play.run(1.0)
    pad.send(BTN_SELECT=1)
    assert play.run()[-1].buttons == (0, 0, 1, 0, 0)


def test_a_press_between_two_samples_is_published_and_then_its_release(pad, play):
    pad.plug()
    play.run()
    pad.send(BTN_EAST=1)
    pad.send(BTN_EAST=0)
    assert [sample.buttons[1] for sample in play.run()[:2]] == [1, 0]


def test_a_release_between_two_samples_is_published_and_then_the_press(pad, play):
    pad.plug()
    play.enable(pad)
    pad.send(ABS_Y=-32768)
    play.run()
    pad.send(BTN_TL=0)
    pad.send(BTN_TL=1)
    first, second = play.run()[:2]
    assert first == NEUTRAL
    assert (second.buttons[0], second.axes[0]) == (1, 1.0)


def test_a_half_frame_moves_nothing_until_it_is_whole(pad, play):
    pad.plug()
    play.enable(pad)
    pad.write(events(ABS_Y=-32768))
    assert play.run()[-1].axes[0] == 0.0
    pad.write(END)
    assert play.run()[-1].axes[0] == 1.0


def test_after_lost_events_the_state_is_read_anew(pad, play):
    pad.plug()
    play.enable(pad)
    pad.send(ABS_Y=-32768)
    play.run()
    pad.write(LOST + events(ABS_Y=FULL) + END)  # the rest of a frame that is not whole
    assert play.run()[-1] == NEUTRAL  # a recorded device knows of no button that is down
    assert play.source.dropped == 1


def test_values_beyond_the_range_jump_to_full_deflection_and_no_further(pad, play):
    pad.plug()
    play.enable(pad)
    for value in (2**31 - 1, -(2**31), 40000):
        pad.send(ABS_Y=value)
        assert abs(play.run()[-1].axes[0]) == 1.0


@pytest.mark.lengthy
@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(0, 0x1F), st.integers(0, 0x2FF), st.integers(-(2**31), 2**31 - 1)), max_size=40))
def test_whatever_a_device_sends_samples_stay_inside_and_stops_are_obeyed(tmp_path_factory, sent):
    root = tmp_path_factory.mktemp("device")
    recorded = Recorded(root).plug()
    device = InputFolder(root).devices()[0]
    file = device.open()
    mapped = MappedDevice(read_maps(folder_of()).map_of(device), file.ranges(device.axes), ())
    file.close()
    mapped.receive([Event(*one) for one in sent if one[:2] != (KEY, 0x131)], 0.0)
    mapped.receive(events_of(END + frame(BTN_EAST=0) + frame(BTN_EAST=1))[0], 0.01)
    for sample in (mapped.sample(0.02), mapped.sample(0.03)):
        assert all(-1.0 <= value <= 1.0 for value in sample.axes)
    assert sample.buttons[1] == 1
    recorded.unplug()


def test_noise_of_unknown_events_is_ignored(pad, play):
    pad.plug()
    play.enable(pad)
    pad.write(event_bytes(0x04, 4, 7) + event_bytes(0x15, 0, 1) + event_bytes(1, 0x2FF, 1) + END)
    assert play.run()[-1].buttons == (1, 0, 0, 0, 0)


@pytest.fixture
def mouse(tmp_path):
    return mouse_3d(tmp_path, kind="REL")


def test_a_3d_mouse_is_switched_on_and_off_and_moves_all_six(mouse, play):
    mouse.plug(rumbles=False)
    play.run()
    mouse.send(REL_X=-350)
    assert play.run()[-1] == NEUTRAL
    play.run(0.5)
    mouse.send(BTN_0=1)
    mouse.send(BTN_0=0)
    assert play.run()[-1].buttons[0] == 1
    mouse.send(REL_X=-350, REL_Y=-350, REL_Z=-350, REL_RX=350, REL_RY=350, REL_RZ=350)
    assert play.run(0.03)[-1].axes == (1.0, 1.0, 1.0, -1.0, -1.0, -1.0)
    mouse.send(BTN_0=1)
    assert play.run(0.03)[-1] == NEUTRAL


def test_a_relative_axis_that_reports_nothing_is_at_rest(mouse, play):
    mouse.plug(rumbles=False)
    play.run()
    mouse.send(BTN_0=1)
    mouse.send(REL_X=-350)
    assert play.run(0.05)[-1].axes[1] == 1.0
    assert play.run(0.2)[-1].axes[1] == 0.0


def test_a_switched_on_mouse_at_rest_is_switched_off_after_a_while(mouse, play):
    mouse.plug(rumbles=False)
    play.run()
    mouse.send(BTN_0=1)
    mouse.send(BTN_0=0)
    play.run(10.0)
    mouse.send(REL_X=-350)
    assert play.run(0.05)[-1].axes[1] == 1.0
    play.run(19.0)
    assert play.source.enabling is Enabling.ENABLED
    assert play.run(2.0)[-1] == NEUTRAL
    assert play.source.enabling is Enabling.READY


def test_the_rest_of_a_switched_on_mouse_is_counted_from_the_switch(mouse, play):
    mouse.plug(rumbles=False)
    play.run(25.0)
    mouse.send(BTN_0=1)
    mouse.send(BTN_0=0)
    play.run(1.0)
    assert play.source.enabling is Enabling.ENABLED


def test_a_mouse_plugged_in_again_is_switched_off(mouse, play):
    mouse.plug(rumbles=False)
    play.run()
    mouse.send(BTN_0=1)
    play.run()
    mouse.unplug()
    play.run(1.0)
    mouse.plug(rumbles=False)
    play.run(1.0)
    mouse.send(REL_X=-350)
    assert set(play.run(0.5)) == {NEUTRAL}


def test_the_rumble_reaches_the_device_holds_while_refreshed_and_ends(pad, play):
    pad.plug()
    play.run()
    assert play.source.rumbles
    play.source.rumble(0.5, play.now)
    play.source.rumble(0.51, play.now + 0.05)  # as good as the same
    play.source.rumble(0.5, play.now + 0.3)  # before the first one ends
    play.source.rumble(0.0, play.now + 0.4)
    play.source.rumble(0.0, play.now + 0.9)
    effects, plays = pad.feedback()
    assert effects == pytest.approx([0.5, 0.5], abs=1e-4)
    assert plays == [1, 1, 0]


def test_a_device_without_motors_does_not_rumble(pad, play):
    pad.plug(rumbles=False)
    play.run()
    assert not play.source.rumbles
    play.source.rumble(1.0, play.now)
    assert pad.feedback() == ([], [])


def test_the_named_device_is_taken_and_no_other(tmp_path):
    Recorded(tmp_path, 0, "First").plug()
    second = Recorded(tmp_path, 1, "Second").plug()
    for wanted in ("second", str(second.path)):
        play = Play(tmp_path, device=wanted)
        play.run()
        assert play.source.device.name == "Second"
    play = Play(tmp_path, device="mouse_3d")
    assert play.run() == []
    link = tmp_path / "by-id"
    link.symlink_to(second.path)
    play = Play(tmp_path, device=str(link))
    play.run()
    assert play.source.device.name == "Second"


def test_a_device_that_is_not_usable_is_named_with_the_reason(tmp_path):
    Recorded(tmp_path, axes=("ABS_X", "ABS_Y")).plug()
    play = Play(tmp_path)
    assert play.run() == []
    assert "axes.linear_z: ABS_RY, ABS_RZ: this device has ABS_X, ABS_Y" in play.source.problem


def test_bad_parameters_are_refused_by_name(tmp_path):
    for values, names in (({"rate": 500.0}, "^rate"), ({"rate": 10.0}, "^repeat"), ({"repeat": 1.0}, "^repeat")):
        with pytest.raises(InvalidValueError, match=names):
            DeviceParameters(**values)
    with pytest.raises(InvalidValueError, match=r"^root"):
        Play(tmp_path / "nowhere")
