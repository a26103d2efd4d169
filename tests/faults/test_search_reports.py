"""The reports of saved searches add up, or it is told where they do not."""

from tests.faults.servers.search_reports import read_posted_searches
from tests.stand_ins.slack.workspace import SlackMessage

SAVED = "I have saved this as search *3*: “List every ticket”. It finds *40 documents* now.\n\nI will tell you here."


def posted(*texts: str) -> list[SlackMessage]:
    return [SlackMessage(ts=f"{number}.0", channel="C1", user="B", text=text) for number, text in enumerate(texts)]


def report_of(changes: str, now: int, *titles: str) -> str:
    listed = "".join(f"\n• {title}" for title in titles)
    head = f"*Saved search 3*: “List every ticket”\n\n{changes} since the last time; {now:,} documents now."
    return f"{head}\n\nNew:\n{listed}\n\n_To end it, say “stop watching 3”._"


def test_reports_that_go_on_where_the_last_one_ended_add_up() -> None:
    searches = read_posted_searches(
        posted(
            "An answer to another question.",
            SAVED,
            report_of("*2 new*, *1 gone*", 41, "Ticket t-1", "Ticket t-2"),
            "*Saved search 3*: “List every ticket”\n\nNothing has changed since the last time: 41 documents.",
            report_of("*1,000 new*", 1_041, "Ticket t-3"),
        )
    )

    assert searches.report_count == 3
    assert [*searches.find_wrong_sums(1_041), *searches.find_repeated_titles()] == []


def test_a_report_that_was_posted_twice_or_lost_is_told() -> None:
    twice = read_posted_searches(posted(SAVED, *[report_of("*2 new*", 42, "Ticket t-1", "Ticket t-2")] * 2))
    lost = read_posted_searches(posted(SAVED, report_of("*1 new*", 43, "Ticket t-3")))

    assert [*twice.find_wrong_sums(42)] == ["search 3: 42 and then {'new': 2} are not 42"]
    assert [*twice.find_repeated_titles()] == ["search 3: Ticket t-1 is new twice", "search 3: Ticket t-2 is new twice"]
    assert [*lost.find_wrong_sums(43)] == ["search 3: 40 and then {'new': 1} are not 43"]
    assert [*lost.find_wrong_sums(44)][-1] == "search 3: the last report says 43, and there are 44"


def test_a_confirmation_that_grew_as_a_stream_is_read_from_its_blocks() -> None:
    """The end of a stream has blocks alone; a slow answer is one."""
    block = {"type": "section", "text": {"type": "mrkdwn", "text": SAVED}}
    streamed = SlackMessage(ts="0.5", channel="C1", user="B", text="Searching", blocks=[block])

    searches = read_posted_searches([*posted("Hello"), streamed])

    assert [reading.now for reading in searches.readings[3]] == [40]
