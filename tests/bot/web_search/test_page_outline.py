"""What is read of a page's head."""

from hypothesis import given
from hypothesis import strategies as st

from bot.web_search.page_outline import PageOutline, read_outline

PAGE = """<html><head><title>Eiffel&nbsp;Tower - Facts &amp; Figures</title>
<meta name="description" content="How tall it is">
<meta content='tower, Paris,, tower' name='Keywords'></head>
<body><h1>The tower</h1><h2 class="x">Lifts</h2><pre><code class="language-python">print()</code></pre></body></html>"""


def test_title_description_keywords_headings_and_code_languages_are_read() -> None:
    outline = read_outline(PAGE.encode(), ".html")

    assert outline == PageOutline(
        title="Eiffel Tower - Facts & Figures",
        description="How tall it is",
        keywords=("tower", "Paris"),
        headings=("The tower", "Lifts"),
        code_languages=("python",),
    )
    assert outline.subject == "Eiffel Tower"
    assert PageOutline.from_json(outline.to_json()) == outline


def test_a_page_without_a_title_is_about_its_first_heading() -> None:
    assert read_outline(b"<h1>Lifts</h1>", ".html").subject == "Lifts"
    assert read_outline(b"%PDF-1.7", ".pdf") == PageOutline()
    assert PageOutline.from_json({"keywords": 3, "other": 1}) == PageOutline()


@given(st.binary(max_size=2000) | st.text("<>meta title=\"' contenh1", max_size=2000).map(str.encode))
def test_any_page_has_an_outline_that_can_be_stored(body: bytes) -> None:
    outline = read_outline(body, ".html")

    assert PageOutline.from_json(outline.to_json()) == outline
    assert len(outline.title) <= 200
    str(outline.to_json()).encode()
