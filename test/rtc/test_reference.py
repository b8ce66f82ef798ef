"""The reference page is made from the grammar, documents every word."""

from telerobot_nodes.pages.command_language import markdown
from telerobot_nodes.rtc.language import entries, explain, parse
from telerobot_nodes.rtc.language.printer import print_program
from telerobot_nodes.rtc.language.rule_tables import CONSTRAINT_KINDS, SETTING_RULES, TASK_RULES


def test_every_task_constraint_and_clause_is_documented():
    documented = {entry.name for entry in entries()}
    assert {name.strip("_") for name in (*TASK_RULES, *CONSTRAINT_KINDS, *SETTING_RULES)} <= documented


def test_the_examples_of_the_page_are_commands():
    block = markdown().split("```")[1]
    for line in block.strip().splitlines():
        assert print_program(parse(line))


def test_one_word_is_explained_with_its_syntax():
    assert "grasp name" in explain("grasp")
    assert explain("nothing_of_the_kind") == ""
