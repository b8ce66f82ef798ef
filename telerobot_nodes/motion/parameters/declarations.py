"""What each parameter of a primitive is declared as: type, unit, bounds, length and default, for forms and pages."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import Any

from telerobot_nodes.core.config import ParameterInfo, types_of
from telerobot_nodes.motion.parameters.parameter_fields import Group, Selection, Shape
from telerobot_nodes.motion.parameters.parameters import GcmsfParameters
from telerobot_nodes.motion.parameters.primitive_kinds import OWN, PrimitiveKind


@dataclasses.dataclass(frozen=True)
class Declaration:
    """One parameter. `kind`: its type; `default`: of the primitive, else of the law."""

    name: str
    kind: Any
    info: ParameterInfo
    shape: Shape
    default: Any

    @property
    def selects(self) -> bool:
        """True for flags of degrees of freedom."""
        return bool(self.kind == Selection)


def declarations(kind: PrimitiveKind) -> Mapping[str, Declaration]:
    """Every parameter that a primitive allows, by name."""
    known = _declared()
    return {
        name: dataclasses.replace(known[name], default=kind.defaults.get(name, known[name].default))
        for name in kind.allowed
    }


@functools.cache
def _declared() -> dict[str, Declaration]:
    law = [group.default_factory for group in dataclasses.fields(GcmsfParameters)]
    groups: list[type[Group]] = [*law, *OWN.values()]  # type: ignore[list-item]
    return {
        entry.name: Declaration(
            entry.name,
            types_of(group)[entry.name],
            entry.metadata["parameter"],
            entry.metadata["shape"],
            entry.default,
        )
        for group in groups
        for entry in dataclasses.fields(group)  # type: ignore[arg-type]
    }
