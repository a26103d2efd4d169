"""Checks of Adaptive Cards up to version 1.5, as Teams shows them."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, assert_never

from tests.stand_ins.teams import card_schema
from tests.stand_ins.teams.card_schema import CardVersion, NestedPart, PartSchema
from tests.stand_ins.teams.card_values import check_object, check_picture, list_in, object_in, refuse_card_unless
from tests.stand_ins.teams.json_parts import object_of, objects_in, objects_of, type_of

NEWEST: Final[CardVersion] = (1, 5)
VISIBLE_ACTIONS: Final = 6  # of a card, or of an action set; `"mode": "secondary"` sends one to the overflow menu
REFRESHING_USERS: Final = 60
_VERSION: Final = re.compile(r"(\d)\.(\d)")
_AT: Final = re.compile(r"<at\b[^>]*>.*?</at>|</?at\b", re.IGNORECASE | re.DOTALL)


def check_card(card: Any) -> None:
    """Refuses a card that Teams would not show as it stands."""
    content = object_in(card, "card")
    refuse_card_unless("version" in content, "no version")
    version = _version_of(content["version"])
    walk = _CardWalk(version=version)
    walk.check_part(content, card_schema.CARD, "card")
    refuse_card_unless(bool(content.get("body")) or bool(content.get("actions")), "an empty card")
    for place, wanted in walk.targets:
        refuse_card_unless(wanted in walk.ids, f"{place}: no element {wanted!r}")
    _check_mentions(content)


def _version_of(version: Any) -> CardVersion:
    match = _VERSION.fullmatch(version) if isinstance(version, str) else None
    refuse_card_unless(match is not None, f"version {version!r}")
    major, minor = (int(match[1]), int(match[2])) if match is not None else NEWEST
    refuse_card_unless(major == 1 and minor <= NEWEST[1], f"version {version} is not shown by all clients")
    return major, minor


def _check_mentions(card: Mapping[str, Any]) -> None:
    """Refuses `<at>` of data: each must belong to a mention entity of the card."""
    entities = objects_of(object_of(card, "msteams"), "entities")
    known = {str(entity.get("text")) for entity in entities if entity.get("type") == "mention"}
    shown = "\n".join(_formatted_texts(card))
    unknown = [found[0] for found in _AT.finditer(shown) if found[0] not in known]
    refuse_card_unless(not unknown, f"a mention without its entity: {unknown[:1]}")
    refuse_card_unless(all(text in shown for text in known), "a mention entity without its text")


def _formatted_texts(card: Mapping[str, Any]) -> Iterator[str]:
    """Yield the texts in which clients look for mentions: of blocks and facts, not the titles of buttons."""
    for part in objects_in(card):
        if type_of(part) in {"TextBlock", "TextRun"}:
            yield part["text"]
        for fact in objects_of(part, "facts"):
            yield from (fact["title"], fact["value"])


@dataclass
class _CardWalk:
    """What a walk through one card has seen. `targets`: ids that actions name, each with its place."""

    version: CardVersion
    ids: set[str] = field(default_factory=set[str])
    targets: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def check_part(self, part: Mapping[str, Any], schema: PartSchema, where: str) -> None:
        """Check the properties of a part: known, allowed in this version, sound, and none missing."""
        unknown = part.keys() - schema.properties.keys()
        refuse_card_unless(not unknown, f"{where}: unknown {sorted(unknown)}")
        missing = schema.required - part.keys()
        refuse_card_unless(not missing, f"{where}: without {sorted(missing)}")
        self._check_version(schema.since, where)
        for name, value in part.items():
            self._check_version(schema.property_since.get(name, (1, 0)), f"{where}.{name}")
            kind = schema.properties[name]
            if isinstance(kind, NestedPart):
                self._check_nested(value, kind, f"{where}.{name}")
            else:
                kind(value, f"{where}.{name}")
        if "id" in part:
            refuse_card_unless(part["id"] not in self.ids, f"{where}: the id {part['id']!r} stands there twice")
            self.ids.add(part["id"])

    def check_element(self, value: Any, where: str) -> None:
        part = object_in(value, where)
        kind = type_of(part)
        refuse_card_unless(kind in card_schema.ELEMENTS, f"{where}: unknown element {part.get('type')!r}")
        self.check_part(part, card_schema.ELEMENTS[kind], f"{where} {kind}")
        if kind == "Table":
            columns = len(part["columns"])
            is_even = all(len(row["cells"]) == columns for row in part["rows"])
            refuse_card_unless(columns > 0 and is_even, f"{where}: rows with another number of cells than columns")
        if kind == "Input.ChoiceSet":
            _check_chosen(part, where)

    def check_action(self, value: Any, where: str) -> None:
        part = object_in(value, where)
        kind = type_of(part)
        refuse_card_unless(kind in card_schema.ACTIONS, f"{where}: unknown action {part.get('type')!r}")
        self.check_part(part, card_schema.ACTIONS[kind], f"{where} {kind}")

    def _check_nested(self, value: Any, kind: NestedPart, where: str) -> None:
        match kind:
            case NestedPart.ELEMENTS:
                self._check_each(value, self.check_element, where)
            case NestedPart.ACTIONS:
                self._check_actions(value, where)
            case NestedPart.ACTION:
                self.check_action(value, where)
                refuse_card_unless(type_of(value) != "Action.ShowCard", f"{where}: Action.ShowCard")
            case NestedPart.CARD:
                self.check_part(object_in(value, where), card_schema.CARD, where)
            case NestedPart.IMAGES:
                self._check_each(value, self._check_image, where)
            case NestedPart.INLINES:
                self._check_each(value, self._check_inline, where)
            case NestedPart.CHOICES:
                self._check_choices(value, where)
            case NestedPart.TARGETS:
                self._check_each(value, self._check_target, where)
            case NestedPart.FALLBACK_ELEMENT:
                self._check_fallback(value, where, is_action=False)
            case NestedPart.FALLBACK_ACTION:
                self._check_fallback(value, where, is_action=True)
            case NestedPart.BACKGROUND:
                self._check_background(value, where)
            case NestedPart.DATA:
                check_object(value, where)
            case NestedPart.REFRESH:
                self._check_refresh(value, where)
            case (
                NestedPart.COLUMNS
                | NestedPart.FACTS
                | NestedPart.TABLE_COLUMNS
                | NestedPart.TABLE_ROWS
                | NestedPart.TABLE_CELLS
            ):
                self._check_parts(value, _PARTS[kind], where)
            case _:
                assert_never(kind)

    def _check_each(self, value: Any, check: Callable[[Any, str], None], where: str) -> None:
        for number, member in enumerate(list_in(value, where)):
            check(member, f"{where}[{number}]")

    def _check_parts(self, value: Any, schema: PartSchema, where: str) -> None:
        for number, member in enumerate(list_in(value, where)):
            self.check_part(object_in(member, where), schema, f"{where}[{number}]")

    def _check_actions(self, value: Any, where: str) -> None:
        actions = list_in(value, where)
        refuse_card_unless(bool(actions), f"{where}: empty")
        self._check_each(actions, self.check_action, where)
        refuse_card_unless(all("title" in action for action in actions), f"{where}: a button without title")
        visible = [action for action in actions if action.get("mode", "primary") == "primary"]
        refuse_card_unless(len(visible) <= VISIBLE_ACTIONS, f"{where}: {len(visible)} visible actions")

    def _check_image(self, value: Any, where: str) -> None:
        refuse_card_unless(type_of(object_in(value, where)) == "Image", f"{where}: no image")
        self.check_element(value, where)

    def _check_inline(self, value: Any, where: str) -> None:
        if not isinstance(value, str):
            self.check_part(object_in(value, where), card_schema.TEXT_RUN, where)

    def _check_choices(self, value: Any, where: str) -> None:
        self._check_parts(value, card_schema.CHOICE, where)
        chosen = [choice["value"] for choice in value]
        refuse_card_unless(bool(chosen), f"{where}: nothing to choose from")
        refuse_card_unless(len(set(chosen)) == len(chosen), f"{where}: two choices of one value")

    def _check_target(self, value: Any, where: str) -> None:
        target = value if isinstance(value, str) else object_in(value, where).get("elementId")
        refuse_card_unless(isinstance(target, str), f"{where}: no id")
        self.targets.append((where, str(target)))

    def _check_fallback(self, value: Any, where: str, *, is_action: bool) -> None:
        """Check what older clients show; its ids may be those of what it replaces."""
        if value != "drop":
            walk = _CardWalk(version=self.version)
            check = walk.check_action if is_action else walk.check_element
            check(value, where)

    def _check_background(self, value: Any, where: str) -> None:
        if isinstance(value, str):
            check_picture(value, where)
        else:
            self.check_part(object_in(value, where), card_schema.BACKGROUND, where)

    def _check_refresh(self, value: Any, where: str) -> None:
        refresh = object_in(value, where)
        refuse_card_unless(refresh.keys() <= {"action", "userIds", "expires"}, f"{where}: unknown property")
        self.check_action(refresh.get("action"), where)
        refuse_card_unless(type_of(refresh["action"]) == "Action.Execute", f"{where}: no Action.Execute")
        users = list_in(refresh.get("userIds", []), where)
        refuse_card_unless(len(users) <= REFRESHING_USERS, f"{where}: over {REFRESHING_USERS} users")

    def _check_version(self, since: CardVersion, where: str) -> None:
        refuse_card_unless(since <= self.version, f"{where} needs version {since[0]}.{since[1]}")


_PARTS: Final[Mapping[NestedPart, PartSchema]] = {
    NestedPart.COLUMNS: card_schema.COLUMN,
    NestedPart.FACTS: card_schema.FACT,
    NestedPart.TABLE_COLUMNS: card_schema.TABLE_COLUMN,
    NestedPart.TABLE_ROWS: card_schema.TABLE_ROW,
    NestedPart.TABLE_CELLS: card_schema.TABLE_CELL,
}


def _check_chosen(part: Mapping[str, Any], where: str) -> None:
    """Check that the value of a choice set is among its choices, and that several can be told apart."""
    choices = {choice["value"] for choice in part["choices"]}
    is_multiple = part.get("isMultiSelect", False)
    chosen = part.get("value", "")
    values = set(chosen.split(",")) if is_multiple else {chosen}
    refuse_card_unless(not chosen or values <= choices, f"{where}: the value {chosen!r} is no choice")
    refuse_card_unless(not is_multiple or not any("," in value for value in choices), f"{where}: a comma in a value")
