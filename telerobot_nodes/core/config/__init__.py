"""Parameters, start options and shared files: read strictly, checked once, errors with file, line, column and key."""

from __future__ import annotations

from telerobot_nodes.core.config.journal import Journal
from telerobot_nodes.core.config.life_record import LifeRecord, Note
from telerobot_nodes.core.config.options import STATE_VARIABLE, NodeOptions, state_file
from telerobot_nodes.core.config.parameters import (
    ParameterInfo,
    check_parameter,
    load_parameters,
    parameter,
    parameter_info,
    types_of,
)
from telerobot_nodes.core.config.share import example_robot_data, share_path
from telerobot_nodes.core.config.transport import (
    DISCOVERY,
    PROFILES,
    check_transport_environment,
    found_quickly_environment,
    is_loopback,
    transport_environment,
)
from telerobot_nodes.core.config.yaml_file import (
    OWN_KEY,
    SOURCE,
    FileMapping,
    Key,
    Rules,
    Spot,
    build,
    convert,
    finite,
    parse_yaml,
    read_yaml,
    read_yaml_text,
)

__all__ = [
    "DISCOVERY",
    "OWN_KEY",
    "PROFILES",
    "SOURCE",
    "STATE_VARIABLE",
    "FileMapping",
    "Journal",
    "Key",
    "LifeRecord",
    "NodeOptions",
    "Note",
    "ParameterInfo",
    "Rules",
    "Spot",
    "build",
    "check_parameter",
    "check_transport_environment",
    "convert",
    "example_robot_data",
    "finite",
    "found_quickly_environment",
    "is_loopback",
    "load_parameters",
    "parameter",
    "parameter_info",
    "parse_yaml",
    "read_yaml",
    "read_yaml_text",
    "share_path",
    "state_file",
    "transport_environment",
    "types_of",
]
