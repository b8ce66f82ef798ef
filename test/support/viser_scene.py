"""A scene that records what is drawn into it, in place of viser's: what a browser would be sent."""


class Handle:
    """One drawn object; removed objects leave the scene."""

    def __init__(self, scene, name, values):
        self._scene, self.name = scene, name
        self.__dict__.update(values)

    def remove(self):
        """Take the object out of the scene."""
        del self._scene.drawn[self.name]


class RecordingScene:
    """Every `add_...` records a handle by name and counts as sent."""

    def __init__(self):
        self.drawn, self.sent = {}, 0

    def __getattr__(self, kind):
        if not kind.startswith("add_"):
            raise AttributeError(kind)

        def add(name, *args, **values):
            self.sent += 1
            self.drawn[name] = Handle(self, name, {"kind": kind, "args": args, **values})
            return self.drawn[name]

        return add
