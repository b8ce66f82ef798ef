"""What the nodes need is compiled before they start, once for the present sources."""

import sys

import pytest

from telerobot_nodes import _numba_cache as cache
from telerobot_nodes.runtime import compile_first

FAILS = (sys.executable, "-c", "raise SystemExit(3)")
WORKS = (sys.executable, "-c", "")


@pytest.fixture
def shown(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    return []


def test_a_fresh_installation_compiles_and_says_how_long(shown):
    assert compile_first(shown.append, WORKS)
    assert len(shown) == 1
    assert "about a minute" in shown[0]


def test_what_is_compiled_is_not_compiled_again(shown):
    with cache.compiling("demo") as needed:
        assert needed
    assert compile_first(shown.append, FAILS)
    assert shown == []


def test_a_failure_is_returned(shown):
    assert not compile_first(shown.append, FAILS)


def test_a_part_that_failed_is_still_to_be_compiled(shown):
    with pytest.raises(ValueError, match="no"), cache.compiling("demo"):
        raise ValueError("no")
    assert not cache.is_compiled("demo")


def test_each_part_is_compiled_by_itself(shown):
    with cache.compiling("planner"):
        pass
    assert cache.is_compiled("planner")
    assert not cache.is_compiled("demo")


def test_without_a_cache_everything_is_to_be_compiled(monkeypatch):
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    for _ in range(2):
        with cache.compiling("demo") as needed:
            assert needed
    assert not cache.is_compiled("demo")
