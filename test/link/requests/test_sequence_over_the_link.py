"""A sequence as one request over a link that loses, doubles and reorders: every step runs once, in order."""

import json

import pytest
from scheduler_host import PERIOD, Host
from simulated_net import CELL, DESK, NUMBER, STEP, Net

from telerobot_nodes.core.protocol import PrimitiveOutcome
from telerobot_nodes.link.requests import ANSWERS, CHANNELS, Asker, Over, RequestEnd, Runner
from telerobot_nodes.motion.scheduling import PrimitiveSequence, SequenceStep, check_steps

NAME = "gcmsf_control/run_sequence"


class Ends:
    """An operator and a robot; the robot runs the sequences that it is sent."""

    def __init__(self):
        self.net = Net(delay=0.25, loss=0.05, double=0.05, jitter=0.1)
        self.asker, self.runner = Asker(1, 0.0), Runner(2, [NAME])
        self.host, self.ticket, self.starts, self.events = Host(), None, 0, []

    def step(self):
        net, host = self.net, self.host
        self.asker.poll(net.now)
        for channel, data in self.asker.take_out():
            net.send(DESK, NUMBER[channel.name], data)
        for data in self.runner.take_out():
            net.send(CELL, NUMBER[ANSWERS.name], data)
        net.run(STEP)
        for _, _, channel, data in net.got:
            self.take(channel, data)
        net.got.clear()
        net.taps.clear()
        for _ in range(round(STEP / PERIOD)):
            host.period()
        if host.sequence is not None and host.sequence.ended and self.ticket is not None:
            self.runner.end(self.ticket, RequestEnd.DONE, body=b"%d" % host.sequence.done)
            self.ticket = None
        self.events += self.asker.take_events()

    def take(self, channel, data):
        if channel == NUMBER[ANSWERS.name]:
            self.asker.receive(self.net.now, data)
        elif channel in (NUMBER[entry.name] for entry in CHANNELS):
            for act in self.runner.receive(self.net.now, data):
                steps = [SequenceStep(*row) for row in json.loads(act.body)]
                checked = self.host.work.submit(check_steps, self.host.robot, steps)
                self.host.sequence = PrimitiveSequence(self.host.scheduler, "test", checked)
                self.ticket, self.starts = act.ticket, self.starts + 1


SLOW = [pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.mark.parametrize("count", [pytest.param(30, marks=pytest.mark.lengthy), pytest.param(5000, marks=SLOW)])
def test_every_step_runs_once_and_in_order(count):
    ends = Ends()
    ways = [1e-5 * (1 + at % 7) * (-1) ** at for at in range(count)]
    keys = ["tr_rel_dest", "acc_time"]
    rows = [("cartesian_guarded", keys, [f"[0, 0, {way}, 0, 0, 0, 1]", "0.02"]) for way in ways]
    number = ends.asker.ask(ends.net.now, NAME, json.dumps(rows).encode())
    while not any(isinstance(event, Over) for event in ends.events):
        ends.step()
        assert ends.net.now < 30.0 + 0.5 * count
    (over,) = (event for event in ends.events if isinstance(event, Over))
    assert (over.number, over.end, over.body) == (number, RequestEnd.DONE, b"%d" % count)
    assert ends.starts == 1
    assert [request.values["tr_rel_dest"][2] for request in ends.host.begun] == ways
    succeeded = [report.id for report in ends.host.reports if report.outcome is PrimitiveOutcome.SUCCEEDED]
    assert succeeded == [request.id for request in ends.host.begun]
