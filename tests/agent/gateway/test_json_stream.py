"""The elements of an array while its object is still being written."""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.gateway.json_stream import JsonArrayStream

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda values: st.lists(values, max_size=3) | st.dictionaries(st.text(), values, max_size=3),
    max_leaves=8,
)


def divide_text(text: str, cuts: list[int]) -> list[str]:
    places = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    return [text[start:end] for start, end in pairwise(places)]


@given(
    before=st.dictionaries(st.text().filter(lambda name: name != "sentences"), JSON_VALUES, max_size=3),
    elements=st.lists(JSON_VALUES, max_size=5),
    after=st.dictionaries(st.text().filter(lambda name: name != "sentences"), JSON_VALUES, max_size=2),
    cuts=st.lists(st.integers(min_value=0), max_size=20),
    indent=st.sampled_from([None, 2]),
    keeps_letters=st.booleans(),
    frame=st.sampled_from(["{}", "```json\n{}\n```", "Here you are:\n{}\nDone."]),
)
def test_however_the_text_is_divided_all_elements_come_in_their_order(
    before: dict[str, Any],
    elements: list[Any],
    after: dict[str, Any],
    cuts: list[int],
    indent: int | None,
    keeps_letters: bool,
    frame: str,
) -> None:
    after = {name: value for name, value in after.items() if name not in before}
    text = json.dumps(before | {"sentences": elements} | after, indent=indent, ensure_ascii=not keeps_letters)
    stream = JsonArrayStream("sentences")

    received = [
        element for piece in divide_text(frame.replace("{}", text), cuts) for element in stream.read_piece(piece)
    ]

    assert received == elements
    assert dict(stream.members) == before | after
    assert (stream.is_complete, stream.is_broken) == (True, False)


def test_an_element_comes_with_its_last_character_and_the_members_before_the_array_are_known_then() -> None:
    stream = JsonArrayStream("sentences")

    assert stream.read_piece('{"language": "de", "sentences": [{"text": "Ja, {so} [ist] es') == []
    assert stream.members == {"language": "de"}
    assert stream.read_piece('.", "sources": ["a"]') == []
    assert stream.read_piece("}") == [{"text": "Ja, {so} [ist] es.", "sources": ["a"]}]
    assert not stream.is_complete


def test_an_array_of_the_same_name_further_inside_is_part_of_its_element() -> None:
    stream = JsonArrayStream("sentences")

    elements = stream.read_piece('{"plan": {"sentences": [1, 2]}, "sentences": [{"sentences": [3]}, 4]}')

    assert elements == [{"sentences": [3]}, 4]
    assert stream.members == {"plan": {"sentences": [1, 2]}}


@pytest.mark.parametrize("text", ['{"sentences": [1, nonsense, 2]}', '{"sentences": [1, }', '{"sentences": [1], 5: 6}'])
def test_from_the_first_mistake_on_nothing_comes_but_what_came_before_stays(text: str) -> None:
    stream = JsonArrayStream("sentences")

    assert stream.read_piece(text) == [1]
    assert (stream.is_broken, stream.is_complete) == (True, False)
    assert stream.read_piece('{"sentences": [3]}') == []


@pytest.mark.parametrize("text", ["", "I cannot answer.", '{"sentences": null}', '{"answer": "none"}'])
def test_a_text_without_the_array_brings_no_elements(text: str) -> None:
    stream = JsonArrayStream("sentences")

    assert stream.read_piece(text) == []
    assert not stream.is_broken
