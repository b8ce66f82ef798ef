"""The stop bar in a real browser: H and Esc stop whatever has the focus, and nothing hides the bar."""

from __future__ import annotations

import time

import pytest
from browser import chromium
from console_rig import LIMIT, RunningConsole, open_page

from telerobot_nodes.core.protocol import ExecutorMode
from telerobot_nodes.operator.client import RobotStatus, commands

pytestmark = [
    pytest.mark.lengthy,  # starts a browser
    pytest.mark.timing("a browser draws the scene without a graphics card and has 60 s for each answer"),
]

WIDTH, HEIGHT = 800, 500  # small: without a graphics card the scene takes most of the time


@pytest.fixture(scope="module")
def console():
    running = RunningConsole()
    yield running
    running.close()


@pytest.fixture(scope="module")
def page(console):
    with chromium() as program:
        page = open_page(console.console.url, program, WIDTH, HEIGHT)
        yield page
        page.close()


@pytest.fixture(autouse=True)
def untroubled(console, page):
    page.locator("#stops:not(.lost)").wait_for()
    page.evaluate("document.activeElement.blur()")
    console.wait_for_presses(page)
    console.reset()
    console.wait_for_steps(lambda: not console.is_halt_open())  # else the next press is the same halt
    console.sink.commands.clear()
    yield
    page.keyboard.press("Escape")  # closes a list or the palette
    assert console.errors == []


def focus(selector, number=0):
    return lambda page: page.locator(selector).nth(number).focus()


def open_palette(page):
    page.keyboard.press("Control+k")
    page.get_by_placeholder("Search commands...").wait_for()


def open_list(page):
    page.locator("input[aria-haspopup=listbox]").last.click()
    page.get_by_role("option").first.wait_for()


NO_TEXT = {  # focus in -> how, and what then has it
    "nothing": (lambda page: None, "BODY"),
    "the scene": (lambda page: page.mouse.click(WIDTH // 4, HEIGHT // 2), "BODY"),
    "a slider": (focus("[role=slider]"), "DIV"),
    "a checkbox": (lambda page: page.get_by_label("drive by gizmo").focus(), "INPUT"),
    "a button": (lambda page: page.get_by_role("button", name="time clutch").focus(), "BUTTON"),
    "a button of a group": (lambda page: page.get_by_role("button", name="discard").focus(), "BUTTON"),
    "the bar": (lambda page: page.locator("#stops .resume").focus(), "BUTTON"),
}
TEXT = {
    "the command line": (focus("textarea"), "TEXTAREA"),
    "a number box": (focus("input[inputmode=decimal], input[inputmode=numeric], input[type=text]"), "INPUT"),
    "an open list": (open_list, "INPUT"),
    "the palette": (open_palette, "INPUT"),
}


def is_halt(command):
    return isinstance(command, commands.Halt)


def enter(page, how, tag):
    how(page)
    assert page.evaluate("document.activeElement.tagName") == tag


@pytest.mark.parametrize(("how", "tag"), [*NO_TEXT.values(), *TEXT.values()], ids=[*NO_TEXT, *TEXT])
@pytest.mark.brief(2)
def test_esc_halts_whatever_has_the_focus(console, page, how, tag):
    enter(page, how, tag)
    page.keyboard.press("Escape")
    console.sink.wait_for(is_halt)


@pytest.mark.parametrize(("how", "tag"), NO_TEXT.values(), ids=NO_TEXT)
@pytest.mark.brief(3)
def test_h_halts_wherever_no_text_is_typed(console, page, how, tag):
    enter(page, how, tag)
    page.keyboard.press("h" if tag == "INPUT" else "H")
    console.sink.wait_for(is_halt)


@pytest.mark.parametrize(("how", "tag"), TEXT.values(), ids=TEXT)
@pytest.mark.brief(2)
def test_h_is_a_letter_in_a_text(console, page, how, tag):
    enter(page, how, tag)
    page.keyboard.press("h")
    console.wait_for_presses(page)
    assert not any(map(is_halt, console.sink.commands))


@pytest.mark.parametrize("keys", ["Control+h", "Alt+h"])
def test_h_with_a_modifier_is_the_browsers(console, page, keys):
    page.evaluate("window.addEventListener('keydown', (e) => e.preventDefault(), {once: true})")
    page.keyboard.press(keys)
    console.wait_for_presses(page)
    assert not any(map(is_halt, console.sink.commands))


def test_esc_halts_while_the_scene_is_turned_with_the_mouse(console, page):
    page.mouse.move(WIDTH // 4, HEIGHT // 2)
    page.mouse.down()
    page.mouse.move(WIDTH // 4 + 40, HEIGHT // 2, steps=2)
    page.keyboard.press("Escape")
    console.sink.wait_for(is_halt)
    page.mouse.up()


def test_a_widget_that_keeps_keys_to_itself_keeps_no_stop(console, page):
    page.evaluate(
        """for (const kind of ["keydown", "keyup"])
             document.addEventListener(kind, (e) => { e.stopImmediatePropagation(); e.preventDefault(); }, true)"""
    )
    page.keyboard.press("Escape")
    console.sink.wait_for(is_halt)
    page.reload()
    page.locator("#stops:not(.lost)").wait_for()


@pytest.mark.nightly
def test_a_held_key_halts_once_a_while_not_thirty_times_a_second(console, page):
    page.evaluate("""for (let k = 0; k < 500; k++) window.dispatchEvent(
        new KeyboardEvent("keydown", {key: "Escape", code: "Escape", repeat: k > 0}))""")
    console.wait_for_presses(page)
    assert 1 <= sum(map(is_halt, console.sink.commands)) <= 3


def test_the_halt_button_acts_when_it_goes_down(console, page):
    box = page.get_by_role("button", name="HALT", exact=True).bounding_box()
    page.mouse.move(box["x"] + 5, box["y"] + 5)
    page.mouse.down()
    console.sink.wait_for(is_halt)
    page.mouse.move(WIDTH // 2, HEIGHT // 2)
    page.mouse.up()


def test_one_press_is_one_halt_and_the_keyboard_can_press_it(console, page):
    button = page.get_by_role("button", name="HALT", exact=True)
    button.click()
    button.focus()
    page.keyboard.press("Enter")
    console.wait_for_presses(page)
    assert 1 <= sum(map(is_halt, console.sink.commands)) <= 2


def test_the_e_stop_and_its_reset(console, page):
    page.get_by_role("button", name="E-STOP", exact=True).click()
    console.sink.wait_for(lambda command: isinstance(command, commands.EStop))
    assert not page.locator("#stops .reset").is_visible()
    console.robot_status = RobotStatus(mode=ExecutorMode.FAULT, estop=True)
    page.locator("#stops .reset").click()
    console.sink.wait_for(lambda command: isinstance(command, commands.Reset))
    assert "E-STOP LATCHED" in page.locator("#stops .banner").inner_text()


SEEN = """(name) => { const b = document.querySelector(name).getBoundingClientRect();
    const at = document.elementFromPoint(b.x + b.width / 2, b.y + b.height / 2);
    return b.width > 0 && at !== null && at.closest("#stops") !== null; }"""


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (1440, 900), (640, 480), (360, 640)])
@pytest.mark.brief(2)
def test_stops_state_lead_and_authority_stay_in_sight(page, width, height):
    page.set_viewport_size({"width": width, "height": height})
    page.locator("#stops .halt").wait_for()
    page.mouse.move(width - 100, height - 100)
    page.mouse.wheel(0, 5000)  # the panel, or the scene
    open_palette(page)
    for part in (".halt", ".estop", ".banner", ".lead", ".authority", ".resume"):
        assert page.evaluate(SEEN, f"#stops {part}"), part
    page.set_viewport_size({"width": WIDTH, "height": HEIGHT})


def test_the_bar_offers_the_console_of_another_workspace_while_it_runs(console, page):
    places = page.locator("#stops .workspaces")
    assert places.inner_text() == ""
    console.workspaces.receive("/practice/operator_console", "http://127.0.0.1:9", time.monotonic())
    link = places.get_by_role("link", name="practice")
    link.wait_for()
    assert link.get_attribute("href") == "http://127.0.0.1:9"
    assert places.locator("b").inner_text() == "execution"
    assert page.evaluate(SEEN, "#stops .halt")
    link.wait_for(state="detached")  # its console reports no more


def test_there_is_one_red_button(page):
    reds = """[...document.querySelectorAll("button")].filter((b) => {
        const [r, g, b_] = getComputedStyle(b).backgroundColor.match(/[\\d.]+/g).map(Number);
        return b.offsetParent !== null && r > 180 && g < 80 && b_ < 80; }).map((b) => b.ariaLabel)"""
    assert page.evaluate(reds) == ["HALT"]


def test_a_console_that_hangs_is_shown_and_stops_the_robot_nevertheless(console, page):
    console.hung = True
    page.get_by_text("CONSOLE SILENT").wait_for()
    page.keyboard.press("Escape")
    console.sink.wait_for(is_halt)
    console.hung = False
    page.locator("#stops:not(.lost)").wait_for()


def test_a_stop_pressed_without_a_connection_is_said_not_to_be_sent_and_sent_when_there_is_one(console, page):
    sockets = """() => { const Plain = WebSocket; window.gone = true;
        window.WebSocket = class extends Plain { constructor(...where) {
            super(...(window.gone && where[0].endsWith("/stops") ? ["ws://127.0.0.1:1/stops"] : where)); } } }"""
    page.evaluate(sockets)
    bar = console.console._bar
    bar._loop.call_soon_threadsafe(lambda: [connection.transport.abort() for connection in bar._connections])
    page.get_by_text("NO CONNECTION TO THE CONSOLE").wait_for()
    page.keyboard.press("Escape")
    page.get_by_text("HALT NOT SENT").wait_for()
    assert not any(map(is_halt, console.sink.commands))
    page.evaluate("window.gone = false")
    console.sink.wait_for(is_halt)
    page.reload()
    page.locator("#stops:not(.lost)").wait_for()


@pytest.mark.nightly
def test_texts_of_other_machines_are_texts_in_the_bar(console, page):
    console.robot_status = RobotStatus(mode=ExecutorMode.HALTED, reason="<img src=x onerror=document.title='x'>")
    page.locator("#stops .banner").get_by_text("HALTED: <img").wait_for(timeout=1000.0 * LIMIT)
    assert page.title() == "Viser"
