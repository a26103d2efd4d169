"""What linking returns: a condition or a field, and what is wrong with what the model wrote."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from agent.assumptions import Assumption
from storage.search.conditions import Condition, MissingCondition


@dataclass(slots=True)
class LinkingNotes:
    """Collected while a plan is linked. `problems` are sentences for the model, which may then correct its plan."""

    problems: list[str] = field(default_factory=list[str])
    unlinked_words: list[str] = field(default_factory=list[str])  # of conditions that could not be made
    assumptions: list[Assumption] = field(default_factory=list[Assumption])

    def report_problem(self, problem: str) -> None:
        """Adds a sentence for the model."""
        self.problems.append(problem)

    def lose_words(self, words: str) -> None:
        """Adds words of a condition that is lost if the model does not correct it."""
        if words not in self.unlinked_words:
            self.unlinked_words.append(words)

    def take_over(self, other: "LinkingNotes") -> None:
        """Adds what appears in other notes."""
        self.problems += other.problems
        self.unlinked_words += [words for words in other.unlinked_words if words not in self.unlinked_words]
        self.assumptions += other.assumptions


@dataclass(frozen=True, slots=True, kw_only=True)
class TextStandIn:
    """Words of which title or text must hold one where the field is missing."""

    missing: MissingCondition
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedCondition:
    """A condition of the model on a field that exists. `wider_condition`: "at least" for a bare number."""

    condition: Condition
    rows_field: str = ""  # the rows field that the condition's column belongs to
    any_group: int = 0
    is_negated: bool = False
    wider_condition: Condition | None = None
    stand_in: TextStandIn | None = None


def list_names(names: Sequence[str], limit: int = 12) -> str:
    """Returns the first names for a sentence: "a, b and 3 more"."""
    shown = ", ".join(names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"
