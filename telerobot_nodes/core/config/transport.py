"""The transport of the nodes on one host: UDP on loopback, unless the user's environment says otherwise.

Fast DDS prefers shared memory. With it, a process that joins can hold the publishers of its host for 0.33 s, and the
successor of a killed process may not be discovered at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree

from telerobot_nodes.core.config.share import share_path
from telerobot_nodes.errors import InvalidValueError

DISCOVERY = "ROS_AUTOMATIC_DISCOVERY_RANGE"
PROFILES = ("FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_DEFAULT_PROFILES_FILE")
PROFILE = PROFILES[0]
FAST_DDS = ("", "rmw_fastrtps_cpp")
# With LOCALHOST the middleware would add the shared memory again; the profile itself stays on loopback.
LOOPBACK = "config/udp_loopback.xml"
FOUND_QUICKLY = "config/fastdds.xml"


def transport_environment(base: Mapping[str, str]) -> dict[str, str]:
    """Variables to add to `base` for the project's own processes.

    A discovery range, profile, static peer or middleware of the user's own stays in force; the range is then LOCALHOST
    unless he set one.
    """
    reach = base.get(DISCOVERY, "")
    if is_loopback(base) and reach in ("", "LOCALHOST", "SYSTEM_DEFAULT"):  # of what started this one, or of a shell
        return {DISCOVERY: "SYSTEM_DEFAULT"}
    chosen = reach not in ("", "LOCALHOST") or base.get("ROS_STATIC_PEERS") or any(base.get(name) for name in PROFILES)
    if chosen or base.get("RMW_IMPLEMENTATION", "") not in FAST_DDS:
        return {DISCOVERY: reach or "LOCALHOST"}
    return {DISCOVERY: "SYSTEM_DEFAULT", PROFILE: str(share_path(LOOPBACK))}


def is_loopback(environment: Mapping[str, str]) -> bool:
    """True where the project's profile keeps the middleware on loopback, without shared memory."""
    return _profile(environment) == str(share_path(LOOPBACK))


def check_transport_environment(environment: Mapping[str, str]) -> None:
    """Raise InvalidValueError for what the middleware would silently do without: a profile, or security.

    With an unreadable profile it runs on its own defaults, also on the network. With security that is not enforced it
    runs unsecured where a key, or its own support of security, is missing.
    """
    for name in PROFILES:
        if environment.get(name):
            _check_profile(name, Path(environment[name]))
    strategy = environment.get("ROS_SECURITY_STRATEGY", "")
    if environment.get("ROS_SECURITY_ENABLE", "").lower() == "true" and strategy != "Enforce":
        raise InvalidValueError("ROS_SECURITY_STRATEGY", strategy, "allowed with ROS_SECURITY_ENABLE=true: Enforce")


def _check_profile(name: str, file: Path) -> None:
    allowed = "allowed: an XML file of Fast DDS profiles"
    try:
        root = ElementTree.parse(file).getroot()
    except (OSError, ElementTree.ParseError) as error:
        raise InvalidValueError(name, str(file), f"{allowed}; not readable: {error}") from error
    if root.tag.rpartition("}")[2] not in ("profiles", "dds"):
        raise InvalidValueError(name, str(file), f"{allowed}; its root is <{root.tag}>")


def found_quickly_environment(base: Mapping[str, str]) -> dict[str, str]:
    """Variables to add for a process that announces itself every 0.2 s instead of every 3 s, as all on loopback do."""
    return {} if _profile(base) else {PROFILE: str(share_path(FOUND_QUICKLY))}


def _profile(environment: Mapping[str, str]) -> str:
    return next((environment[name] for name in PROFILES if environment.get(name)), "")
