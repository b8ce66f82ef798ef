"""Sensor fusion [GCMSF]: all sources of motion in one compiled step, from measurements to wanted joints.

The order is fixed. Every source uses the state of the last sample. Their displacements of NOM are added in the order
of `Source`; offset and rotation of the sum are limited (`max_sf_vel`) and kept out of the guard; the sum moves NOM,
offset along its present axes and rotation about its origin (`accumulate`). Then the ring equation is solved, and
inverse kinematics gives the joints.
"""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin
from numba import njit

from telerobot_nodes.core.robot import (
    Chain,
    RobotModel,
    Workspace,
    chain_of,
    forward,
    inverse_step,
    jacobian,
    log6_error,
    workspace_of,
)
from telerobot_nodes.core.transforms import copy, copy_rotation, pose_into, shorten
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.motion.law.dither import dither_motion, return_remainder
from telerobot_nodes.motion.law.force import contact_wrench, force_motion, load_wrench
from telerobot_nodes.motion.law.guard_rows import keep_out, room
from telerobot_nodes.motion.law.joint_field import field_motion, margins
from telerobot_nodes.motion.law.law_records import (
    InputJoint,
    Inputs,
    InputSix,
    InputValue,
    Law,
    LawSix,
    LawValue,
    Nominal,
    Source,
    State,
    StateFrame,
    StateJoint,
    StateSix,
    StateValue,
    law_of,
    new_inputs,
    new_state,
)
from telerobot_nodes.motion.law.monitors import LOST_ANGLE, LOST_DISTANCE, watch
from telerobot_nodes.motion.law.ring import absorb, accumulate, nom_in_world, nominal_of_tool, solve_ring
from telerobot_nodes.motion.law.springs import spring_motion
from telerobot_nodes.motion.law.stiffness import follow_stiffness, start_stiffness
from telerobot_nodes.motion.law.teleoperation import teleoperation_motion
from telerobot_nodes.motion.parameters import GcmsfParameters

GOOD_ENOUGH = 1e-6  # [m], and LOST_ANGLE / LOST_DISTANCE times that in [rad]: residual that ends the inverse steps
CANNOT = 1e-3  # [m] residual at the end of the arm's reach: sensor motion gives way
MAX_JOINT_STEP = 0.2  # [rad] per inverse step, far above what the setpoint limiter lets pass
_STEPS = 3


@njit(cache=True)
def law_step(chain: Chain, ws: Workspace, law: Law, state: State, inputs: Inputs) -> int:
    """One sample of the law; wanted joints into `state.joint[WANTED]`. Returns the Termination that stops it, or 0."""
    forward(chain, inputs.joint[InputJoint.Q_MEASURED], ws)
    contact_wrench(law, state, inputs, ws.rotation)
    _place_nominal(chain, ws, law, state, inputs)
    moved = _fuse(chain, ws, law, state, inputs)
    solve_ring(law, state)
    _follow(chain, ws, state, inputs)
    if moved and state.value[StateValue.RESIDUAL] > CANNOT:
        forward(chain, state.joint[StateJoint.WANTED], ws)
        absorb(law, state, ws.rotation, ws.position)
        state.value[StateValue.RESIDUAL] = 0.0
    monitor = watch(law, state)
    state.value[StateValue.LAST_JOINT_MARGIN] = state.value[StateValue.JOINT_MARGIN]
    state.value[StateValue.LAST_SIGMA] = state.value[StateValue.SIGMA]
    pose_into(state.R[StateFrame.GOAL], state.p[StateFrame.GOAL], state.pose)
    return monitor


@njit(cache=True)
def _place_nominal(chain: Chain, ws: Workspace, law: Law, state: State, inputs: Inputs) -> None:
    """Nominal place of NOM in WORLD."""
    if int(inputs.value[InputValue.NOMINAL_KIND]) == Nominal.CARTESIAN:
        copy_rotation(inputs.R, state.R[StateFrame.NOMINAL])
        copy(inputs.p, state.p[StateFrame.NOMINAL])
    else:
        forward(chain, inputs.joint[InputJoint.Q_NOMINAL], ws)
        nominal_of_tool(law, ws.rotation, ws.position, state.R[StateFrame.NOMINAL], state.p[StateFrame.NOMINAL])


@njit(cache=True)
def _fuse(chain: Chain, ws: Workspace, law: Law, state: State, inputs: Inputs) -> bool:
    """Displacement of each source into `state.source`, their limited sum into trDel; True if there was any."""
    q, step, source = state.joint[StateJoint.WANTED], state.six[StateSix.STEP], state.source
    forward(chain, q, ws)
    jacobian(chain, ws)
    margins(law, state, ws, q)
    R, p = np.empty((3, 3)), np.empty(3)
    nom_in_world(state, R, p)
    follow_stiffness(law, state, R, p)
    force_motion(law, state, source[Source.FORCE])
    teleoperation_motion(law, state, inputs.six[InputSix.TELE], R, source[Source.TELEOPERATION])
    dither_motion(law, state, inputs.value[InputValue.TIME], source[Source.DITHER])
    spring_motion(law, state, source[Source.SPRINGS])
    field_motion(law, state, ws, q, source[Source.JOINT_FIELD])
    copy(inputs.six[InputSix.FURTHER], source[Source.FURTHER])
    moved = False
    for r in range(6):
        step[r] = 0.0
        for k in range(len(source)):
            step[r] += source[k, r]
        moved = moved or step[r] != 0.0
    if inputs.value[InputValue.FROZEN] > 0.0:
        moved = False
    if moved:
        shorten(step, law.six[LawSix.MAX_SF_VEL], law.value[LawValue.SAMPLE_PERIOD], state.six[StateSix.SHARES])
        return_remainder(state, state.six[StateSix.SHARES])
        keep_out(law, R, p, step)
        accumulate(state.R[StateFrame.DEL_INVERSE], state.p[StateFrame.DEL_INVERSE], step)
    return moved


@njit(cache=True)
def _follow(chain: Chain, ws: Workspace, state: State, inputs: Inputs) -> None:
    """Joints of the goal into `state.joint[WANTED]`, by inverse steps from the nominal joints plus the last deviation.

    A plan is thus fed forward and never lags; without sensor motion its joints pass unchanged.
    """
    rows = state.joint
    q, stepped, scratch = rows[StateJoint.TRIAL], rows[StateJoint.STEPPED], rows[StateJoint.SCRATCH]
    wanted, deviation, nominal = rows[StateJoint.WANTED], rows[StateJoint.DEVIATION], inputs.joint[InputJoint.Q_NOMINAL]
    R_goal, p_goal = state.R[StateFrame.GOAL], state.p[StateFrame.GOAL]
    cartesian = int(inputs.value[InputValue.NOMINAL_KIND]) == Nominal.CARTESIAN
    for i in range(q.size):
        seed = wanted[i] if cartesian else nominal[i] + deviation[i]
        q[i] = min(max(seed, chain.lower[i]), chain.upper[i])
    for _ in range(_STEPS):
        inverse_step(chain, q, R_goal, p_goal, nominal, MAX_JOINT_STEP, ws, stepped, scratch)
        copy(stepped, q)
        forward(chain, q, ws)
        linear, angular = log6_error(ws, R_goal, p_goal)
        state.value[StateValue.RESIDUAL] = max(linear, angular * LOST_DISTANCE / LOST_ANGLE)
        if state.value[StateValue.RESIDUAL] < GOOD_ENOUGH:
            break
    for i in range(q.size):
        wanted[i] = q[i]
        deviation[i] = q[i] - nominal[i]


@njit(cache=True)
def _absorb_joints(chain: Chain, ws: Workspace, law: Law, state: State, q: FloatArray) -> None:
    forward(chain, q, ws)
    absorb(law, state, ws.rotation, ws.position)
    copy(q, state.joint[StateJoint.WANTED])


@njit(cache=True)
def _start(chain: Chain, ws: Workspace, law: Law, state: State, q: FloatArray) -> None:
    forward(chain, q, ws)
    nominal_of_tool(law, ws.rotation, ws.position, state.R[StateFrame.NOMINAL], state.p[StateFrame.NOMINAL])
    start_stiffness(law, state, state.R[StateFrame.NOMINAL], state.p[StateFrame.NOMINAL])
    pose_into(ws.rotation, ws.position, state.pose)
    copy(q, state.joint[StateJoint.WANTED])
    state.value[StateValue.LAST_JOINT_MARGIN] = -math.inf
    state.value[StateValue.LAST_SIGMA] = -math.inf


@njit(cache=True)
def _start_filter(chain: Chain, ws: Workspace, law: Law, state: State, inputs: Inputs) -> None:
    """Start the filter at the present wrench: an existing contact is kept."""
    forward(chain, inputs.joint[InputJoint.Q_MEASURED], ws)
    contact_wrench(law, state, inputs, ws.rotation)
    copy(state.six[StateSix.SENSE_WRENCH], state.six[StateSix.SMOOTH_WRENCH])


@njit(cache=True)
def _load_at(chain: Chain, ws: Workspace, law: Law, q: FloatArray, out: FloatArray) -> None:
    forward(chain, q, ws)
    load_wrench(law, ws.rotation, out)


class Fusion:
    """The law of one arm, stepped every `period` [s]. One thread.

    The caller fills `inputs` and reads `state` (rows in `law_records.py`). `q` (dof,) [rad] are the wanted joints,
    `pose` (7,) is the wanted tool pose in BASE.
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
        self.q: FloatArray = self.state.joint[StateJoint.WANTED]
        self.inputs.joint[:] = robot.home
        self.reset(robot.home)
        self.advance(0.0)  # compiles
        _start_filter(self._chain, self._ws, self._law, self.state, self.inputs)
        self.reset(robot.home)

    def apply(self, parameters: GcmsfParameters) -> None:
        """Use another parameter set from the next sample on. Raises InvalidValueError and then changes nothing."""
        self.use(parameters, law_of(parameters, self.robot, self.period))

    def use(self, parameters: GcmsfParameters, law: Law) -> None:
        """Use another parameter set with its law made before: the same as `apply`, cheap enough for the loop."""
        self._law = law
        self.parameters = parameters

    def reset(self, q: FloatArray) -> None:
        """Start at rest at `q` (dof,) [rad] without sensor motion; the tare stays."""
        for array, fresh in zip(self.state, new_state(self.robot.dof), strict=True):
            array[...] = fresh
        self.inputs.six[InputSix.TELE] = self.inputs.six[InputSix.FURTHER] = 0.0
        _start(self._chain, self._ws, self._law, self.state, np.array(q, dtype=np.float64))

    def start_filter(self) -> None:
        """After a reset: start the wrench filter at the wrench of `inputs`, if there was one."""
        if self.inputs.six[InputSix.WRENCH].any():
            _start_filter(self._chain, self._ws, self._law, self.state, self.inputs)

    def tare(self, q: FloatArray, wrench: FloatArray) -> None:
        """Take `wrench` (6,) [N], [N m] in SENSOR, measured at `q` (dof,) [rad] without contact, as zero."""
        load = np.zeros(6)
        _load_at(self._chain, self._ws, self._law, np.array(q, dtype=np.float64), load)
        self.inputs.six[InputSix.BIAS] = wrench - load

    def advance(self, time: float) -> int:
        """Compute one sample at `time` [s] since the start from `inputs`; wanted joints into `q`.

        Consumes the increments of teleoperation and of another module. Returns the Termination of a monitor, or 0.
        """
        inputs = self.inputs
        inputs.value[InputValue.TIME] = time
        monitor: int = law_step(self._chain, self._ws, self._law, self.state, inputs)
        inputs.six[InputSix.TELE :] = 0.0
        return monitor

    def room(self, q: FloatArray, qd: FloatArray, times: FloatArray) -> float:
        """Least room [m] to the guard while the joints come to rest from `q`, `qd` within `times` (dof,) [s]."""
        return float(room(self._chain, self._ws, self._law, q, qd, times))

    def absorb(self, q: FloatArray) -> None:
        """Set the sensor motion to what leads to `q` (dof,) [rad], where the arm is held."""
        _absorb_joints(self._chain, self._ws, self._law, self.state, np.array(q, dtype=np.float64))

    @property
    def tr_del(self) -> pin.SE3:
        """The sensor motion so far, trDel."""
        state = self.state
        return pin.SE3(state.R[StateFrame.DEL_INVERSE].copy(), state.p[StateFrame.DEL_INVERSE].copy()).inverse()

    def T_world_nom(self, q: FloatArray) -> pin.SE3:
        """NOM in WORLD with the arm at `q` (dof,) [rad]: trBase trTn trNom."""
        forward(self._chain, np.array(q, dtype=np.float64), self._ws)
        R, p = np.empty((3, 3)), np.empty(3)
        nominal_of_tool(self._law, self._ws.rotation, self._ws.position, R, p)
        return pin.SE3(R, p)


class FusedTool:
    """A plan's motion with sensor motion on top: the ToolMotion of a ControlStep that follows windows."""

    def __init__(self, fusion: Fusion) -> None:
        self.fusion = fusion
        self.pose = fusion.pose
        self.monitor = 0  # Termination of the first monitor since the reset; 0: none

    def reset(self, q: FloatArray) -> None:
        """Start at rest at `q` (dof,) [rad]."""
        self.fusion.reset(q)
        self.monitor = 0

    def step(self, now: float, q_nominal: FloatArray, q_wanted: FloatArray, frozen: bool) -> None:
        """Write the wanted joints into `q_wanted` (dof,) [rad]; while `frozen`, sensors add no motion."""
        inputs = self.fusion.inputs
        inputs.value[InputValue.FROZEN] = frozen
        inputs.value[InputValue.NOMINAL_KIND] = Nominal.STREAM
        inputs.joint[InputJoint.Q_NOMINAL] = q_nominal
        self.monitor = self.fusion.advance(now) or self.monitor
        q_wanted[:] = self.fusion.q
