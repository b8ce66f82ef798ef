"""NASA-TLX without weights: six answers, their mean."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.study.design import SCALES, Workload

answers = st.fixed_dictionaries({name: st.integers(0, 20).map(lambda k: 5 * k) for name in SCALES})


@given(answers)
def test_the_score_is_the_mean_of_six_scales(given_answers):
    score = Workload(given_answers).score
    assert len(SCALES) == 6
    assert score == pytest.approx(sum(given_answers.values()) / 6)
    assert min(given_answers.values()) <= score <= max(given_answers.values())


@pytest.mark.parametrize("value", [-5, 105, 12, 2.5, True, None, "50", float("nan")])
def test_what_is_no_step_of_a_scale_is_refused_by_its_name(value):
    with pytest.raises(InvalidValueError, match=r"workload\.effort: .* allowed: 0 \.\. 100 in steps of 5"):
        Workload({**dict.fromkeys(SCALES, 50), "effort": value})


def test_every_scale_is_answered_and_no_other():
    with pytest.raises(InvalidValueError, match=r"workload\.mental: 'none'"):
        Workload({name: 50 for name in SCALES if name != "mental"})
    with pytest.raises(InvalidValueError, match="workload: 'joy' is not allowed; allowed: mental, physical"):
        Workload({**dict.fromkeys(SCALES, 50), "joy": 50})
