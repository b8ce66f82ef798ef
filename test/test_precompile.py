"""Which caches of compiled functions stay."""

import os
import time

import pytest

from telerobot_nodes import _numba_cache as cache
from telerobot_nodes.runtime import precompile

DAY = 86400.0  # [s]


@pytest.fixture
def make(tmp_path, monkeypatch):
    """Makes a cache that was last changed some days ago, of this package or of another copy."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    def made(name, days, package=None):
        folder = cache.cache_folder().with_name(f"{package or cache.package_digest()}-{name}")
        folder.mkdir(parents=True)
        os.utime(folder, (0.0, time.time() - days * DAY))
        return folder

    return made


@pytest.mark.lengthy
def test_of_this_package_the_latest_caches_stay(make):
    folders = [make(f"{days:016x}", days) for days in range(precompile.KEPT + 3)]
    precompile.drop_old()
    assert [folder.is_dir() for folder in folders] == [True] * (precompile.KEPT + 1) + [False] * 2


@pytest.mark.lengthy
def test_caches_of_other_copies_stay_however_many_there_are_until_they_are_forgotten(make):
    others = [make("0" * 16, 1, f"{number:08x}") for number in range(20)]
    old = make("1" * 16, 31, "f" * 8)
    precompile.drop_old()
    assert all(folder.is_dir() for folder in others)
    assert not old.exists()
