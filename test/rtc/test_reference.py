"""The reference page is made from the grammar, documents every word, and is current."""

from pathlib import Path

from telerobot_nodes.rtc.parser import parse
from telerobot_nodes.rtc.printer import print_program
from telerobot_nodes.rtc.reference import entries, explain, reference_page
from telerobot_nodes.rtc.rule_tables import CONSTRAINT_KINDS, SETTING_RULES, TASK_RULES

PAGE = Path(__file__).parents[2] / "docs" / "command_language.md"


def test_the_page_in_the_docs_is_current():
    assert PAGE.read_text(encoding="utf-8") == reference_page(), "python -m telerobot_nodes.rtc.reference > the page"


def test_every_task_constraint_and_clause_is_documented():
    documented = {entry.name for entry in entries()}
    assert {name.strip("_") for name in (*TASK_RULES, *CONSTRAINT_KINDS, *SETTING_RULES)} <= documented


def test_the_examples_of_the_page_are_commands():
    block = reference_page().split("```")[1]
    for line in block.strip().splitlines():
        assert print_program(parse(line))


def test_one_word_is_explained_with_its_syntax():
    assert "grasp name" in explain("grasp")
    assert explain("nothing_of_the_kind") == ""
