"""Two operators' sides at one robot; messages about authority reach everybody, the active plan reaches the other."""

import contextlib
from dataclasses import replace

import plan_models
from queue_session import Within

from telerobot_nodes.errors import AuthorityError, TransitionError
from telerobot_nodes.plan.authority import AuthorityArbiter, AuthorityClient, AuthorityMessage
from telerobot_nodes.plan.queue import PathPlanQueue, QueueConfig


class Two:
    """Agents `ann` and `bob`, each with a queue and a link of its own."""

    def __init__(self, delay=0.2, armed=False, robot=plan_models.Robot, **config):
        self.arbiter = AuthorityArbiter(frozenset({"boss"}), armed)
        self.robot = robot(may_open=self.arbiter.may_open)
        self.refusals = []
        self.sides = {}
        for n, name in enumerate(("ann", "bob")):
            queue = PathPlanQueue(QueueConfig(agent=name, **config), Within())
            links = (plan_models.Link(10 * n + 1, delay), plan_models.Link(10 * n + 2, delay))
            self.sides[name] = (queue, *links)
        self.ticks = 0
        self.now = 100.0

    def say(self, name, kind, peer=""):
        message = self.sides[name][0].authority_message(kind, peer)
        try:
            self.arbiter.handle(self.now, message, self.robot.receiver)
        except (AuthorityError, TransitionError) as error:
            self.refusals.append(str(error))
            return
        for queue, *_ in self.sides.values():
            queue.on_authority(message)

    def arrive(self, message):
        self.robot.receive(self.now, message)

    def report(self):
        return replace(self.robot.report(), **self.arbiter.report_fields(self.now))

    def hear(self, name, report):
        """A report on its way to an agent's queue."""

    def step(self, commands):
        self.ticks += 1
        self.now = 100.0 + 0.01 * self.ticks
        for name, (queue, up, down) in self.sides.items():
            for message in up.arrived(self.now):
                self.arrive(message)
            self.robot.run(self.now)
            if self.ticks % 5 == 0:
                down.send(self.now, (self.report(), self.robot.pose.copy()))
            for report, pose in down.arrived(self.now):
                self.hear(name, report)
                queue.on_report(self.now, report, pose)
            if name in commands:
                queue.command_pose(self.now, commands[name](self.now), "world")
            operations = queue.poll(self.now)
            if operations:
                up.send(self.now, operations)
            for update in queue.drain():
                for other, (peer, *_) in self.sides.items():
                    if other != name:
                        peer.follow_active_plan(update)

    def run(self, seconds, **commands):
        for _ in range(round(seconds / 0.01)):
            self.step(commands)

    def state(self, name):
        return self.sides[name][0].state(self.now)


class Far(Two):
    """What is said about authority goes over the links too, repeated until the reports show it, as the nodes do."""

    def __init__(self, delay=0.2, loss=0.0):
        super().__init__(delay)
        self.clients = {name: AuthorityClient(name) for name in self.sides}
        for _, up, down in self.sides.values():
            up.loss = down.loss = loss

    def say(self, name, kind, peer=""):
        self.clients[name].request(self.now, self.sides[name][0].authority_message(kind, peer))

    def arrive(self, message):
        if isinstance(message, AuthorityMessage):
            with contextlib.suppress(AuthorityError, TransitionError):  # said again after it has worked
                self.arbiter.handle(self.now, message, self.robot.receiver)
        else:
            super().arrive(message)

    def hear(self, name, report):
        for said in self.clients[name].on_report(report):
            self.sides[name][0].on_authority(said)

    def step(self, commands):
        super().step(commands)
        for name, (queue, up, _) in self.sides.items():
            said = self.clients[name].due(self.now, queue.held_epoch)
            if said is not None:
                up.send(self.now, said)


def at(x, y):
    return lambda now: [x, y, 0.4, 0.0, 0.0, 0.0, 1.0]


def sweep(start, speed=0.1):
    return lambda now: [0.4, min(speed * (now - start), 0.6), 0.4, 0.0, 0.0, 0.0, 1.0]
