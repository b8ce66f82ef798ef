"""The emulated link when it starts: parameters of `link_emulator`, and the options of a command line [US5231693]."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from telerobot_nodes.core.config import parameter
from telerobot_nodes.core.values import in_range
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.link.delay_line import MAX_DELAY, LinkSettings
from telerobot_nodes.link.delay_profile import DelayProfile, load_profile


@dataclass(frozen=True)
class EmulatedLink(LinkSettings):
    """Parameters of `link_emulator`; validated when made. Raises InvalidValueError naming the field."""

    profile: str = parameter("", doc="CSV file of a recorded delay, in place of delay and jitter; empty: none")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.profile and (self.delay or self.jitter):
            raise InvalidValueError("profile", self.profile, "allowed: with delay 0 and jitter 0")

    def settings(self) -> LinkSettings:
        """What can be set at run time."""
        return LinkSettings(**{entry.name: getattr(self, entry.name) for entry in fields(LinkSettings)})

    def recorded(self) -> DelayProfile | None:
        """The profile, read from its file; None: there is none. Raises InvalidValueError."""
        return load_profile(Path(self.profile)) if self.profile else None

    def __str__(self) -> str:
        """In words."""
        recorded = self.recorded()
        if recorded is None:
            ways = f"round trip {2.0 * self.delay:g} s, jitter {self.jitter:g} s one way"
        else:
            ways = f"round trip {2.0 * recorded.mean:.3g} s in the mean, as recorded in {self.profile}"
        return f"{ways}, loss {self.loss:.1%}"


@dataclass(frozen=True)
class LinkOptions:
    """The emulated link as a command line gives it; None: as the parameter file says."""

    delay: float | None = None  # [s] round trip, as `telerobot demo`
    jitter: float | None = None  # [s] standard deviation of the one-way delay
    loss: float | None = None
    profile: Path | None = None

    def over(self, file: EmulatedLink) -> EmulatedLink:
        """The parameters with these options in place; raises InvalidValueError naming the field."""
        values: dict[str, Any] = {entry.name: getattr(file, entry.name) for entry in fields(EmulatedLink)}
        if self.profile is not None:
            if self.delay is not None or self.jitter is not None:
                raise InvalidValueError("profile", str(self.profile), "allowed: without delay and jitter")
            values.update(profile=str(self.profile.absolute()), delay=0.0, jitter=0.0)
        if self.delay is not None:
            values.update(delay=0.5 * in_range(self.delay, "delay", 0.0, 2.0 * MAX_DELAY, "s"), jitter=0.0, profile="")
        given = {"jitter": self.jitter, "loss": self.loss}
        values.update({name: float(value) for name, value in given.items() if value is not None})
        link = EmulatedLink(**values)
        link.recorded()  # so that a bad file is refused before anything starts
        return link
