"""A recorded run made on purpose: a circle driven by the arm over a 1 s link, with faults put in where asked."""

import numpy as np
import pinocchio as pin
import pytest

from telerobot_nodes.core.robot import Kinematics, load_robot
from telerobot_nodes.graph import OPERATOR_SIDE
from telerobot_nodes.graph.table import TOPICS
from telerobot_nodes.operator.recording import BagTopic, BagWriter
from telerobot_nodes.operator.recording.bags import message_types

START, DELAY, PERIOD, STEP = 2.0, 1.0, 0.02, 0.005  # [s]
SECONDS = 4.0  # [s] the operator lays the plan twice as fast as the arm executes it


class RunMaker:
    """Writes the messages of a run; `faults` name what is wrong with it."""

    def __init__(self, folder, faults=()):
        self.faults = set(faults)
        self.robot = load_robot("arm")
        self.types = message_types()
        topics = {f"/{entry.name}": BagTopic(entry.type, entry.qos) for entry in TOPICS}
        topics |= {f"/{OPERATOR_SIDE}{t.name}": BagTopic(t.type, t.qos) for t in TOPICS if t.crosses}
        self.kinds = {name: entry.type for name, entry in topics.items()}
        self.entries = []
        self.make()
        writer = BagWriter(folder, topics)
        for time, topic, data in sorted(self.entries, key=lambda entry: entry[0]):
            writer.write(topic, 10**18 + round(time * 1e9), data)
        assert writer.close().dropped == 0

    def build(self, kind, **fields):
        cls = self.types.types[kind]
        values = {}
        for name, (sort, detail) in self.types.fielddefs[kind][1]:
            values[name] = fields[name] if name in fields else self.default(sort, detail)
        return cls(**values)

    def default(self, sort, detail):
        kind = sort.name if hasattr(sort, "name") else sort
        if kind == "NAME":
            return self.build(detail)
        if kind == "BASE":
            return {"string": "", "bool": False}.get(detail[0], 0.0 if detail[0].startswith("float") else 0)
        inner = detail[0]
        if inner[0].name == "BASE" and inner[1][0] != "string":
            return np.zeros(0, dtype=inner[1][0] if inner[1][0] != "bool" else np.uint8)
        return []

    def add(self, time, topic, **fields):
        kind = self.kinds[f"/{topic}"]
        message = self.build(kind, **fields)
        self.entries.append((time, f"/{topic}", bytes(self.types.serialize_cdr(message, kind))))

    def link(self, number):
        return self.build("telerobot/msg/LinkStamp", number=number, sender="test")

    def circle(self, plan_time):
        u = np.clip(plan_time / SECONDS, 0.0, 1.0)
        angle = 2.0 * np.pi * u**3 * (10.0 - 15.0 * u + 6.0 * u**2)
        center = self.robot.forward(self.robot.home)
        offset = 0.08 * np.column_stack([np.cos(angle) - 1.0, np.sin(angle), np.zeros_like(angle)])
        return center.translation + offset

    def make(self):
        self.plan = self.circle(np.arange(PERIOD, SECONDS + PERIOD / 2, PERIOD))
        self.operator()
        self.arm()
        self.diagnostics()

    def operator(self):
        for i, position in enumerate(self.plan):
            time = START + 0.5 * PERIOD * (i + 1)
            points = self.build(
                "telerobot/msg/PlanPoints",
                first_seq=i + 1,
                time=np.array([(i + 1) * PERIOD]),
                pose=np.array([*position, 0.0, 0.0, 0.0, 1.0]),
                timing=np.array([2], dtype=np.uint8),
            )
            self.add(time, "path_plan_queue/plan", points=points)
            self.add(time, "forward_simulator/state", head_time=(i + 1) * PERIOD, lead=0.5 * PERIOD * i)
            self.add(time, "operator_side/plan_executor/operations", link=self.link(i + 1))
            self.add(time + DELAY, "plan_executor/operations", link=self.link(i + 1))
            told = {
                "length": i,
                "lead": 0.5 * PERIOD * i,
                "jumps": int(i > 50),
                "time_clutch": False,
                "round_trip": 2.0,
                "orientation_clutch": i <= 50,
                "linear_scale": 1.0 if i <= 50 else 0.5,
                "angular_scale": 1.0,
            }
            self.add(time, "path_plan_queue/state", agent="operator", **told)
            self.add(time, "path_plan_queue/pose_target_cmds", pose=self.device(position))

    def device(self, position):
        point = self.build("geometry_msgs/msg/Point", **dict(zip("xyz", map(float, position), strict=True)))
        return self.build("geometry_msgs/msg/Pose", position=point)

    def arm(self):
        time = np.arange(0.0, SECONDS + STEP / 2, STEP)
        home = self.robot.forward(self.robot.home)
        path = self.circle(time)
        quaternion = np.array([*pin.Quaternion(home.rotation).coeffs()])
        q = Kinematics(self.robot).solve_path(np.hstack([path, np.tile(quaternion, (len(path), 1))]), self.robot.home)
        v = np.gradient(q, STEP, axis=0)
        a = np.gradient(v, STEP, axis=0)
        if "too fast" in self.faults:
            v[len(v) // 2, 0] = 1.5 * self.robot.limits.velocity[0]
        if "off the path" in self.faults:
            q[len(q) // 2 :, 0] += 0.02
        first = START + DELAY
        for i, now in enumerate(time):
            at = first + now
            motion = {"monotonic": 500.0 + now}
            setpoint = {"number": i + 1, "position": q[i], "velocity": v[i], "acceleration": a[i], **motion}
            self.add(at, "hardware_interface/setpoint", **setpoint)
            if "too few joints" in self.faults and i % 50 == 7:  # of a stranger
                few = {name: 9.0 * np.ones(2) for name in ("position", "velocity", "acceleration")}
                self.add(at, "hardware_interface/setpoint", **{**setpoint, **few})
            self.add(at, "joint_states", name=[*self.robot.joint_names, "finger"], position=np.append(q[i], 0.01))
            if i % 2 == 0:
                joints = {"joint_position": q[i], "joint_velocity": v[i], "joint_acceleration": a[i]}
                self.add(at, "gcmsf_control/state", state=1, plan_time=now, steps=i + 1, **motion, **joints)
        at_rest = {"state": 0, "plan_time": SECONDS, "steps": len(time) + 1, "monotonic": 500.1 + SECONDS}
        rest = {"joint_position": q[-1], "joint_velocity": 0.0 * q[-1], "joint_acceleration": 0.0 * q[-1]}
        self.add(first + SECONDS + 0.01, "gcmsf_control/state", **at_rest, **rest)
        self.executed(first)

    def executed(self, first):
        ranges = [(seq, seq + 1) for seq in range(1, len(self.plan) + 1, 2)]
        if "lost" in self.faults:
            del ranges[50]
        if "twice" in self.faults:
            ranges.insert(51, ranges[50])
        if "out of order" in self.faults:
            ranges[20], ranges[21] = ranges[21], ranges[20]
        if "unknown" in self.faults:
            ranges.append((5000, 5001))
        for i, (first_seq, last_seq) in enumerate(ranges):
            at = first + 2 * PERIOD * (i + 1)
            self.add(at, "plan_executor/executed", first_seq=first_seq, last_seq=last_seq)
            state = {"link": self.link(i + 1), "state": 1, "joint_position": self.robot.home}
            self.add(at, "plan_executor/state", **state)
            if i % 10:
                self.add(at + DELAY, "operator_side/plan_executor/state", **state)

    def diagnostics(self):
        def status(name, **values):
            pairs = [self.build("diagnostic_msgs/msg/KeyValue", key=k, value=v) for k, v in values.items()]
            return self.build("diagnostic_msgs/msg/DiagnosticStatus", name=name, hardware_id="arm", values=pairs)

        self.add(8.0, "diagnostics", status=[status("/operator_input", scale="0.5", poses_sent="400")])
        refused = "points.pose[3]: nan is not allowed; allowed: finite numbers"
        samples = {"samples_received": "399", "samples_late": "2", "samples_worst_ms": "85"}
        self.add(8.1, "diagnostics", status=[status("/path_plan_queue", last_refusal=refused, **samples)])
        self.add(8.2, "link_emulator/status", delay=DELAY, up=True, down=True, up_received=200)


@pytest.fixture(scope="session")
def make_run(tmp_path_factory):
    """Folder of a recorded run with the faults named."""
    made = {}

    def make(*faults):
        if faults not in made:
            folder = tmp_path_factory.mktemp("run") / "bag"
            RunMaker(folder, faults)
            made[faults] = folder
        return made[faults]

    return make


@pytest.fixture
def panel():
    """The Qt panel, off screen; skipped without Qt."""
    from qt_panel import application

    running = application()
    from telerobot_nodes.operator.panel import OperatorPanel

    widget = OperatorPanel(("cartesian_guarded", "gcm"))
    widget.show()
    running.processEvents()
    yield widget
    widget.close()


@pytest.fixture
def sent(panel):
    """Commands that the panel sends."""
    received = []
    panel.requests.command.connect(received.append)
    return received
