import numpy as np
import pytest
from hypothesis import settings

from telerobot_nodes.core.protocol import MotionWindow
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.motion.law import law_of
from telerobot_nodes.motion.law.law_records import new_inputs, new_state
from telerobot_nodes.motion.parameters import parameters_from

settings.register_profile("compiled", deadline=None)  # the first example compiles
settings.load_profile("compiled")


@pytest.fixture(scope="session", params=["arm", "panda"], ids=["6 joints", "7 joints"])
def robot(request):
    return load_robot(request.param)


@pytest.fixture(scope="session")
def arm():
    return load_robot("arm")


def rest_to_rest(q_from, q_to, duration, t):
    """Minimum-jerk motion at times t: q, v, a of shape (n, dof)."""
    u = np.clip(np.asarray(t) / duration, 0.0, 1.0)[:, None]
    d = np.asarray(q_to) - np.asarray(q_from)
    q = q_from + d * (10 * u**3 - 15 * u**4 + 6 * u**5)
    v = d * (30 * u**2 - 60 * u**3 + 30 * u**4) / duration
    a = d * (60 * u - 180 * u**2 + 120 * u**3) / duration**2
    return q, v, a


@pytest.fixture
def make_window():
    """A window of a minimum-jerk motion that begins at `begin`; its first sample is at `start`."""

    def make(q_from, q_to, *, number=1, begin=0.0, duration=1.0, start=None, splice=None, period=0.02, gripper=()):
        start = begin if start is None else start
        count = int(np.ceil((begin + duration - start) / period - 1e-9)) + 1
        times = start + period * np.arange(count)
        q, v, a = rest_to_rest(np.asarray(q_from, float), np.asarray(q_to, float), duration, times - begin)
        splice = start if splice is None else splice
        opening = np.full(count, gripper) if np.ndim(gripper) == 0 else np.empty(0)
        return MotionWindow(number, splice, start, period, q, v, a, times - begin, opening)

    return make


@pytest.fixture
def slow_motion():
    """Joint angles to move between, and a duration that keeps every limit with room."""

    def choose(robot, scale=0.3, share=0.7):
        middle = np.clip(robot.home, robot.limits.lower + 0.4, robot.limits.upper - 0.4)
        step = scale * np.where(np.arange(robot.dof) % 2, -1.0, 1.0)
        target = np.clip(middle + step, robot.limits.lower + 0.01, robot.limits.upper - 0.01)
        travel = np.abs(target - middle)
        by_speed = (1.875 * travel / robot.limits.velocity).max()
        by_push = np.sqrt(5.7735 * travel / robot.limits.acceleration).max()
        return middle, target, max(by_speed, by_push) / share

    return choose


@pytest.fixture(scope="session")
def make_law():
    """The compiled law's arrays for a robot and parameters by flat name."""

    def make(robot, period=0.005, **values):
        return law_of(parameters_from(values), robot, period), new_state(robot.dof), new_inputs(robot.dof)

    return make
