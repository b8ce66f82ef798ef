"""The docs' page of parameters and primitives: `python -m telerobot_nodes.motion.parameter_page`."""

from __future__ import annotations

from telerobot_nodes.motion.parameters import markdown_table
from telerobot_nodes.motion.primitive_kinds import markdown_kinds

_HEAD = """# Parameters of the compliant motion primitive

Made by `make docs`. Names of [GCMSF] and the fields that stand for them; DOFs are in the order x y z rx ry rz, poses
are x y z [m], qx qy qz qw.

"""
_KINDS = """
# Primitives of the executive

Each is the same law with presets [US5231693]; a parameter of another kind of motion is refused by name.

"""


def markdown() -> str:
    """The whole page."""
    return _HEAD + markdown_table() + _KINDS + markdown_kinds()


if __name__ == "__main__":
    print(markdown(), end="")
