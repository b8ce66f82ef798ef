"""Forms and menus as a person sees them: fields with units, ranges and defaults; what is typed, checked by field."""

from __future__ import annotations

from telerobot_nodes.operator.forms.form import Filled, Form, MenuItem, RunLeaf, StopLeaf
from telerobot_nodes.operator.forms.form_field import FormField, Sort, Value

__all__ = ["Filled", "Form", "FormField", "MenuItem", "RunLeaf", "Sort", "StopLeaf", "Value"]
