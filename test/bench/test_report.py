"""The result of a benchmark: goals met and missed, as lines for a terminal."""

from telerobot_nodes.bench import report


def test_a_goal_is_judged_by_its_sign_and_shown_with_its_unit():
    goals = [report.goal("time", 2.0, "ms", "<=", 3.0), report.goal("solved", 0.5, "share", ">=", 0.95)]
    assert [goal["met"] for goal in goals] == [True, False]
    lines = report.text({"goals": goals}).splitlines()
    assert lines == ["met    time: 2 ms (goal <= 3)", "MISSED solved: 0.5 share (goal >= 0.95)"]


def test_a_result_without_goals_says_where_its_figures_are():
    assert "--json FILE" in report.text({"goals": []})
