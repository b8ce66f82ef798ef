"""A scheduler of primitives and the control step that it commands, run together, without an arm's physics."""

from concurrent.futures import Future

import numpy as np

from telerobot_nodes.core.protocol import PrimitiveOutcome
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.motion.loop import ControlStep
from telerobot_nodes.motion.loop.orders import Begin, Change, Stop
from telerobot_nodes.motion.loop.status_records import unpack_status
from telerobot_nodes.motion.scheduling import PrimitiveScheduler

PERIOD = 0.005
UP = [0.0, 0.0, -0.02, 0.0, 0.0, 0.0, 1.0]


class AtOnce:
    """Work done in place."""

    def submit(self, function, /, *arguments):
        future = Future()
        try:
            future.set_result(function(*arguments))
        except TelerobotError as error:
            future.set_exception(error)
        return future


class Host:
    """A desk and a control step, run together; orders arrive in the period after."""

    def __init__(self):
        self.robot = load_robot("arm")
        self.control = ControlStep(self.robot, PERIOD)
        self.orders, self.reports, self.work = [], [], AtOnce()
        self.scheduler = PrimitiveScheduler(self.robot, PERIOD, self.orders.append, self._on_report, self.work)
        self.sequence, self.begun = None, []
        self.now, self.status_count = 10.0, 0
        self.arm = self.robot.home.copy()
        self.run(0.05)

    def run(self, duration):
        for _ in range(round(duration / PERIOD)):
            self.period()

    def period(self):
        self.now += PERIOD
        control = self.control
        control.measure(self.now, self.arm, np.zeros(self.robot.dof))
        control.set_wrench(self.now, np.full(6, 1e-3) * (round(self.now / PERIOD) % 2))
        orders, self.orders[:] = list(self.orders), []
        for order in orders:
            self.obey(order)
        output = control.step(self.now)
        self.arm = output.q.copy()
        control.arrival.hardware(self.now, output.record["number"].item(), np.nan, np.nan)
        state = None
        if control.primitives.status_count != self.status_count:
            self.status_count = control.primitives.status_count
            state = unpack_status(control.primitives.status)
        if self.sequence is not None:
            self.sequence.update()
        self.scheduler.update(self.now, output, state, float("nan"))

    def _on_report(self, report):
        self.reports.append(report)
        if self.sequence is not None:
            self.sequence.take(report)

    def obey(self, order):
        if isinstance(order, Begin):
            self.begun.append(order.prepared.request)
            self.control.begin(self.now, order.number, order.prepared)
        elif isinstance(order, Change):
            self.control.change(self.now, order.number, order.prepared)
        elif isinstance(order, Stop):
            self.control.stop_primitive(order.id, order.reason)

    def ask(self, name="cartesian_guarded", **values):
        return self.scheduler.submit(name, "test", values or {"tr_rel_dest": UP})

    def until_idle(self, limit=60.0):
        end = self.now + limit
        while len(self.scheduler):
            self.period()
            assert self.now < end
        return [report for report in self.reports if report.outcome is not PrimitiveOutcome.RUNNING]
