"""The console in a real browser: what a person sees and presses."""

from __future__ import annotations

import time

import numpy as np
import pytest
from browser import chromium
from console_rig import LIMIT, RunningConsole, open_page

from telerobot_nodes.core.protocol import ExecutorMode
from telerobot_nodes.operator.client import QueueStatus, RecorderStatus, RobotStatus, commands
from telerobot_nodes.operator.view import Light

pytestmark = [
    pytest.mark.lengthy,  # starts a browser
    pytest.mark.timing("a browser draws the scene without a graphics card and has 60 s for each answer"),
]


@pytest.fixture(scope="module")
def console():
    running = RunningConsole()
    yield running
    running.close()


@pytest.fixture(scope="module")
def browser():
    with chromium() as program:
        yield program


@pytest.fixture(scope="module")
def page(console, browser):
    page = open_page(console.console.url, browser)
    yield page
    page.close()


@pytest.fixture(autouse=True)
def untroubled(console):
    console.reset()
    console.sink.commands.clear()
    console.sink.targets.clear()
    yield
    assert console.errors == []


def see(page, text):
    from playwright.sync_api import expect

    expect(page.get_by_text(text).first).to_be_visible(timeout=1000.0 * LIMIT)


def test_the_page_shows_the_lead_and_the_robots_state(page):
    see(page, "7.4 s")
    see(page, "RUNNING")


def test_the_recording_light_and_its_button_follow_the_recorder(console, page):
    light = page.locator("#stops .recording")
    see(light, "RECORDING 5.0 s, 2.0 MB")
    see(light, Light.ON.value)
    page.get_by_role("button", name="end the recording").click()
    console.sink.wait_for(lambda command: command == commands.Record(False))
    console.recorder_status = RecorderStatus()
    see(light, "NOT RECORDING")
    page.get_by_role("button", name="record", exact=True).click()
    console.sink.wait_for(lambda command: command == commands.Record(True))
    console.recorder_status = None  # killed
    see(light, "RECORDER SILENT")
    see(light, Light.UNKNOWN.value)


SHARE_OF_FRAMES = """(cost) => new Promise((done) => {
  const began = performance.now();
  let busy = 0, frames = 0;
  const frame = () => {
    const start = performance.now();
    while (performance.now() - start < cost);
    busy += performance.now() - start;
    frames += 1;
    if (frames === 8) done(busy / (performance.now() - began));
    else requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
})"""


@pytest.mark.nightly
def test_a_scene_that_is_slow_to_draw_leaves_most_of_the_time_to_keys_and_buttons(page):
    assert page.evaluate(SHARE_OF_FRAMES, 200.0) < 0.4  # a fifth, and the first frames without a rest


@pytest.mark.nightly
def test_after_one_very_slow_frame_the_page_is_not_still_for_long(page):
    """The first frame of a scene can take many seconds; the panel shows what is in force with the next one."""
    still = page.evaluate("""() => new Promise((done) => {
      let ended = 0;
      const frame = () => {
        const start = performance.now();
        if (ended) { done(start - ended); return; }
        while (performance.now() - start < 4000);
        ended = performance.now();
        requestAnimationFrame(frame);
      };
      requestAnimationFrame(frame);
    })""")
    assert still < 12_000  # [ms]; four times the frame are 16 s


@pytest.mark.nightly
def test_a_frame_called_off_is_not_drawn(page):
    """Also when it waits for its turn after a slow one; another that was asked for after it is drawn."""
    drawn = page.evaluate("""() => new Promise((done) => {
      let drawn = 0;
      const slow = () => {
        const start = performance.now();
        while (performance.now() - start < 100);
        drawn += 1;
        if (drawn === 1) setTimeout(ask);
        if (drawn === 2) requestAnimationFrame(() => requestAnimationFrame(() => done(drawn)));
      };
      const ask = () => {
        const off = requestAnimationFrame(slow);
        requestAnimationFrame(slow);
        setTimeout(() => cancelAnimationFrame(off));
      };
      requestAnimationFrame(slow);
    })""")
    assert drawn == 2


def test_halt_reaches_the_graph_and_is_shown_as_stopped_only_when_confirmed(console, page):
    page.get_by_role("button", name="HALT", exact=True).click()
    console.sink.wait_for(lambda command: isinstance(command, commands.Halt))
    see(page, "NOT CONFIRMED")
    assert console.sink.halts
    console.robot_status = RobotStatus(mode=ExecutorMode.HALTED, halt_count=1, reason="halt by operator")
    see(page, "HALTED: halt by operator")
    page.get_by_role("button", name="resume").click()
    console.sink.wait_for(lambda command: isinstance(command, commands.Resume))
    console.reset()
    see(page, "RUNNING")


def test_the_time_clutch_button_shows_only_what_the_queue_confirms(console, page):
    page.get_by_role("button", name="time clutch: disengaged").click()
    console.sink.wait_for(lambda command: command == commands.TimeClutch(True))
    assert page.get_by_role("button", name="time clutch: disengaged").is_visible()
    console.queue_status = QueueStatus(time_clutch=True, lead=7.4)
    page.get_by_role("button", name="time clutch: engaged").click()
    console.sink.wait_for(lambda command: command == commands.TimeClutch(False))


def test_delete_all_and_replay_reach_the_graph(console, page):
    page.get_by_role("button", name="delete all").click()
    console.sink.wait_for(lambda command: isinstance(command, commands.Clear))
    page.get_by_role("button", name="start").click()
    console.sink.wait_for(lambda command: isinstance(command, commands.Replay))


def test_no_button_moves_when_rows_and_notices_come(console, page):
    """A person who is about to press a button would press the next one."""
    start = page.get_by_role("button", name="start")
    before = start.bounding_box()
    console.queue_status = QueueStatus(unacknowledged=3, brake_rate=1.0, position_clutch=False, lead=7.4)
    see(page, "on the way")
    for number in range(6):
        console.client.refuse(f"notice {number}", time.monotonic())
    see(page, "notice 5")
    assert start.bounding_box() == before


def type_ratio(page, text):
    box = page.locator("input[type=text]").nth(0)
    box.fill(text)
    box.press("Enter")


def test_a_time_ratio_typed_by_the_operator_reaches_the_graph(console, page):
    type_ratio(page, "2.5")
    console.sink.wait_for(lambda command: command == commands.TimeRatio(2.5))


@pytest.mark.parametrize("typed", ["99", "-3", "nonsense"])
def test_a_bad_number_typed_never_leaves_as_a_command(console, page, typed):
    type_ratio(page, typed)
    page.get_by_role("button", name="delete all").click()
    console.sink.wait_for(lambda command: isinstance(command, commands.Clear))
    ratios = [command.value for command in console.sink.commands if isinstance(command, commands.TimeRatio)]
    assert all(0.1 <= value <= 10.0 for value in ratios)


def test_a_silent_robot_is_shown_and_forgiven(console, page):
    console.silent = True
    see(page, "ROBOT SILENT FOR")
    console.silent = False
    see(page, "RUNNING")


def test_a_browser_that_leaves_and_comes_back_finds_the_present_state(console, page, browser):
    second = open_page(console.console.url, browser)
    second.close()
    console.queue_status = QueueStatus(lead=3.2)
    third = open_page(console.console.url, browser)
    see(third, "3.2 s")
    third.close()


@pytest.mark.nightly
def test_dragging_the_gizmo_drives_only_while_driving_is_switched_on(console, page):
    x, y = arrow_on_screen(console, page)
    drag_up(page, x, y)  # turns the camera
    page.mouse.up()
    assert console.sink.targets == []
    box = page.get_by_label("drive by gizmo")
    box.check(force=True)
    target = console.console._stage.target
    deadline = time.monotonic() + LIMIT
    while not target.visible and time.monotonic() < deadline:
        page.wait_for_timeout(50)
    x, y = arrow_on_screen(console, page)
    drag_up(page, x, y)
    console.sink.wait_for_target(lambda sent: abs(sent.pose[2] - console.home[2]) > 0.02)
    page.mouse.up()
    box.uncheck(force=True)


def drag_up(page, x, y):
    page.mouse.move(x, y)
    drawn = page.evaluate("window.framesDrawn")  # the gizmo lights its handle in a frame of the scene
    page.wait_for_function("least => window.framesDrawn >= least", arg=drawn + 4, polling=100)
    page.mouse.down()
    page.mouse.move(x, y - 60, steps=4)


def arrow_on_screen(console, page):
    """Pixel of the gizmo's z arrow, from the browser's own camera."""
    from viser import transforms as tf

    camera = next(iter(console.console._server.get_clients().values())).camera
    T_camera_world = tf.SE3.from_rotation_and_translation(tf.SO3(camera.wxyz), camera.position).inverse()
    rotation = tf.SO3(np.roll(console.home[3:], 1)).as_matrix()
    tip = console.home[:3] + 0.18 * 0.6 * rotation @ np.array((0.0, 0.0, 1.0))
    right, down, ahead = T_camera_world.apply(tip)
    canvas = page.locator("canvas").first.bounding_box()
    scale = 0.5 * canvas["height"] / np.tan(0.5 * camera.fov) / ahead
    return (canvas["x"] + 0.5 * canvas["width"] + scale * right, canvas["y"] + 0.5 * canvas["height"] + scale * down)


@pytest.mark.parametrize(
    ("origin", "let_in"), [("http://example.org", False), ("http://127.0.0.1:8080", True), (None, True)]
)
def test_pages_of_other_sites_cannot_reach_the_console(console, origin, let_in):
    from websockets.exceptions import InvalidStatus
    from websockets.sync.client import connect

    address = console.console.url.replace("http", "ws")
    if let_in:
        connect(address, origin=origin).close()
    else:
        with pytest.raises(InvalidStatus):
            connect(address, origin=origin)


STEPS = [
    ("good", "+ take.to_approach  5.3 s"),
    ("bad", "x take.touch_1 (vision)  1.1 s"),
    ("asked", "? take.close: close_gripper"),
    ("", "  take.to_middle"),
]


def test_the_live_script_has_a_line_for_each_step_and_the_step_that_waits_is_done_by_a_press(console, page):
    line = console.console.commands
    line.script(7, [("", "command 7, waits for your step: pick module"), *STEPS], waits=True)
    line.show()
    heights = []
    for _, text in STEPS:
        row = page.get_by_text(text.strip(), exact=True)
        row.wait_for()
        row.scroll_into_view_if_needed()
        heights.append(row.bounding_box()["height"])
    assert max(heights) < 1.5 * min(heights)  # none is wrapped
    step = page.get_by_role("button", name="step", exact=True)
    step.scroll_into_view_if_needed()
    before = step.bounding_box()
    line.script(7, [("", "command 7, waits for your step: pick module"), *STEPS, *STEPS], waits=True)
    line.show()
    page.get_by_text(STEPS[0][1].strip(), exact=True).nth(1).wait_for()
    assert step.bounding_box() == before
    step.click()
    console.wait_for_steps(lambda: line.take() == ["step command 7"])
    page.get_by_role("button", name="continue", exact=True).click()
    console.wait_for_steps(lambda: line.take() == ["continue command 7"])
    line.script(7, [])
    line.show()
    page.get_by_role("button", name="step", exact=True).wait_for(state="detached")


@pytest.mark.parametrize(("asked", "share"), [("", 0.5), ("/?fixedDpr=0.8", 0.8)], ids=["by default", "as asked for"])
def test_without_a_graphics_card_the_scene_is_drawn_with_fewer_points(console, browser, asked, share):
    page = browser.new_page(viewport={"width": 1000, "height": 700})
    page.set_default_timeout(1000.0 * LIMIT)
    page.goto(console.console.url)  # with the token, which a cookie keeps
    if asked:
        page.goto(console.console.address + asked)
    page.locator("canvas[data-engine]").wait_for()
    look = "() => { const c = document.querySelector('canvas[data-engine]'); return c.width / c.clientWidth; }"
    page.wait_for_function(f"Math.abs(({look})() - {share}) < 0.01")
    page.close()
