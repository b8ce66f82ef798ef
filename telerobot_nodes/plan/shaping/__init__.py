"""From the operator's input to plan points that the arm can follow: limits, sampling, plan time [US5046022]."""

from __future__ import annotations

from telerobot_nodes.plan.shaping.device import Jump
from telerobot_nodes.plan.shaping.follower import FollowerLimits
from telerobot_nodes.plan.shaping.hand_scale import HandScale
from telerobot_nodes.plan.shaping.point_sampler import PointSampler, Reach
from telerobot_nodes.plan.shaping.shaper import Shaper, ShaperConfig
from telerobot_nodes.plan.shaping.spline_path import PathLoad
from telerobot_nodes.plan.shaping.time_base_config import TimeBaseConfig
from telerobot_nodes.plan.shaping.time_parameterization import PathTimeParameterization, SampledPoints

__all__ = [
    "FollowerLimits",
    "HandScale",
    "Jump",
    "PathLoad",
    "PathTimeParameterization",
    "PointSampler",
    "Reach",
    "SampledPoints",
    "Shaper",
    "ShaperConfig",
    "TimeBaseConfig",
]
