"""Key files: the secret of a link, and perhaps the role of its holder and the names in which he may speak.

    5f0c...                  64 hexadecimal digits alone: no role

    key: "5f0c..."           the same with a role
    role: operator
    agents: [desk]           not given: the name of the host that has the key

What counts is the robot's copy. No message of an error shows a secret.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import NoReturn

from telerobot_nodes.core.config import FileMapping, Spot, build, parse_yaml
from telerobot_nodes.errors import InvalidValueError

KEY_BYTES = 32
MOST_NAME = 64  # characters
RESERVED = ("program", "robot")  # names of the robot's own agents
_MOST_FILE = 10_000  # characters
_NEEDED = f"{2 * KEY_BYTES} hexadecimal digits are needed"


class KeyRole(Enum):
    """What the holder of a key may do."""

    OPERATOR = "operator"
    SUPERVISOR = "supervisor"
    OBSERVER = "observer"  # sees everything, stops the arm, and moves nothing


@dataclass(frozen=True)
class LinkKey:
    """The secret of a link and the rights of its holder."""

    secret: bytes = field(repr=False)
    role: KeyRole | None = None  # None: every right
    agents: tuple[str, ...] = ()  # empty: the name of the host that has the key


@dataclass(frozen=True)
class _KeyFile:
    """A key file with a role."""

    role: KeyRole
    agents: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_names(self.agents)


def check_names(agents: Sequence[str]) -> None:
    """Raise InvalidValueError for a name in which no operator can speak."""
    for agent in agents:
        if not 0 < len(agent) <= MOST_NAME or not agent.isprintable():
            raise InvalidValueError("agents", agent, f"allowed: 1 to {MOST_NAME} printable characters")
        if agent in RESERVED:
            raise InvalidValueError("agents", agent, f"allowed: other names than the robot's: {', '.join(RESERVED)}")


def read_key(file: Path, reject: Callable[[str], NoReturn]) -> LinkKey:
    """The key in a file; `reject` raises what a bad file means. Raises ParameterFileError for a role in it."""
    try:
        state, text = file.stat(), file.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        reject(f"{file}: not readable: {error}; `telerobot security create` makes one")
    if not stat.S_ISREG(state.st_mode) or state.st_mode & 0o077 or state.st_uid not in (0, os.getuid()):
        reject(f"{file}: others may read or change it; allowed: mode 600, of this user")
    if ":" not in text or len(text) > _MOST_FILE:
        return LinkKey(_secret(text, reject, file))
    return _with_role(parse_yaml(text, str(file)), file)


def _with_role(raw: FileMapping, file: Path) -> LinkKey:
    if "key" not in raw:
        raw.reject("key", f"the key is missing: {_NEEDED}")

    def reject(problem: str) -> NoReturn:
        raw.reject("key", problem)

    secret = _secret(raw["key"], reject)
    others = FileMapping(str(file), raw.mark)
    others.update({name: value for name, value in raw.items() if name != "key"})
    others.marks.update(raw.marks)
    found = build(_KeyFile, others, Spot(str(file)))
    return LinkKey(secret, found.role, found.agents)


def _secret(text: object, reject: Callable[[str], NoReturn], file: Path | None = None) -> bytes:
    try:
        secret = bytes.fromhex(text) if isinstance(text, str) else b""
    except ValueError:
        secret = b""
    if len(secret) != KEY_BYTES:
        reject(f"{file}: {_NEEDED}" if file else f"{_NEEDED}, in quotes")
    return secret


def create_key(file: Path, role: KeyRole | None = None, agents: Sequence[str] = ()) -> None:
    """Write a new key that only this user may read. Raises InvalidValueError when the file exists."""
    check_names(agents)
    if agents and role is None:
        raise InvalidValueError("agents", ", ".join(agents), "allowed: with a role")
    text = secrets.token_hex(KEY_BYTES)
    if role is not None:
        names = ", ".join("'" + agent.replace("'", "''") + "'" for agent in agents)
        text = f'key: "{text}"\nrole: {role.value}' + (f"\nagents: [{names}]" if agents else "")
    try:
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise InvalidValueError("key file", str(file), f"not written: {error.strerror}") from None
    with os.fdopen(handle, "w", encoding="ascii") as out:
        out.write(text + "\n")
