"""Finds the composers of facts: each module of this folder lists its own as `COMPOSERS`."""

import pkgutil
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import cast

import agent.compose
from agent.compose.composed_leg import ComposedLeg, LegComposer
from agent.review.leg_review import LegFacts, LegReview


@cache
def load_composers() -> Mapping[type[LegFacts], LegComposer[LegFacts]]:
    """Returns the composers by the class of their facts. Each accepts only instances of its class."""
    names = (module.name for module in pkgutil.iter_modules(agent.compose.__path__))
    modules = (import_module(f"agent.compose.{name}") for name in names)
    listed = (cast(Sequence[LegComposer[LegFacts]], getattr(module, "COMPOSERS", ())) for module in modules)
    return {composer.facts_class: composer for composers in listed for composer in composers}


def compose_facts(facts: LegFacts, review: LegReview) -> ComposedLeg:
    return load_composers()[type(facts)].compose(facts, review)
