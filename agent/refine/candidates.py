"""A refinement before and after its documents are counted."""

from dataclasses import dataclass

from agent.refine.choice_labels import ChoiceLabel
from storage.search.ids import LegId
from storage.search.refinement import Action, Refinement


@dataclass(frozen=True, slots=True, kw_only=True)
class RefinementCandidate:
    """A refinement that may be offered, not yet counted."""

    label: ChoiceLabel
    refinement: Refinement


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedChoice:
    """A choice before its label is composed. `count` is None for an action that leads to no set of documents."""

    label: ChoiceLabel
    count: int | None
    leg: LegId
    effect: Refinement | Action
