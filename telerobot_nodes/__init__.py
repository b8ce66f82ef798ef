"""Telerobot: drive robot arms well over any delay.

docs/architecture.md lists the packages; `telerobot_nodes/pages/layers.py` holds the order of their imports.
"""

from telerobot_nodes import _bytecode_cache

_bytecode_cache.use_cache()  # before anything else is imported

from telerobot_nodes import _numba_cache  # noqa: E402

_numba_cache.use_cache()  # before anything imports Numba

__version__ = "0.1.0"
