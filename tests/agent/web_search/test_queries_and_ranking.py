"""What a web search asks, and which of the URLs it finds are promising."""

from hypothesis import given
from hypothesis import strategies as st

from agent.evidence.word_meanings import WordMeanings
from agent.web_search.asked_words import WebQuestion, read_web_question
from agent.web_search.query_refinement import MAX_QUERY_CHARACTERS, first_queries, keep_own_words, refine_queries
from agent.web_search.url_ranking import choose_promising, rank_urls
from agent.web_search.web_results import RankedUrl, WebResult
from storage.search.analyser import fold_text
from storage.text.snowball_analyser import analyser_for


def question_of(text: str, language: str = "en", gap_words: tuple[str, ...] = ()) -> WebQuestion:
    return read_web_question(text, analyser_for(language), language, gap_words)


def result_of(title: str, snippet: str = "", url: str = "https://a.example/x") -> WebResult:
    return WebResult(url=url, title=title, snippet=snippet)


async def rank_results(question: WebQuestion, *results: WebResult) -> tuple[RankedUrl, ...]:
    return await rank_urls(results, question, WordMeanings(None))


def test_the_first_query_holds_the_content_words_in_their_order() -> None:
    assert first_queries(question_of("What is the boiling point of acetone?")) == ("boiling point acetone",)
    assert first_queries(question_of("Wie hoch ist der Eiffelturm?", "de")) == ("hoch Eiffelturm",)
    assert first_queries(question_of('Who wrote "The Waste Land" in London?')) == ('"The Waste Land" wrote London',)


def test_greetings_and_remarks_beside_the_question_are_not_sent() -> None:
    text = "Good morning! Could you tell me when Marie Curie's lab was founded? I am preparing a talk."

    assert first_queries(question_of(text)) == ("Marie Curie lab founded",)


def test_a_question_without_a_name_takes_the_subject_of_the_pages_before() -> None:
    assert first_queries(question_of("And when was the lift built?"), "Eiffel Tower") == ("Eiffel Tower lift built",)
    assert first_queries(question_of("How tall is the Louvre?"), "Eiffel Tower") == ("tall Louvre",)


def test_refined_queries_are_about_the_gaps_and_never_repeat_one() -> None:
    question = question_of("How tall is the Eiffel Tower in winter?")
    asked = list(first_queries(question))

    refined = refine_queries(question, ["winter"], asked)
    asked += refined

    assert 2 <= len(refined) <= 3
    assert all("winter" in query for query in refined)
    assert not {*refine_queries(question, ["winter"], asked)} & {*asked}


def test_only_names_that_stand_side_by_side_are_asked_for_as_a_phrase() -> None:
    tower = refine_queries(question_of("How tall is the Eiffel Tower in Paris?"), ["tall"], ())
    rate = refine_queries(question_of("What is the VAT rate in Germany?"), ["VAT"], ())

    assert '"Eiffel Tower" tall Paris' in tower
    assert not any('"' in query for query in rate)


@given(st.text(max_size=400), st.lists(st.text(max_size=20), max_size=4))
def test_queries_hold_only_words_of_the_question(text: str, gap_words: list[str]) -> None:
    question = question_of(text)

    queries = (*first_queries(question), *refine_queries(question, gap_words, ()))

    own_text = fold_text(text)
    for query in queries:
        assert len(query) <= MAX_QUERY_CHARACTERS
        assert all(word in own_text for word in fold_text(query.replace('"', " ")).split())


async def test_urls_are_ranked_by_the_words_of_title_and_snippet_with_a_reason() -> None:
    question = question_of("What is the boiling point of acetone?")

    ranked = await rank_results(
        question,
        result_of("Nail polish", "Remove it with acetone.", "https://polish.example/"),
        result_of("Acetone", "Its boiling point is 56 °C.", "https://chem.example/"),
        result_of("Weather", "Sunny.", "https://weather.example/"),
    )

    assert [url.result.url for url in ranked] == [
        "https://chem.example/",
        "https://polish.example/",
        "https://weather.example/",
    ]
    assert [url.result.url for url in choose_promising(ranked)] == ["https://chem.example/"]
    assert ranked[0].reason == "title and snippet hold boiling, point, acetone"
    assert ranked[1].reason == "title and snippet hold acetone, not boiling, point"
    assert ranked[2].score == 0.0
    assert all(0 <= url.score <= 1 for url in ranked)


async def test_a_page_that_names_nothing_of_the_question_is_not_promising() -> None:
    question = question_of("How tall and wide and heavy and old is the famous Atomium?")

    [ranked] = await rank_results(question, result_of("Tall, wide, heavy, old and famous things"))

    assert choose_promising([ranked]) == ()


async def test_at_most_three_urls_are_promising_and_each_url_is_ranked_once() -> None:
    results = [result_of("Acetone boiling point", url=f"https://{n}.example/") for n in (1, 2, 3, 4, 4)]

    ranked = await rank_results(question_of("What is the boiling point of acetone?"), *results)

    assert len(ranked) == 4
    assert [url.result.url for url in choose_promising(ranked)] == [f"https://{n}.example/" for n in (1, 2, 3)]


async def test_gaps_weigh_more_than_words_that_the_documents_know() -> None:
    page = result_of("Boiling points")
    [plain] = await rank_results(question_of("What is the boiling point of acetone?"), page)
    [with_gap] = await rank_results(question_of("What is the boiling point of acetone?", gap_words=("acetone",)), page)

    assert with_gap.score < plain.score


def test_a_query_of_a_model_keeps_only_words_that_the_person_wrote() -> None:
    question = question_of("How tall is the Eiffel Tower in Paris?")

    assert keep_own_words("height of Eiffel tower Paris", question) == "Eiffel tower Paris"
    assert keep_own_words("Eiffel Tower invoice I-17 of Globex, 4,200 EUR", question) == "Eiffel Tower"
    assert keep_own_words("globex in the", question) == ""
    assert keep_own_words("its lift", question_of("And when was its lift built?"), "Eiffel Tower") == "its lift"
    assert keep_own_words("Eiffel lift", question_of("And when was its lift built?"), "Eiffel Tower") == "Eiffel lift"


@given(st.text(max_size=300), st.text(max_size=200))
def test_whatever_a_model_writes_only_words_of_the_question_are_sent(query: str, asked: str) -> None:
    question = question_of(asked)
    kept = keep_own_words(query, question)

    sent = {term.text for term in question.analyser.extract_terms(kept)}
    assert sent <= {term.text for term in question.analyser.extract_terms(question.text)}
    assert len(kept) <= MAX_QUERY_CHARACTERS
