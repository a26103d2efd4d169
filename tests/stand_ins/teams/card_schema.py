"""The elements, inputs and actions of Adaptive Cards 1.5, each with its properties. https://adaptivecards.io/explorer"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, TypeAlias

from tests.stand_ins.teams import card_values as values
from tests.stand_ins.teams.card_values import ValueCheck

CardVersion: TypeAlias = tuple[int, int]


class NestedPart(StrEnum):
    """What a property holds, where that is no single value."""

    ELEMENTS = "elements"
    ACTIONS = "actions"
    ACTION = "action"
    CARD = "card"
    COLUMNS = "columns"
    FACTS = "facts"
    IMAGES = "images"
    INLINES = "inlines"
    CHOICES = "choices"
    TABLE_COLUMNS = "table columns"
    TABLE_ROWS = "table rows"
    TABLE_CELLS = "table cells"
    BACKGROUND = "background"
    TARGETS = "targets"
    FALLBACK_ELEMENT = "fallback element"
    FALLBACK_ACTION = "fallback action"
    DATA = "data"
    REFRESH = "refresh"


PropertyKind: TypeAlias = ValueCheck | NestedPart


@dataclass(frozen=True, kw_only=True)
class PartSchema:
    """`required` properties must be there; `since`: the first version of the part, or of a property."""

    properties: Mapping[str, PropertyKind]
    required: frozenset[str] = frozenset()
    since: CardVersion = (1, 0)
    property_since: Mapping[str, CardVersion] = field(default_factory=dict[str, CardVersion])


_ITEM: Final[Mapping[str, PropertyKind]] = {
    "type": values.check_filled_text,
    "id": values.check_filled_text,
    "isVisible": values.check_flag,
    "requires": values.check_object,
    "fallback": NestedPart.FALLBACK_ELEMENT,
    "separator": values.check_flag,
    "spacing": values.check_spacing,
}
_BLOCK: Final[Mapping[str, PropertyKind]] = {**_ITEM, "height": values.check_height}
_CONTAINER: Final[Mapping[str, PropertyKind]] = {
    "selectAction": NestedPart.ACTION,
    "style": values.check_container_style,
    "verticalContentAlignment": values.check_vertical,
    "bleed": values.check_flag,
    "backgroundImage": NestedPart.BACKGROUND,
    "minHeight": values.check_pixels,
    "rtl": values.check_flag,
}
_TEXT: Final[Mapping[str, PropertyKind]] = {
    "text": values.check_text,
    "color": values.check_colour_name,
    "fontType": values.check_font,
    "isSubtle": values.check_flag,
    "size": values.check_text_size,
    "weight": values.check_weight,
}
_INPUT: Final[Mapping[str, PropertyKind]] = {
    **_BLOCK,
    "label": values.check_text,
    "isRequired": values.check_flag,
    "errorMessage": values.check_text,
}
_INPUT_SINCE: Final[Mapping[str, CardVersion]] = {"label": (1, 3), "isRequired": (1, 3), "errorMessage": (1, 3)}
_ACTION: Final[Mapping[str, PropertyKind]] = {
    "type": values.check_filled_text,
    "id": values.check_filled_text,
    "title": values.check_filled_text,
    "iconUrl": values.check_picture,
    "style": values.words("default", "positive", "destructive"),
    "fallback": NestedPart.FALLBACK_ACTION,
    "requires": values.check_object,
    "tooltip": values.check_text,
    "isEnabled": values.check_flag,
    "mode": values.words("primary", "secondary"),
}
_ACTION_SINCE: Final[Mapping[str, CardVersion]] = {"tooltip": (1, 5), "isEnabled": (1, 5), "mode": (1, 5)}
_CELLS: Final[Mapping[str, PropertyKind]] = {
    "horizontalCellContentAlignment": values.check_align,
    "verticalCellContentAlignment": values.check_vertical,
}


def _input(needed: str = "", *, since: Mapping[str, CardVersion] | None = None, **own: PropertyKind) -> PartSchema:
    """Returns the schema of an input: `needed` names a property that it needs beside its id."""
    required = frozenset({"id", *needed.split()})
    return PartSchema(properties={**_INPUT, **own}, required=required, property_since={**_INPUT_SINCE, **(since or {})})


def _action(needed: str = "", *, since: CardVersion = (1, 0), **own: PropertyKind) -> PartSchema:
    return PartSchema(
        properties={**_ACTION, **own}, required=frozenset(needed.split()), since=since, property_since=_ACTION_SINCE
    )


ELEMENTS: Final[Mapping[str, PartSchema]] = {
    "TextBlock": PartSchema(
        properties={
            **_BLOCK,
            **_TEXT,
            "horizontalAlignment": values.check_align,
            "maxLines": values.check_count,
            "wrap": values.check_flag,
            "style": values.words("default", "heading"),
        },
        required=frozenset({"text"}),
        property_since={"style": (1, 5), "fontType": (1, 2)},
    ),
    "RichTextBlock": PartSchema(
        properties={**_BLOCK, "inlines": NestedPart.INLINES, "horizontalAlignment": values.check_align},
        required=frozenset({"inlines"}),
        since=(1, 2),
    ),
    "Image": PartSchema(
        properties={
            **_ITEM,
            "url": values.check_picture,
            "altText": values.check_text,
            "backgroundColor": values.check_colour,
            "height": values.check_picture_height,
            "horizontalAlignment": values.check_align,
            "selectAction": NestedPart.ACTION,
            "size": values.check_picture_size,
            "style": values.words("default", "person"),
            "width": values.check_pixels,
        },
        required=frozenset({"url"}),
    ),
    "ImageSet": PartSchema(
        properties={**_BLOCK, "images": NestedPart.IMAGES, "imageSize": values.check_picture_size},
        required=frozenset({"images"}),
    ),
    "Container": PartSchema(
        properties={**_BLOCK, **_CONTAINER, "items": NestedPart.ELEMENTS},
        required=frozenset({"items"}),
        property_since={"rtl": (1, 5), "bleed": (1, 2), "minHeight": (1, 2), "backgroundImage": (1, 2)},
    ),
    "ColumnSet": PartSchema(
        properties={
            **_BLOCK,
            "columns": NestedPart.COLUMNS,
            "selectAction": NestedPart.ACTION,
            "style": values.check_container_style,
            "bleed": values.check_flag,
            "minHeight": values.check_pixels,
            "horizontalAlignment": values.check_align,
        },
        required=frozenset({"columns"}),
    ),
    "FactSet": PartSchema(properties={**_BLOCK, "facts": NestedPart.FACTS}, required=frozenset({"facts"})),
    "ActionSet": PartSchema(
        properties={**_BLOCK, "actions": NestedPart.ACTIONS, "horizontalAlignment": values.check_align},
        required=frozenset({"actions"}),
        since=(1, 2),
    ),
    "Table": PartSchema(
        properties={
            **_BLOCK,
            **_CELLS,
            "columns": NestedPart.TABLE_COLUMNS,
            "rows": NestedPart.TABLE_ROWS,
            "firstRowAsHeader": values.check_flag,
            "showGridLines": values.check_flag,
            "gridStyle": values.check_container_style,
        },
        required=frozenset({"columns", "rows"}),
        since=(1, 5),
    ),
    "Input.Text": _input(
        isMultiline=values.check_flag,
        maxLength=values.check_count,
        placeholder=values.check_text,
        regex=values.check_text,
        style=values.words("text", "tel", "url", "email", "password"),
        inlineAction=NestedPart.ACTION,
        value=values.check_text,
        since={"inlineAction": (1, 2), "regex": (1, 3)},
    ),
    "Input.Number": _input(
        max=values.check_number, min=values.check_number, placeholder=values.check_text, value=values.check_number
    ),
    "Input.Date": _input(
        max=values.check_date, min=values.check_date, placeholder=values.check_text, value=values.check_date
    ),
    "Input.Time": _input(
        max=values.check_time, min=values.check_time, placeholder=values.check_text, value=values.check_time
    ),
    "Input.Toggle": _input(
        "title",
        title=values.check_filled_text,
        value=values.check_text,
        valueOff=values.check_text,
        valueOn=values.check_text,
        wrap=values.check_flag,
    ),
    "Input.ChoiceSet": _input(
        "choices",
        choices=NestedPart.CHOICES,
        isMultiSelect=values.check_flag,
        style=values.words("compact", "expanded", "filtered"),
        value=values.check_text,
        placeholder=values.check_text,
        wrap=values.check_flag,
        since={"wrap": (1, 2)},
    ),
}
INPUTS: Final = frozenset(name for name in ELEMENTS if name.startswith("Input."))

ACTIONS: Final[Mapping[str, PartSchema]] = {
    "Action.Submit": _action(data=NestedPart.DATA, associatedInputs=values.words("auto", "none")),
    "Action.Execute": _action(
        verb=values.check_filled_text,
        data=NestedPart.DATA,
        associatedInputs=values.words("auto", "none"),
        since=(1, 4),
    ),
    "Action.OpenUrl": _action("url", url=values.check_url),
    "Action.ShowCard": _action("card", card=NestedPart.CARD),
    "Action.ToggleVisibility": _action("targetElements", targetElements=NestedPart.TARGETS, since=(1, 2)),
}

# Parts that stand in one kind of place alone.
COLUMN: Final = PartSchema(
    properties={**_ITEM, **_CONTAINER, "items": NestedPart.ELEMENTS, "width": values.check_width}
)
TABLE_COLUMN: Final = PartSchema(
    properties={"type": values.words("TableColumnDefinition"), "width": values.check_width, **_CELLS}
)
TABLE_ROW: Final = PartSchema(
    properties={
        "type": values.words("TableRow"),
        "cells": NestedPart.TABLE_CELLS,
        "style": values.check_container_style,
        **_CELLS,
    },
    required=frozenset({"type", "cells"}),
)
TABLE_CELL: Final = PartSchema(
    properties={"type": values.words("TableCell"), **_CONTAINER, "items": NestedPart.ELEMENTS},
    required=frozenset({"type", "items"}),
)
FACT: Final = PartSchema(
    properties={"title": values.check_text, "value": values.check_text}, required=frozenset({"title", "value"})
)
CHOICE: Final = PartSchema(
    properties={"title": values.check_filled_text, "value": values.check_filled_text},
    required=frozenset({"title", "value"}),
)
TEXT_RUN: Final = PartSchema(
    properties={
        "type": values.words("TextRun"),
        **_TEXT,
        "highlight": values.check_flag,
        "italic": values.check_flag,
        "strikethrough": values.check_flag,
        "underline": values.check_flag,
        "selectAction": NestedPart.ACTION,
    },
    required=frozenset({"type", "text"}),
    property_since={"underline": (1, 3)},
)
BACKGROUND: Final = PartSchema(
    properties={
        "url": values.check_picture,
        "fillMode": values.words("cover", "repeatHorizontally", "repeatVertically", "repeat"),
        "horizontalAlignment": values.check_align,
        "verticalAlignment": values.check_vertical,
    },
    required=frozenset({"url"}),
)
CARD: Final = PartSchema(
    properties={
        "type": values.words("AdaptiveCard"),
        "$schema": values.check_url,
        "version": values.check_filled_text,
        "body": NestedPart.ELEMENTS,
        "actions": NestedPart.ACTIONS,
        "selectAction": NestedPart.ACTION,
        "fallbackText": values.check_text,
        "speak": values.check_text,
        "lang": values.check_text,
        "minHeight": values.check_pixels,
        "rtl": values.check_flag,
        "verticalContentAlignment": values.check_vertical,
        "backgroundImage": NestedPart.BACKGROUND,
        "refresh": NestedPart.REFRESH,
        "msteams": values.check_object,
    },
    required=frozenset({"type"}),
    property_since={"refresh": (1, 4), "rtl": (1, 5)},
)
