"""Status, notices and legend as HTML."""

from telerobot_nodes.operator.client import Tone
from telerobot_nodes.operator.console import markup
from telerobot_nodes.operator.scene import palette
from telerobot_nodes.operator.view import Row


def test_texts_from_other_machines_cannot_become_markup():
    evil = Row("<b>", "<img src=x onerror=alert(1)>", Tone.BAD)
    for page in (markup.status([evil]), markup.notices([evil])):
        assert "<img" not in page
        assert "&lt;img" in page


def test_what_the_bar_shows_is_not_shown_twice():
    page = markup.status(
        [Row("lead", "7.4 s"), Row("authority", "ana"), Row("recording", "NOT RECORDING"), Row("queue", "12 points")]
    )
    assert "12 points" in page
    assert not {"7.4 s", "ana", "NOT RECORDING"} & set(page.replace("<", ">").split(">"))


def test_only_the_newest_notices_are_shown():
    rows = [Row(f"{k} s", f"notice {k}") for k in range(10)]
    page = markup.notices(rows)
    assert [f"notice {k}" in page for k in range(10)] == [k < markup.SHOWN_NOTICES for k in range(10)]


def test_no_notices_are_said_to_be_none():
    assert "nothing to report" in markup.notices([])


def test_the_legend_names_every_timing_kind_with_its_colour():
    page = markup.legend()
    for text, colour in palette.TIMINGS:
        assert text in page
        assert palette.css(colour) in page
