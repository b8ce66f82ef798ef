"""From the graph table's words to rclpy's: message classes by type name, QoS profiles by purpose."""

from __future__ import annotations

import importlib
from typing import Any

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from telerobot_nodes.errors import GraphError
from telerobot_nodes.graph import Qos


def interface_class(type_name: str) -> Any:
    """Class of `package/kind/Name`; raises GraphError when it is not installed."""
    package, kind, name = type_name.split("/")
    try:
        return getattr(importlib.import_module(f"{package}.{kind}"), name)
    except (ImportError, AttributeError) as error:
        raise GraphError(f"interface {type_name} is not importable: {error}; build the package first") from error


def qos_profile(qos: Qos) -> QoSProfile:
    """The profile that the table's words mean."""
    profile = qos.value
    return QoSProfile(
        depth=profile.depth,
        reliability=ReliabilityPolicy.RELIABLE if profile.reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if profile.durable else DurabilityPolicy.VOLATILE,
    )
