"""Sensor fusion [GCMSF]: every source of motion in one compiled step, from measurements to wanted joints.

Order of composition, fixed: every source looks at the state the last sample left; their displacements of NOM are
added, force + teleoperation + dither + springs + joint field + further; offset and rotation of the sum are limited
(`max_sf_vel`); the sum moves NOM once, offset along its present axes and rotation about its origin (`accumulate`);
the ring is solved and the joints follow. A further module (a force field) hands in a displacement of NOM per sample.
"""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin
from numba import njit

from telerobot_nodes.core.chain import Chain, Workspace, chain_of, forward, jacobian, log6_error, workspace_of
from telerobot_nodes.core.inverse import inverse_step
from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.validation import FloatArray
from telerobot_nodes.motion.dither import dither_motion, give_back
from telerobot_nodes.motion.force import feel, force_motion, load_wrench
from telerobot_nodes.motion.joint_field import field_motion, margins
from telerobot_nodes.motion.law_records import (
    BIAS,
    DEL_INVERSE,
    DEVIATION,
    FROZEN,
    FURTHER,
    GOAL,
    JOINT_MARGIN,
    LAST_JOINT_MARGIN,
    LAST_SIGMA,
    MAX_SF_VEL,
    MOTION,
    NOMINAL,
    NOMINAL_CARTESIAN,
    NOMINAL_KIND,
    NOMINAL_STREAM,
    PERIOD,
    Q_MEASURED,
    Q_NOMINAL,
    RESIDUAL,
    SCRATCH,
    SENSE_WRENCH,
    SIGMA,
    SMOOTH_WRENCH,
    STEP,
    STEPPED,
    TELE,
    TIME,
    TRIAL,
    WANTED,
    WRENCH,
    Inputs,
    Law,
    State,
    law_of,
    new_inputs,
    new_state,
)
from telerobot_nodes.motion.monitors import LOST_ANGLE, LOST_DISTANCE, watch
from telerobot_nodes.motion.parameters import GcmsfParameters
from telerobot_nodes.motion.ring import absorb, accumulate, nominal_of_tool, solve_ring
from telerobot_nodes.motion.springs import spring_motion
from telerobot_nodes.motion.teleoperation import hand_motion
from telerobot_nodes.motion.tool_motion import MAX_JOINT_STEP, pose_into
from telerobot_nodes.motion.transforms import compose, copy, copy_rotation, shorten

GOOD_ENOUGH = 1e-6  # [m], LOST_ANGLE / LOST_DISTANCE times as much [rad]: no further inverse step
CANNOT = 1e-3  # [m] the arm is at an end of its reach: sensor motion gives way
_STEPS = 3


@njit(cache=True)
def law_step(chain: Chain, ws: Workspace, law: Law, state: State, inputs: Inputs) -> int:
    """One sample of the whole law; wanted joints into `state.joint[WANTED]`. Returns the monitor that stops it."""
    forward(chain, inputs.joint[Q_MEASURED], ws)
    feel(law, state, inputs, ws.rotation)
    _place_nominal(chain, ws, law, state, inputs)
    moved = _fuse(chain, ws, law, state, inputs)
    solve_ring(law, state)
    _follow(chain, ws, state, inputs)
    if moved and state.value[RESIDUAL] > CANNOT:
        forward(chain, state.joint[WANTED], ws)
        absorb(law, state, ws.rotation, ws.position)
        state.value[RESIDUAL] = 0.0
    monitor = watch(law, state)
    state.value[LAST_JOINT_MARGIN] = state.value[JOINT_MARGIN]
    state.value[LAST_SIGMA] = state.value[SIGMA]
    pose_into(state.R[GOAL], state.p[GOAL], state.pose)
    return monitor


@njit(cache=True)
def _place_nominal(chain: Chain, ws: Workspace, law: Law, state: State, inputs: Inputs) -> None:
    """NOM's nominal place in WORLD."""
    if inputs.value[NOMINAL_KIND] == NOMINAL_CARTESIAN:
        copy_rotation(inputs.R[MOTION], state.R[NOMINAL])
        copy(inputs.p[MOTION], state.p[NOMINAL])
    else:
        forward(chain, inputs.joint[Q_NOMINAL], ws)
        nominal_of_tool(law, ws.rotation, ws.position, state.R[NOMINAL], state.p[NOMINAL])


@njit(cache=True)
def _fuse(chain: Chain, ws: Workspace, law: Law, state: State, inputs: Inputs) -> bool:
    """Every source's displacement into `state.source`, their limited sum into trDel; True when there was any."""
    q, step, source = state.joint[WANTED], state.six[STEP], state.source
    forward(chain, q, ws)
    jacobian(chain, ws)
    margins(law, state, ws, q)
    R, p = np.empty((3, 3)), np.empty(3)
    compose(state.R[NOMINAL], state.p[NOMINAL], state.R[DEL_INVERSE], state.p[DEL_INVERSE], R, p)
    force_motion(law, state, source[0])
    hand_motion(law, state, inputs.six[TELE], R, source[1])
    dither_motion(law, state, inputs.value[TIME], source[2])
    spring_motion(law, state, source[3])
    field_motion(law, state, ws, q, source[4])
    copy(inputs.six[FURTHER], source[5])
    moved = False
    for r in range(6):
        step[r] = 0.0
        for k in range(6):
            step[r] += source[k, r]
        moved = moved or step[r] != 0.0
    if inputs.value[FROZEN] > 0.0:
        moved = False
    if moved:
        shorten(step, law.pair[MAX_SF_VEL], law.value[PERIOD], state.share)
        give_back(state, state.share)
        accumulate(state.R[DEL_INVERSE], state.p[DEL_INVERSE], step)
    return moved


@njit(cache=True)
def _follow(chain: Chain, ws: Workspace, state: State, inputs: Inputs) -> None:
    """Joints of the goal into `state.joint[WANTED]`, by inverse steps from where the nominal motion expects them."""
    q, stepped, scratch = state.joint[TRIAL], state.joint[STEPPED], state.joint[SCRATCH]
    wanted, deviation, nominal = state.joint[WANTED], state.joint[DEVIATION], inputs.joint[Q_NOMINAL]
    cartesian = inputs.value[NOMINAL_KIND] == NOMINAL_CARTESIAN
    for i in range(q.size):
        seed = wanted[i] if cartesian else nominal[i] + deviation[i]
        q[i] = min(max(seed, chain.lower[i]), chain.upper[i])
    for _ in range(_STEPS):
        inverse_step(chain, q, state.R[GOAL], state.p[GOAL], nominal, MAX_JOINT_STEP, ws, stepped, scratch)
        copy(stepped, q)
        forward(chain, q, ws)
        linear, angular = log6_error(ws, state.R[GOAL], state.p[GOAL])
        state.value[RESIDUAL] = max(linear, angular * LOST_DISTANCE / LOST_ANGLE)
        if state.value[RESIDUAL] < GOOD_ENOUGH:
            break
    for i in range(q.size):
        wanted[i] = q[i]
        deviation[i] = q[i] - nominal[i]


@njit(cache=True)
def _absorb_joints(chain: Chain, ws: Workspace, law: Law, state: State, q: FloatArray) -> None:
    forward(chain, q, ws)
    absorb(law, state, ws.rotation, ws.position)
    copy(q, state.joint[WANTED])


@njit(cache=True)
def _start(chain: Chain, ws: Workspace, law: Law, state: State, q: FloatArray) -> None:
    forward(chain, q, ws)
    nominal_of_tool(law, ws.rotation, ws.position, state.R[NOMINAL], state.p[NOMINAL])
    pose_into(ws.rotation, ws.position, state.pose)
    copy(q, state.joint[WANTED])
    state.value[LAST_JOINT_MARGIN] = -math.inf
    state.value[LAST_SIGMA] = -math.inf


@njit(cache=True)
def _touch_on(chain: Chain, ws: Workspace, law: Law, state: State, inputs: Inputs) -> None:
    """The filter begins with the wrench felt last: what is touched now is not forgotten."""
    forward(chain, inputs.joint[Q_MEASURED], ws)
    feel(law, state, inputs, ws.rotation)
    copy(state.six[SENSE_WRENCH], state.six[SMOOTH_WRENCH])


@njit(cache=True)
def _load(chain: Chain, ws: Workspace, law: Law, q: FloatArray, out: FloatArray) -> None:
    forward(chain, q, ws)
    load_wrench(law, ws.rotation, out)


class Fusion:
    """The law of one arm, stepped every `period` [s]. One thread.

    `state` and `inputs` are to read and to fill (rows in `law_records.py`); `q` (dof,) [rad] are the joints wanted,
    `pose` (7,) the tool wanted, in BASE.
    """

    def __init__(self, robot: RobotModel, period: float, parameters: GcmsfParameters | None = None) -> None:
        self.robot = robot
        self.period = period
        self.parameters = GcmsfParameters() if parameters is None else parameters
        self._chain = chain_of(robot.model, robot.tool_frame_id)
        self._ws = workspace_of(robot.dof)
        self._law = law_of(self.parameters, robot, period)
        self.state = new_state(robot.dof)
        self.inputs = new_inputs(robot.dof)
        self.pose = self.state.pose
        self.q: FloatArray = self.state.joint[WANTED]
        self.inputs.joint[:] = robot.home
        self.reset(robot.home)
        self.advance(0.0)  # compiles
        _touch_on(self._chain, self._ws, self._law, self.state, self.inputs)
        self.reset(robot.home)

    def apply(self, parameters: GcmsfParameters) -> None:
        """Use another set from the next sample on. Raises InvalidValueError, changing nothing."""
        self.use(parameters, law_of(parameters, self.robot, self.period))

    def use(self, parameters: GcmsfParameters, law: Law) -> None:
        """Use another set whose law was made before: the same in the loop, without its cost."""
        self._law = law
        self.parameters = parameters

    def reset(self, q: FloatArray) -> None:
        """No sensor motion, at rest at `q` (dof,) [rad]; the tare stays."""
        for array, fresh in zip(self.state, new_state(self.robot.dof), strict=True):
            array[...] = fresh
        self.inputs.six[TELE] = self.inputs.six[FURTHER] = 0.0
        _start(self._chain, self._ws, self._law, self.state, np.array(q, dtype=np.float64))

    def touch_on(self) -> None:
        """After a reset: begin with the wrench of `inputs`, unless none was felt yet."""
        if self.inputs.six[WRENCH].any():
            _touch_on(self._chain, self._ws, self._law, self.state, self.inputs)

    def tare(self, q: FloatArray, wrench: FloatArray) -> None:
        """Take `wrench` (6,) [N], [N m] in SENSOR, read with the arm at `q` and touching nothing, as no contact."""
        load = np.zeros(6)
        _load(self._chain, self._ws, self._law, np.array(q, dtype=np.float64), load)
        self.inputs.six[BIAS] = wrench - load

    def advance(self, time: float) -> int:
        """One sample at `time` [s] since the start, from `inputs`; wanted joints into `q`.

        Increments of teleoperation and of a further module are used up. Returns the monitor, 0: none.
        """
        inputs = self.inputs
        inputs.value[TIME] = time
        monitor: int = law_step(self._chain, self._ws, self._law, self.state, inputs)
        inputs.six[TELE:] = 0.0
        return monitor

    def absorb(self, q: FloatArray) -> None:
        """The arm is held at `q` (dof,) [rad]: sensor motion is what took it there."""
        _absorb_joints(self._chain, self._ws, self._law, self.state, np.array(q, dtype=np.float64))

    @property
    def tr_del(self) -> pin.SE3:
        """The sensor motion so far, trDel."""
        return pin.SE3(self.state.R[DEL_INVERSE].copy(), self.state.p[DEL_INVERSE].copy()).inverse()

    def T_world_nom(self, q: FloatArray) -> pin.SE3:
        """NOM in WORLD with the arm at `q` (dof,) [rad]: trBase trTn trNom."""
        forward(self._chain, np.array(q, dtype=np.float64), self._ws)
        R, p = np.empty((3, 3)), np.empty(3)
        nominal_of_tool(self._law, self._ws.rotation, self._ws.position, R, p)
        return pin.SE3(R, p)


class FusedTool:
    """A plan stream with sensor motion on top: the ToolMotion of a ControlStep that follows windows."""

    def __init__(self, fusion: Fusion) -> None:
        self.fusion = fusion
        self.pose = fusion.pose
        self.monitor = 0  # the first since the reset that asked for a stop

    def reset(self, q: FloatArray) -> None:
        """At rest at `q` (dof,) [rad]."""
        self.fusion.reset(q)
        self.monitor = 0

    def step(self, now: float, q_nominal: FloatArray, q_wanted: FloatArray, frozen: bool) -> None:
        """Joints wanted into `q_wanted` (dof,) [rad]; when `frozen` sensors add no more motion."""
        inputs = self.fusion.inputs
        inputs.value[FROZEN] = frozen
        inputs.value[NOMINAL_KIND] = NOMINAL_STREAM
        inputs.joint[Q_NOMINAL] = q_nominal
        self.monitor = self.fusion.advance(now) or self.monitor
        q_wanted[:] = self.fusion.q
