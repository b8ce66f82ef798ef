"""Mutants of plan and simulation against their own tests and the claims: the changes that no test finds.

Every mutant has a process of its own, forked from one that has loaded the libraries. In it the changed source stands
for the module's file; the file itself is never written. First the tests of the module, then all others, until one
fails.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from multiprocessing.connection import Connection
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from telerobot_nodes.bench import is_on, report
from telerobot_nodes.bench.plan import checkout
from telerobot_nodes.bench.plan.mutation import Mutant, draw
from telerobot_nodes.errors import TelerobotError

FOLDERS = ("plan", "simulation")
TESTS = ("plan", "simulation", "claims/test_us5046022*.py")
KEPT = ("telerobot_nodes.core", "telerobot_nodes.errors", "telerobot_nodes._")  # modules that no mutant changes
LOADED = ("numpy", "scipy.spatial", "numba", "pinocchio", "hypothesis.stateful", "telerobot_nodes.core.robot")
LIMIT = 600.0  # [s] for the tests of one mutant
PASSED, NONE = 0, 5  # exit codes of pytest


def run(options: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return conditions, figures and goals. Options: `mutants` (60), `seed` (1), `first` (0), `limit`, `baseline`.

    `first`: mutants of the draw to leave out, to run a draw in parts. `baseline` off: do not run the tests unchanged
    before. Raises TelerobotError when they fail unchanged.
    """
    options = options or {}
    seed, limit = int(options.get("seed", 1)), float(options.get("limit", LIMIT))
    drawn = draw(checkout.PACKAGE, FOLDERS, int(options.get("mutants", 60)), seed)[int(options.get("first", 0)) :]
    files = _test_files(checkout.tests())
    for name in LOADED:
        import_module(name)
    if is_on(options, "baseline"):
        _check_baseline(files, limit)
    rows = []
    for mutant in drawn:
        begun = time.monotonic()
        found = judge(mutant, files, limit)
        rows.append(_row(mutant, found, time.monotonic() - begun))
        print(f"{'found   ' if found else 'SURVIVED'} {mutant}  {found}", file=sys.stderr, flush=True)
    caught = sum(row["found"] for row in rows)
    figures = {"drawn": len(drawn), "found": caught, "tests": [str(file) for file in files], "mutants": rows}
    return report.result(
        report.conditions(seed), figures, [report.goal("mutants found", caught, "-", ">=", len(drawn))]
    )


def judge(mutant: Mutant, files: Sequence[Path], limit: float = LIMIT) -> str:
    """The first test that fails with the mutant, of the test files; "" when all pass. `limit` [s] counts as found."""
    near = [file for file in files if _is_near(file, mutant)]
    rest = [file for file in files if file not in near]
    return (near and _failing(near, limit, mutant)) or (rest and _failing(rest, limit, mutant)) or ""


def _test_files(folder: Path) -> list[Path]:
    found: list[Path] = []
    for pattern in TESTS:
        found += sorted((folder / pattern).rglob("test_*.py") if "*" not in pattern else folder.glob(pattern))
    return found


def _is_near(file: Path, mutant: Mutant) -> bool:
    """True for the test file that mirrors the module, and for those that import it."""
    source = Path(mutant.file)
    mirrored = file.parent.name == source.parent.name and file.stem == f"test_{source.stem}"
    return mirrored or _module(mutant.file) in file.read_text(encoding="utf-8")


def _module(file: str) -> str:
    return f"{checkout.PACKAGE.name}." + file.removesuffix(".py").replace("/", ".")


def _row(mutant: Mutant, found: str, seconds: float) -> dict[str, Any]:
    place = {"file": mutant.file, "line": mutant.line, "kind": mutant.kind}
    change = {"before": mutant.before, "after": mutant.after}
    return {**place, **change, "found": bool(found), "by": found, "seconds": round(seconds, 1)}


def _check_baseline(files: Sequence[Path], limit: float) -> None:
    failed = _failing(files, 4.0 * limit, None)
    if failed:
        raise TelerobotError(f"mutants: {failed} fails without any change; allowed: tests that pass")


# one process -------------------------------------------------------------------------------------------------------


def _failing(files: Sequence[Path], limit: float, mutant: Mutant | None) -> str:
    """Run the tests in a forked process until one fails; returns its name, "" if none does."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_run_tests, args=(sender, files, mutant), daemon=True)
    process.start()
    sender.close()
    try:
        if not receiver.poll(limit):
            return f"time limit of {limit:g} s"
        return str(receiver.recv())
    except EOFError:
        process.join()
        return f"the process ended with {process.exitcode}"
    finally:
        process.kill()
        process.join()


class _FirstFailure:
    """Plugin of pytest: name of the first test, or file, that fails."""

    def __init__(self) -> None:
        self.name = ""

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Take the outcome of a test."""
        self._note(report)

    def pytest_collectreport(self, report: Any) -> None:
        """Take the outcome of the import of a test file."""
        self._note(report)

    def _note(self, report: Any) -> None:
        if report.failed and not self.name:
            self.name = report.nodeid


def _run_tests(sender: Connection, files: Sequence[Path], mutant: Mutant | None) -> None:
    import pytest

    _forget_modules()
    if mutant is not None:
        sys.meta_path.insert(0, _Changed(mutant))
    os.chdir(checkout.ROOT)
    first = _FirstFailure()
    with tempfile.TemporaryDirectory() as scratch, Path(os.devnull).open("w") as nowhere:
        os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = scratch  # what it finds belongs to the mutant
        switches = ["-x", "-q", "-m", "not slow and not system", "-p", "no:cacheprovider", "-p", "no:xdist"]
        switches += [f"--rootdir={checkout.ROOT}", "--hypothesis-seed=0", f"--basetemp={scratch}/tmp"]
        with contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
            code = pytest.main([*switches, *map(str, files)], plugins=[first])
    passed = code in (PASSED, NONE)
    sender.send("" if passed else first.name or f"pytest ended with {int(code)}")


def _forget_modules() -> None:
    """Let every module that a mutant may change, or that uses it, be imported anew; tests among them."""
    product, tests = f"{checkout.PACKAGE.name}.", f"{checkout.ROOT / 'test'}{os.sep}"
    for name, module in list(sys.modules.items()):
        changes = name.startswith(product) and not name.startswith(KEPT)
        if changes or (getattr(module, "__file__", None) or "").startswith(tests):
            del sys.modules[name]


class _Changed(MetaPathFinder):
    """Finds the mutant in place of the module's file."""

    def __init__(self, mutant: Mutant) -> None:
        self._name = _module(mutant.file)
        self._path = checkout.PACKAGE / mutant.file
        self._loader = _MutantLoader(self._name, str(self._path), mutant)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The changed module; None for every other."""
        if fullname != self._name:
            return None
        return spec_from_file_location(fullname, self._path, loader=self._loader)


class _MutantLoader(SourceFileLoader):
    """Compiles the changed source; Numba keeps nothing of it."""

    def __init__(self, name: str, path: str, mutant: Mutant) -> None:
        super().__init__(name, path)
        self._mutant = mutant

    def get_code(self, fullname: str) -> CodeType:
        """The changed module's code."""
        source = self._mutant.apply(Path(self.path).read_bytes()).replace(b"njit(cache=True)", b"njit(cache=False)")
        return compile(source, self.path, "exec", dont_inherit=True)
