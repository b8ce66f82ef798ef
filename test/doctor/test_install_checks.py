"""The installation: what is missing is named."""

from importlib import metadata

import pytest

from telerobot_nodes import doctor
from telerobot_nodes.doctor import Verdict
from telerobot_nodes.doctor import install_checks as checks


def test_this_installation_is_complete():
    assert checks.python().verdict is Verdict.OK
    assert checks.packages().verdict is Verdict.OK
    assert checks.messages().verdict is Verdict.OK


def test_a_missing_package_is_named_and_one_of_an_extra_is_not(monkeypatch):
    required = ["numpy>=1.26", "no-such-package[all]>=2; python_version > '3'", "other-one; extra == 'docs'"]
    monkeypatch.setattr(metadata, "requires", lambda name: required)
    finding = checks.packages()
    assert (finding.verdict, finding.found) == (Verdict.WRONG, "missing: no-such-package")


def test_functions_that_are_not_compiled_are_named(monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    finding = checks.compiled()
    assert (finding.verdict, finding.found) == (Verdict.CARE, "not yet")


@pytest.mark.lengthy
def test_every_check_is_made_once(tmp_path):
    findings = list(doctor.examine(tmp_path, tmp_path / "hosts.yaml"))
    names = [finding.check for finding in findings]
    assert len(set(names)) == len(names) == 17
    assert names[-1] == "hosts"
    assert all(bool(finding.advice) == (finding.verdict is not Verdict.OK) for finding in findings)
