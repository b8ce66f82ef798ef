"""Where compiled functions are cached, and which parts of the package are compiled already.

Numba looks only at a function's own file when it decides whether a cached function is current; a change in a file
it calls into would go unnoticed. So the cache's folder is named after the contents of all compiled sources, and after
the package's folder: Numba finds nothing that another copy of the same files has compiled.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from telerobot_nodes._user_folders import user_cache


def sources_digest() -> str:
    """16 hex digits that change with any compiled source, and with the package's folder."""
    package = Path(__file__).resolve().parent
    digest = hashlib.sha256(str(package).encode())
    for file in sorted(package.rglob("*.py")):
        text = file.read_bytes()
        if b"numba" in text:
            digest.update(text)
    return digest.hexdigest()[:16]


def package_digest() -> str:
    """8 hex digits that stand for the package's folder."""
    return hashlib.sha256(str(Path(__file__).resolve().parent).encode()).hexdigest()[:8]


def cache_folder() -> Path:
    """Folder of the cache that belongs to the present sources; its name begins with `package_digest()`."""
    return user_cache("compiled") / f"{package_digest()}-{sources_digest()}"


def use_cache() -> None:
    """Let Numba use that folder, unless the user named one; before Numba is imported."""
    if "NUMBA_CACHE_DIR" in os.environ:
        return
    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return  # no home to write to: Numba finds a place itself
    os.environ["NUMBA_CACHE_DIR"] = str(folder)


def is_compiled(part: str) -> bool:
    """True when `compiling(part)` has ended well for the present sources, Numba and Python."""
    mark = _mark(part)
    return mark is not None and mark.is_file()


@contextlib.contextmanager
def compiling(part: str) -> Iterator[bool]:
    """One process at a time is inside for a part; gives True when the part is still to be compiled.

    Leaving without an exception marks the part as compiled. Without a cache folder everything is to be compiled.
    """
    mark = _mark(part)
    if mark is None:
        yield True
        return
    mark.parent.mkdir(parents=True, exist_ok=True)
    with mark.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield not mark.is_file()
        mark.touch()


def _mark(part: str) -> Path | None:
    """The file that marks a part as compiled."""
    folder = os.environ.get("NUMBA_CACHE_DIR")
    if not folder:
        return None
    return Path(folder) / f"{part}-{sources_digest()}-{sys.implementation.cache_tag}-numba{version('numba')}.done"
