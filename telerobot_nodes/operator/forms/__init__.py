"""Forms and menus as a person sees them: fields with units, ranges and defaults; what is typed, checked by field."""

from __future__ import annotations

from telerobot_nodes.operator.forms.form import (
    AddLeaf,
    Asked,
    Filled,
    Form,
    MenuItem,
    Mode,
    StartLeaf,
    StopLeaf,
    stops_first,
)
from telerobot_nodes.operator.forms.form_field import FormField, Sort, Value

__all__ = [
    "AddLeaf",
    "Asked",
    "Filled",
    "Form",
    "FormField",
    "MenuItem",
    "Mode",
    "Sort",
    "StartLeaf",
    "StopLeaf",
    "Value",
    "stops_first",
]
