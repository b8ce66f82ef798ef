"""The table of packages in docs/architecture.md."""

import pytest

from telerobot_nodes.pages.packages import BEGIN, END, table, with_table


def test_every_package_is_described_in_one_line_of_the_table():
    rows = table().splitlines()[2:]
    assert len({row.split("`")[1] for row in rows}) == len(rows)
    assert [row for row in rows if row.endswith("|  |")] == []


def test_text_around_the_marks_is_kept():
    page = f"before\n{BEGIN}old\n{END}after\n"
    assert with_table(page) == f"before\n{BEGIN}\n{table()}\n{END}after\n"


@pytest.mark.parametrize("page", [BEGIN, END, f"{BEGIN}{BEGIN}{END}"])
def test_a_page_without_both_marks_is_an_error(page):
    with pytest.raises(ValueError, match="unpack"):
        with_table(page)
