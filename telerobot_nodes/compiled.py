"""Where compiled functions are cached.

Numba looks only at a function's own file when it decides whether a cached function is current; a change in a file
it calls into would go unnoticed. So the cache's folder is named after the contents of all compiled sources.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path


def cache_folder() -> Path:
    """Folder of the cache that belongs to the present sources."""
    digest = hashlib.sha256()
    for file in sorted(Path(__file__).parent.rglob("*.py")):
        text = file.read_bytes()
        if b"numba" in text:
            digest.update(text)
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return home / "telerobot" / "compiled" / digest.hexdigest()[:16]


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
