"""The page of a run: one file, nothing outside, no text that a browser would execute."""

import re
from dataclasses import replace

import pytest

from telerobot_nodes.operator.review import Event, EventKind, html_page, review_bag
from telerobot_nodes.operator.review.page import MOST_EVENTS

PNG = b"\x89PNG"


@pytest.fixture
def found(make_run):
    return review_bag(make_run())


@pytest.mark.lengthy
def test_the_page_holds_its_pictures_and_asks_for_nothing_else(found):
    page = html_page(found, {"Timeline": PNG})
    assert re.findall(r'(?:src|href)="([^"]+)"', page) == ["data:image/png;base64,iVBORw=="]
    assert "200 planned, 200 executed" in page
    assert "as planned" in page


@pytest.mark.lengthy
def test_a_run_that_deviated_says_so(found):
    page = html_page(replace(found, summary=replace(found.summary, lost=1)), {})
    assert '<span class="verdict ">NOT as planned' in page


@pytest.mark.lengthy
def test_every_event_is_a_row_with_who_and_kind_and_none_is_markup(found):
    found.run.events[:] = [Event(1.5, "<b>anna", EventKind.COMMAND, "<script>x</script>")]
    page = html_page(found, {})
    assert '<tr data-kind="command"><td>1.50</td><td>&lt;b&gt;anna</td><td>command</td>' in page
    assert "<script>x" not in page


@pytest.mark.lengthy
def test_what_is_left_out_is_said(found):
    found.run.events[:] = [Event(0.0, "a", EventKind.NOTICE, "b")] * (MOST_EVENTS + 3)
    assert "3 more events" in html_page(found, {})
