"""A mutant is found by the tests that it breaks and survives the others; the sources stay as they are."""

import pytest

from telerobot_nodes.bench.plan import checkout, mutants
from telerobot_nodes.bench.plan.mutation import mutants_of

pytestmark = pytest.mark.lengthy  # runs pytest in processes of its own

FILE = "plan/queue/notices.py"
TESTS = [checkout.ROOT / "test" / "plan" / "queue" / "test_notices.py"]


def mutant_of(text, after):
    source = (checkout.PACKAGE / FILE).read_bytes()
    return next(m for m in mutants_of(FILE, source) if (m.before, m.after) == (text, after))


def test_a_change_that_a_test_notices_is_found_by_that_test():
    source = (checkout.PACKAGE / FILE).read_bytes()
    found = mutants.judge(mutant_of("self.refused += 1", "pass"), TESTS, 100.0)
    assert found.startswith("test/plan/queue/test_notices.py::")
    assert (checkout.PACKAGE / FILE).read_bytes() == source


def test_a_change_that_no_test_looks_at_survives():
    elsewhere = [checkout.ROOT / "test" / "plan" / "queue" / "test_joins.py"]
    assert mutants.judge(mutant_of("self.refused += 1", "pass"), elsewhere, 100.0) == ""


def test_tests_that_do_not_end_in_time_count_as_failed():
    assert mutants.judge(mutant_of("self.refused += 1", "pass"), TESTS, 0.01) == "time limit of 0.01 s"
