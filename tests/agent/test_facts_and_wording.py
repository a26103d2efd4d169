"""What decides makes no words for people, and every form and every kind of facts has its module."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from agent.compose.registry import load_composers
from agent.forms.registry import load_handlers
from agent.review.leg_review import LegFacts
from storage.search.plan import ANSWER_FORMS

ROOT = Path(__file__).parents[2]
DECIDING = ("agent/*.py", "agent/forms", "agent/refine", "agent/retrieval", "agent/review")
APPLICATION = ("bot/access", "bot/attachments", "bot/conversation", "bot/dialogue", "bot/surface", "bot/turns")
WORDING = {
    "bot/access/limits.py": "how long to wait",
    "bot/attachments/attachment_indexes.py": "progress and reasons for a file",
    "bot/attachments/attachments.py": "progress and reasons for a file",
    "bot/conversation/exports.py": "progress",
    "bot/conversation/file_offers.py": "how far a file is saved",
    "bot/conversation/notices.py": "sentences of the application",
    "bot/conversation/personal_history.py": "the export of a person's data",
    "bot/conversation/reasoning_record.py": "the steps of a turn",
    "bot/conversation/reply_builder.py": "replies from outcomes",
    "bot/conversation/summary.py": "the summary for the reasoner",
    "bot/dialogue/conversation_dialogue.py": "the question of the warm-up",
    "bot/turns/turn_actions.py": "the steps of a turn",
    "bot/surface/attachments.py": "what was read of the files",
    "bot/surface/replies.py": "the rows of a file",
    "bot/surface/outbox.py": "the message of an exception",
    "bot/turns/stop_requests.py": "what a stopped turn had found",
}
EXEMPT = {
    "agent/new_topic.py": "regular expressions",
    "agent/retrieval/answer_type.py": "regular expressions",
    "agent/retrieval/session.py": "notes of the trace",
    "bot/access/subjects.py": "the grammar of a subject, for messages of exceptions",
    "bot/conversation/clarifications.py": "regular expressions",
    "bot/conversation/download.py": "headers",
    "bot/metrics/service_metrics.py": "help texts of metrics",
}
LOG_METHODS = {"debug", "info", "warning", "error", "exception", "critical"}
SEVERAL_WORDS = re.compile(r"[^\W\d_]{2,}.*\s.*[^\W\d_]{2,}|[^\W\d_]{2,}\s|\s[^\W\d_]{2,}", re.DOTALL)


def texts_in(module: Path) -> Iterator[tuple[int, str]]:
    """Yields the constants of several words, and the parts of f-strings that stand beside other words.

    It leaves out docstrings, messages of exceptions and logs, types, and lists of words that are split.
    """
    tree = ast.parse(module.read_text(encoding="utf-8"))
    skipped_nodes = [*(node for node in ast.walk(tree) if _is_skipped(node)), *_annotations_in(tree)]
    skipped = {id(part) for node in skipped_nodes for part in ast.walk(node)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or id(node) in skipped or not isinstance(node.value, str):
            continue
        if SEVERAL_WORDS.search(node.value):
            yield node.lineno, node.value


def _is_skipped(node: ast.AST) -> bool:
    match node:
        case ast.Expr(value=ast.Constant()) | ast.Raise():
            return True
        case ast.Call(func=ast.Attribute(attr=name)):
            return name == "split" or name in LOG_METHODS
        case _:
            return False


def _annotations_in(tree: ast.Module) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        match node:
            case ast.AnnAssign(annotation=annotation):
                yield annotation
            case ast.arg(annotation=ast.expr() as annotation):
                yield annotation
            case ast.FunctionDef(returns=ast.expr() as annotation):
                yield annotation
            case ast.AsyncFunctionDef(returns=ast.expr() as annotation):
                yield annotation
            case _:
                pass


def modules_in(*places: str) -> dict[str, Path]:
    """Maps the modules of folders, or those that a pattern matches, by their paths from the root."""
    paths = (path for place in places for path in (ROOT.glob(place) if "*" in place else (ROOT / place).rglob("*.py")))
    return {path.relative_to(ROOT).as_posix(): path for path in sorted(paths)}


def wording_modules_in(*places: str) -> set[str]:
    return {name for name, path in modules_in(*places).items() if any(texts_in(path))} - EXEMPT.keys()


def test_what_decides_makes_no_words_for_people() -> None:
    assert wording_modules_in(*DECIDING) == set()


def test_the_application_makes_words_for_people_in_few_modules() -> None:
    assert wording_modules_in(*APPLICATION) == WORDING.keys()


def test_no_exemption_is_left_over() -> None:
    assert EXEMPT.keys() <= {name for name, path in modules_in("agent", "bot").items() if any(texts_in(path))}


def test_every_answer_form_has_its_handler() -> None:
    assert set(load_handlers()) == set(ANSWER_FORMS)


def test_every_kind_of_facts_is_composed() -> None:
    load_handlers()

    assert {_name_of(facts) for facts in load_composers()} == {_name_of(facts) for facts in LegFacts.__subclasses__()}


def _name_of(facts_class: type) -> str:
    """Slots make a second class of each: they are one by their name."""
    return f"{facts_class.__module__}.{facts_class.__qualname__}"
