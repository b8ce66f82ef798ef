"""An operator, a robot and a line of datagrams between them, each of which may be started again, in simulated time."""

import heapq
from random import Random

from telerobot_nodes.link.requests import Asker, Over, RequestEnd, Runner, Start

STEP = 0.05  # [s]
WORK = "gcmsf_control/execute"


class Cell:
    """`ran`: bodies of what the robot has begun; `overs`: ends by body of what was asked."""

    def __init__(self, seed=1, delay=0.0, loss=0.0, double=0.0, jitter=0.0, work=0.5):
        self.random = Random(seed)
        self.delay, self.loss, self.double, self.jitter, self.work = delay, loss, double, jitter, work
        self.cut = False
        self.now, self._count, self._way = 0.0, 0, []
        self.ran, self.running, self.stopped = [], {}, []
        self.asked, self.overs, self.progress, self.abandoned = {}, {}, [], set()
        self.start_robot()
        self.start_operator()

    def start_robot(self):
        self.runner = Runner(self.random.getrandbits(64) | 1, [WORK])
        self.running = {}

    def start_operator(self):
        self.abandoned |= {body for body in self.asked.values() if body not in self.overs}
        self.asker, self.asked = Asker(self.random.getrandbits(64) | 1, self.now), {}

    def ask(self, body, name=WORK, stops=False):
        number = self.asker.ask(self.now, name, body, stops)
        self.asked[number] = body
        return number

    def withdraw(self, number):
        self.asker.withdraw(self.now, number)

    def run(self, seconds, each=lambda: None):
        for _ in range(round(seconds / STEP)):
            self.now += STEP
            each()
            while self._way and self._way[0][0] <= self.now:
                _, _, upward, data = heapq.heappop(self._way)
                if upward:
                    self._act(self.runner.receive(self.now, data))
                else:
                    self.asker.receive(self.now, data)
            self._work()
            self.asker.poll(self.now)
            self._exchange()

    def _act(self, acts):
        for act in acts:
            if isinstance(act, Start):
                self.ran.append(act.body)
                self.running[act.ticket] = (self.now + self.work, act.body)
            else:
                self.stopped.append(act.ticket)
                if self.running.pop(act.ticket, None):
                    self.runner.end(act.ticket, RequestEnd.CANCELLED, body=b"stopped")

    def _work(self):
        for ticket, (until, body) in list(self.running.items()):
            self.runner.feedback(ticket, b"%.2f" % self.now)
            if self.now >= until:
                del self.running[ticket]
                self.runner.end(ticket, RequestEnd.DONE, body=b"did " + body)

    def _exchange(self):
        for _, data in self.asker.take_out():
            self._carry(True, data)
        for data in self.runner.take_out():
            self._carry(False, data)
        for event in self.asker.take_events():
            body = self.asked[event.number]
            if isinstance(event, Over):
                assert body not in self.overs, "a second end"
                self.overs[body] = event
            else:
                assert body not in self.overs, "something after the end"
                self.progress.append((body, getattr(event, "body", b"")))

    def _carry(self, upward, data):
        if self.cut or self.random.random() < self.loss:
            return
        for _ in range(1 + (self.random.random() < self.double)):
            self._count += 1
            due = self.now + self.delay + self.jitter * self.random.random()
            heapq.heappush(self._way, (due, self._count, upward, data))
