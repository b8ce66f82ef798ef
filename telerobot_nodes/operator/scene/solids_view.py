"""Obstacles around the arm and bodies in its tool, with names; only changes are sent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.operator.client import Solid
from telerobot_nodes.operator.scene import palette

OPACITY = 0.55
PLATE = (3.0, 3.0, 0.002)  # [m] drawn for a half-space
PLATE_OPACITY = 0.15
ABOVE = 0.03  # [m] from a solid to its name


class SolidsView:
    """Solids of one robot's world in a viser scene, one frame for WORLD and one for the tool."""

    def __init__(self, scene: Any, root: str = "/obstacles") -> None:
        self._scene, self._root = scene, root
        self._tool = scene.add_frame(f"{root}/held", show_axes=False, visible=False)
        self._drawn: dict[str, tuple[Solid, list[Any]]] = {}  # by name

    def draw(self, solids: Iterable[Solid]) -> None:
        """Draw `solids` and remove all others."""
        wanted = {solid.name: solid for solid in solids}
        named = {solid.thing: name for name, solid in sorted(wanted.items(), key=_height)}  # the highest part
        for name, (solid, handles) in list(self._drawn.items()):
            if wanted.get(name) != solid:
                del self._drawn[name]
                for handle in handles:
                    handle.remove()
        for name, solid in wanted.items():
            if name not in self._drawn:
                handles = [self._solid(solid)]
                if named[solid.thing] == name:
                    handles.append(self._label(solid))
                self._drawn[name] = (solid, handles)

    def follow(self, tool_pose: FloatArray | None) -> None:
        """Move held bodies with the tool pose (7,) in WORLD; None hides them."""
        self._tool.visible = tool_pose is not None
        if tool_pose is not None:
            self._tool.position = tool_pose[:3]
            self._tool.wxyz = tool_pose[[6, 3, 4, 5]]

    def _solid(self, solid: Solid) -> Any:
        x, y, z, w = solid.pose[3:]
        where = {"position": solid.pose[:3], "wxyz": (w, x, y, z)}
        look = {"color": palette.OBSTACLE, "opacity": OPACITY, "cast_shadow": False}
        path, size = self._path(solid), solid.size
        if solid.kind == "boxes":
            points = np.reshape(solid.points, (-1, 3))
            shape = {"point_size": max(solid.size), "point_shape": "square"}
            return self._scene.add_point_cloud(path, points, look["color"], **shape, **where)
        if solid.kind == "sphere":
            return self._scene.add_icosphere(path, size[0], **look, **where)
        if solid.kind == "cylinder":
            return self._scene.add_cylinder(path, *size, **look, **where)
        if solid.kind == "half_space":
            look["opacity"] = PLATE_OPACITY
            return self._scene.add_box(path, dimensions=PLATE, side="double", **look, **where)
        return self._scene.add_box(path, dimensions=size, **look, **where)

    def _label(self, solid: Solid) -> Any:
        x, y, z = solid.pose[:3]
        if solid.kind == "half_space":
            x += 0.45 * PLATE[0]  # beside the arm, which often stands on it
        place = (x, y, z + solid.top + ABOVE)
        text = f"{solid.thing} (held)" if solid.held else solid.thing
        return self._scene.add_label(
            f"{self._path(solid)}_name", text, position=place, font_screen_scale=0.75, anchor="bottom-center"
        )

    def _path(self, solid: Solid) -> str:
        group = "held" if solid.held else "world"
        return f"{self._root}/{group}/{solid.name.encode().hex()}"  # a name may hold characters that a path must not


def _height(entry: tuple[str, Solid]) -> float:
    return entry[1].pose[2] + entry[1].top
