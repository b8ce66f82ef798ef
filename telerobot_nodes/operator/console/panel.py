"""The widgets of the console: they show a view and put the operator's requests into the inbox."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from telerobot_nodes.core.protocol import GRIPPER_RANGE, SCALE_RANGE, ControlMode
from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.operator.client import LinkSetting, commands
from telerobot_nodes.operator.console import markup
from telerobot_nodes.operator.console.inbox import GizmoMode, Inbox, Refused, Request
from telerobot_nodes.operator.view import ConsoleView, Controls

TOUCHED = 2.0  # [s] a slider just moved is not pulled back to the value in force
OWN_RECORDING = "demo recording"
MODES = tuple(mode.word for mode in ControlMode)
RECORD_HINT = "begin a recording beside the others, or end it; each is a bag of its own"
CLUTCH_HINT = "engaged: plan time follows the hand; disengaged: only the order counts (T)"


class Panel:
    """Widgets of one console, shared by all its browsers. `hands`: recordings by the name to show."""

    def __init__(self, gui: Any, inbox: Inbox, offered: frozenset[commands.Kind], hands: Mapping[str, str]) -> None:
        self._gui, self._inbox = gui, inbox
        self._clutch: bool | None = None  # engaged, as confirmed
        self._recording: bool | None = None  # as the recorder reports
        self._texts: dict[str, Any] = {}
        self._sliders: list[Followed] = []
        self._controls: list[tuple[Any, frozenset[commands.Kind]]] = []  # of the plan, with what they ask for
        self._key("resume", "R", commands.Resume)
        self._texts["status"] = gui.add_html("")
        self._record_button: Any = None
        if commands.Record in offered:
            self._record_button = gui.add_button("record", color="gray", hint=RECORD_HINT)
            self._ask_on(self._record_button.on_click, lambda: commands.Record(not self._recording))
        with gui.add_folder("Notices"):
            self._texts["notices"] = gui.add_html("")
        with gui.add_folder("Colours", expand_by_default=False):
            gui.add_html(markup.legend())
        self._plan_folder(offered)
        self._drive_folder(hands if commands.Replay in offered else None, offered)
        if commands.SetLink in offered:
            self._link_folder()

    def show(self, view: ConsoleView, now: float) -> None:
        """Show `view`; only changes are sent to the browsers."""
        self._texts["status"].content = markup.status(view.rows)
        self._texts["notices"].content = markup.notices(view.notices)
        self._show_clutch(view.controls.time_clutch)
        self._show_recording(view.controls.recording)
        for slider in self._sliders:
            slider.follow(view.controls, now)

    def allow(self, kinds: Collection[commands.Kind]) -> None:
        """Hide the controls of the plan that ask for nothing of `kinds`."""
        for widget, asks in self._controls:
            widget.visible = not asks.isdisjoint(kinds)

    def _for(self, widget: Any, *kinds: commands.Kind) -> Any:
        """`widget`, which asks for these."""
        self._controls.append((widget, frozenset(kinds)))
        return widget

    # widgets -----------------------------------------------------------------------------------------------

    def _plan_folder(self, offered: frozenset[commands.Kind]) -> None:
        with self._gui.add_folder("Plan"):
            button = self._gui.add_button("time clutch", color="gray", hint=CLUTCH_HINT)
            self._clutch_button = self._for(button, commands.TimeClutch)
            self._ask_on(self._clutch_button.on_click, self._toggled_clutch)
            self._key("time clutch on/off", "T", self._toggled_clutch)
            hint = "plan time per acquisition time"
            ratio = self._gui.add_slider("time ratio", *commands.RATIO_RANGE, 0.05, 1.0, hint=hint)
            self._for(ratio, commands.TimeRatio)
            self._follow(ratio, lambda: commands.TimeRatio(ratio.value), lambda controls: controls.time_ratio)
            clear = self._gui.add_button("delete all", color="orange", hint="every point not yet executed (Shift Del)")
            self._ask_on(self._for(clear, commands.Clear).on_click, commands.Clear)
            self._key("delete all", "delete", commands.Clear, "shift")
            self._more_plan(offered)
            self._execution(offered)

    def _more_plan(self, offered: frozenset[commands.Kind]) -> None:
        if commands.Deed.UNDO in offered:
            hint = "bring back what brake or delete-all deleted, before the next point is laid (U)"
            undo = self._for(self._gui.add_button("undo", color="gray", hint=hint), commands.Deed.UNDO)
            self._ask_on(undo.on_click, lambda: commands.Deed.UNDO)
            self._key("undo", "U", lambda: commands.Deed.UNDO)
        if commands.PositionClutch in offered:
            hint = "off: points form a trial path; on again: a connecting path joins its end to the plan"
            box = self._gui.add_checkbox("position clutch", True, hint=hint)
            self._for(box, commands.PositionClutch)
            self._follow(box, lambda: commands.PositionClutch(box.value), lambda controls: controls.position_clutch)
            hint = "join all of it to the plan, or drop it"
            joins = self._gui.add_button_group("trial path", ("adopt", "discard"), hint=hint)
            self._for(joins, commands.Deed.ADOPT, commands.Deed.DISCARD)
            self._ask_on(joins.on_click, lambda: commands.Deed(joins.value))
        if commands.CollisionStop in offered:
            hint = "on: the robot waits before points that are predicted to collide; off: it executes them"
            stop = self._gui.add_checkbox("stop before collision", True, hint=hint)
            self._follow(stop, lambda: commands.CollisionStop(stop.value), lambda controls: controls.collision_stop)
        if commands.PassSingularities in offered:
            hint = "on: the hand may lead the tool through singularities, slowly; off: it stops before them"
            passes = self._gui.add_checkbox("pass singularities", False, hint=hint)
            self._follow(
                passes, lambda: commands.PassSingularities(passes.value), lambda controls: controls.pass_singularities
            )
        if commands.Brake in offered:
            hint = "time brake: plan seconds deleted from the plan's tail per second; 0 releases"
            rate = self._gui.add_slider("brake [s/s]", *commands.BRAKE_RANGE, 0.1, 0.0, hint=hint)
            self._for(rate, commands.Brake)
            self._follow(rate, lambda: commands.Brake(rate.value), lambda controls: controls.brake_rate)
        if commands.Gripper in offered:
            hint = "opening of the gripper from the plan's head on"
            opening = self._gui.add_slider("gripper [m]", *GRIPPER_RANGE, 0.002, 0.0, hint=hint)
            self._follow(opening, lambda: commands.Gripper(opening.value), lambda controls: controls.gripper)
        if commands.Deed.REQUEST_CONTROL in offered:
            deeds = ("request", "grant", "refuse", "release", "take")
            hint = "who plans for this arm; take: supervisors only"
            control = self._gui.add_button_group("control", deeds, hint=hint)
            self._ask_on(control.on_click, lambda: commands.Deed(f"{control.value}_control"))

    def _execution(self, offered: frozenset[commands.Kind]) -> None:
        if commands.Deed.PAUSE in offered:
            pause = self._gui.add_button("pause", color="gray", hint="come to rest on the path, keep the plan")
            self._ask_on(pause.on_click, lambda: commands.Deed.PAUSE)
        if commands.Rate in offered:
            hint = "plan seconds executed per second"
            rate = self._gui.add_slider("rate", *commands.RATIO_RANGE, 0.05, 1.0, hint=hint)
            self._follow(rate, lambda: commands.Rate(rate.value), lambda controls: None)
        if commands.Scrub in offered:
            hint = "show the simulated arm at this plan time; below 0: off"
            time = self._gui.add_number("scrub [s]", -1.0, min=-1.0, step=0.1, hint=hint)
            self._follow(time, lambda: commands.Scrub(time.value), lambda controls: None)

    def _drive_folder(self, hands: Mapping[str, str] | None, offered: frozenset[commands.Kind]) -> None:
        """`hands` None: no node replays any."""
        with self._gui.add_folder("Drive"):
            gizmo = self._gui.add_checkbox("drive by gizmo", False, hint="drag the arrows in the scene")
            self._ask_on(gizmo.on_update, lambda: GizmoMode(bool(gizmo.value)))
            if commands.OrientationClutch in offered:
                self._hand_scale()
            if hands is not None:
                self._replay_row({OWN_RECORDING: "", **hands})
            if commands.Mode in offered:
                hint = "who moves the arm: your hand, hand and primitive, your commands, the program, by turns"
                mode = self._gui.add_dropdown("mode", MODES, hint=hint)
                self._follow(mode, lambda: commands.Mode(ControlMode.named(mode.value)), lambda controls: controls.mode)
            if commands.Direct in offered:
                hint = "on: the device moves the primitive that runs; off: it lays the plan"
                direct = self._gui.add_checkbox("direct", False, hint=hint)
                self._follow(direct, lambda: commands.Direct(bool(direct.value)), lambda controls: controls.direct)
            if commands.Tare in offered:
                hint = "take the present force as zero; the arm must be at rest"
                self._ask_on(self._gui.add_button("tare", color="gray", hint=hint).on_click, commands.Tare)

    def _hand_scale(self) -> None:
        hint = "on: turning the hand turns the tool; off: the hand only moves it"
        turns = self._gui.add_checkbox("orientation clutch", True, hint=hint)
        self._follow(turns, lambda: commands.OrientationClutch(turns.value), lambda c: c.orientation_clutch)
        hint = "motion of the tool per motion of the hand; 0: the hand only turns it"
        linear = self._gui.add_slider("linear scale", *SCALE_RANGE, 0.05, 1.0, hint=hint)
        self._follow(linear, lambda: commands.LinearScale(linear.value), lambda c: c.linear_scale)
        hint = "turning of the tool per turning of the hand"
        angular = self._gui.add_slider("angular scale", *SCALE_RANGE, 0.05, 1.0, hint=hint)
        self._follow(angular, lambda: commands.AngularScale(angular.value), lambda c: c.angular_scale)

    def _replay_row(self, files: Mapping[str, str]) -> None:
        hand = self._gui.add_dropdown("hand", tuple(files))
        speed = self._gui.add_slider("speed", 0.1, 3.0, 0.1, 1.0, hint="times as fast as recorded")
        play = self._gui.add_button_group("replay", ("start", "stop"))

        def replay() -> Request:
            if play.value == "stop":
                return commands.StopReplay()
            return commands.Replay(files.get(hand.value, hand.value), speed.value)

        self._ask_on(play.on_click, replay)

    def _link_folder(self) -> None:
        with self._gui.add_folder("Link"):
            delay = self._gui.add_slider("delay [s]", 0.0, 10.0, 0.05, 0.0, hint="one way")
            jitter = self._gui.add_slider("jitter [s]", 0.0, 2.0, 0.01, 0.0, hint="standard deviation")
            loss = self._gui.add_slider("loss [%]", 0.0, 50.0, 1.0, 0.0)
            outage = self._gui.add_checkbox("outage", False, hint="nothing passes either way")

        def setting() -> Request:
            passes = not outage.value
            return commands.SetLink(delay.value, jitter.value, loss.value / 100.0, up=passes, down=passes)

        self._follow(delay, setting, _of_link(lambda link: min(link.delay, 10.0)))
        self._follow(jitter, setting, _of_link(lambda link: min(link.jitter, 2.0)))
        self._follow(loss, setting, _of_link(lambda link: min(100.0 * link.loss, 50.0)))
        self._follow(outage, setting, _of_link(lambda link: not (link.up and link.down)))

    # wiring -------------------------------------------------------------------------------------------------

    def _toggled_clutch(self) -> Request:
        return commands.TimeClutch(not self._clutch)

    def _show_clutch(self, engaged: bool | None) -> None:
        self._clutch = engaged
        state = "not known" if engaged is None else "engaged" if engaged else "disengaged"
        self._clutch_button.label = f"time clutch: {state}"
        self._clutch_button.color = "teal" if engaged else "gray"

    def _show_recording(self, on: bool | None) -> None:
        self._recording = on
        if self._record_button is not None:
            self._record_button.label = "end the recording" if on else "record"
            self._record_button.color = "teal" if on else "gray"

    def _ask_on(self, attach: Callable[[Any], Any], make: Callable[[], Request]) -> None:
        """Put the result of `make` into the inbox on an event of a browser; never raises into the web server."""

        async def pressed(event: Any) -> None:  # a coroutine: viser then keeps the order of events
            if event.client_id is not None:  # not caused by `Followed`
                self._inbox.put(_made(make))

        attach(pressed)

    def _key(self, label: str, key: str, make: Callable[[], Request], modifier: str | None = None) -> None:
        command = self._gui.add_command(label, hotkey=key, modifier=modifier)
        self._ask_on(command.on_trigger, make)

    def _follow(self, widget: Any, make: Callable[[], Request], in_force: Callable[[Controls], Any]) -> None:
        followed = Followed(widget, in_force)
        self._sliders.append(followed)

        async def moved(event: Any) -> None:
            if event.client_id is not None:
                followed.touched = True
                self._inbox.put_newest(_made(make))

        widget.on_update(moved)


class Followed:
    """A widget that shows the value in force, except while the operator moves it."""

    def __init__(self, widget: Any, in_force: Callable[[Any], Any]) -> None:
        self._widget, self._in_force = widget, in_force
        self._moved_at = -TOUCHED
        self.touched = False  # set by the web server's thread, taken by the node's

    def follow(self, controls: Any, now: float) -> None:
        """Show what is in force of `controls`; None: leave the widget."""
        if self.touched:
            self.touched, self._moved_at = False, now
        value = self._in_force(controls)
        if value is None or now - self._moved_at < TOUCHED or _equal(self._widget.value, value):
            return
        self._widget.value = value


def _equal(shown: Any, value: Any) -> bool:
    return bool(shown == value if isinstance(value, bool | str) else abs(shown - value) < 1e-3)


def _of_link(read: Callable[[LinkSetting], Any]) -> Callable[[Controls], Any]:
    return lambda controls: None if controls.link is None else read(controls.link)


def _made(make: Callable[[], Request]) -> Request:
    try:
        return make()
    except (TelerobotError, TypeError, ValueError) as error:
        return Refused(str(error))
