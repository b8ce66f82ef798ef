"""The parameters of the compliant-motion primitive and the kinds of primitive that preset them [GCMSF]."""

from __future__ import annotations

from telerobot_nodes.motion.parameters.declarations import Declaration, declarations
from telerobot_nodes.motion.parameters.parameters import (
    END_BITS,
    FIELDS,
    GcmsfParameters,
    Trajectory,
    markdown_table,
    parameters_from,
)
from telerobot_nodes.motion.parameters.primitive_kinds import (
    KINDS,
    Grasp,
    Guard,
    KindValues,
    PrimitiveKind,
    Touch,
    kind_named,
    markdown_kinds,
    values_of,
)

__all__ = [
    "END_BITS",
    "FIELDS",
    "KINDS",
    "Declaration",
    "GcmsfParameters",
    "Grasp",
    "Guard",
    "KindValues",
    "PrimitiveKind",
    "Touch",
    "Trajectory",
    "declarations",
    "kind_named",
    "markdown_kinds",
    "markdown_table",
    "parameters_from",
    "values_of",
]
