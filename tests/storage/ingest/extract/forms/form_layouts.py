"""The layouts in which documents show the same labels and values, and the documents of a kind."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeAlias

from storage.ingest.extract.candidates import ExtractionInput
from storage.search.ids import BucketId, FieldName
from storage.search.schema import Schema, SchemaField
from tests.storage.ingest.extract.forms.form_kinds import FormField, FormKind
from tests.storage.ingest.extract.forms.form_values import DocumentStyle, GoldValue

_MISSING_SHARE = 0.2  # of the fields of a document
Pairs: TypeAlias = Sequence[tuple[str, str]]  # label and value
Layout: TypeAlias = Callable[[Pairs], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class FormDocument:
    """A document with the values that it states, by name of the field."""

    layout: str
    document: ExtractionInput
    gold: Mapping[str, GoldValue]


def _join_lines(pattern: str) -> Layout:
    return lambda pairs: "\n".join(pattern.format(label=label, value=value) for label, value in pairs)


def _pad_labels(mark: str) -> Layout:
    def render(pairs: Pairs) -> str:
        width = max(len(label) for label, _ in pairs) + 4
        return "\n".join(f"{f'{label}{mark}':<{width}}{value}" for label, value in pairs)

    return render


def _pair_columns(pattern: str, gap: str) -> Layout:
    def render(pairs: Pairs) -> str:
        cells = [pattern.format(label=label, value=value) for label, value in pairs]
        return "\n".join(gap.join(cells[first : first + 2]) for first in range(0, len(cells), 2))

    return render


def _render_markdown_table(pairs: Pairs) -> str:
    return "\n".join(("| Field | Value |", "| --- | --- |", *(f"| {label} | {value} |" for label, value in pairs)))


def _render_single_row(pairs: Pairs) -> str:
    labels, values = " | ".join(label for label, _ in pairs), " | ".join(value for _, value in pairs)
    return f"| {labels} |\n|{' --- |' * len(pairs)}\n| {values} |"


def _render_wide_table(pairs: Pairs) -> str:
    cells = [f"{label} | {value}" for label, value in pairs]
    return "\n".join(f"| {' | '.join(cells[first : first + 2])} |" for first in range(0, len(cells) // 2 * 2, 2)) + (
        f"\n| {cells[-1]} | | |" if len(cells) % 2 else ""
    )


TUNED_LAYOUTS: Mapping[str, Layout] = {
    "Label: value": _join_lines("{label}: {value}"),
    "Label:     value": _pad_labels(":"),
    "Label     value": _pad_labels(""),
    "Label ..... value": _join_lines("{label} ........ {value}"),
    "Label | value": _join_lines("{label} | {value}"),
    "Label: | value": _join_lines("{label}: | {value}"),
    "two pairs a line": _pair_columns("{label}: {value}", "    "),
    "value below": _join_lines("{label}\n{value}\n"),
    "value below colon": _join_lines("{label}:\n{value}"),
    "markdown table": _render_markdown_table,
    "bold label": _join_lines("**{label}:** {value}  "),
    "Label. value": _join_lines("{label}.: {value}"),
}
HELD_OUT_LAYOUTS: Mapping[str, Layout] = {
    "- Label – value": _join_lines("- {label} – {value}"),
    "heading above value": _join_lines("## {label}\n\n{value}\n"),
    "four columns": _render_wide_table,
    "single row": _render_single_row,
    "1. Label: value": _join_lines("1. {label}: {value}"),
    "Label = value": _join_lines("{label} = {value}"),
    "Label, tab, value": _join_lines("{label}\t{value}"),
    "two pairs a line, no colon": _pair_columns("{label}  {value}", "  |  "),
    "pairs with wide gaps": _pair_columns("{label}:   {value}", "        "),
}
PROSE = "prose"


def make_documents(
    kind: FormKind, layouts: Mapping[str, Layout], rng: Random, documents_per_layout: int
) -> list[FormDocument]:
    """So many documents in each layout, and twice as many in sentences."""
    documents = [
        _make_form(kind, name, layout, rng) for name, layout in layouts.items() for _ in range(documents_per_layout)
    ]
    return [*documents, *(_make_prose(kind, rng) for _ in range(2 * documents_per_layout))]


def schema_of_kind(kind: FormKind) -> Schema:
    """A plain schema: names, types, units, and the other labels as synonyms."""
    fields = tuple(
        SchemaField(
            name=FieldName(field.name),
            type=field.type,
            title=field.labels[0],
            synonyms=field.labels[1:],
            unit=field.unit,
        )
        for field in kind.fields
    )
    return Schema(
        bucket=BucketId("papers"),
        title=f"{kind.noun}s",
        synonyms=(kind.noun.lower(),),
        fields=fields,
        language=kind.language,
    )


def _choose_values(kind: FormKind, style: DocumentStyle, rng: Random) -> list[tuple[FormField, GoldValue, str]]:
    stated = [field for field in kind.fields if rng.random() > _MISSING_SHARE] or list(kind.fields)
    return [(field, *field.make_value(rng, style)) for field in stated]


def _make_form(kind: FormKind, name: str, layout: Layout, rng: Random) -> FormDocument:
    style = DocumentStyle.choose(rng, kind.language)
    values = _choose_values(kind, style, rng)
    pairs = [(_write_label(rng.choice(field.labels), rng), written) for field, _, written in values]
    for label, make in kind.other_labels:
        pairs.insert(rng.randint(0, len(pairs)), (label, make(rng, style)[1]))
    title = f"{kind.noun} {kind.code}-{rng.randint(1, 9999):04}"
    text = f"{kind.banner}\n\n{title}\n\n{layout(pairs)}\n\n{kind.banner}\n"
    return FormDocument(
        layout=name,
        document=ExtractionInput(title=title, text=text),
        gold={field.name: value for field, value, _ in values},
    )


def _write_label(label: str, rng: Random) -> str:
    return rng.choice((label, label, label, label.upper(), label.title()))


def _make_prose(kind: FormKind, rng: Random) -> FormDocument:
    style = DocumentStyle.choose(rng, kind.language)
    values = _choose_values(kind, style, rng)
    sentences = [rng.choice(field.sentences).format(value=written) for field, _, written in values]
    sentences = [sentence.replace("..", ".") for sentence in sentences]
    title = f"{kind.noun} {kind.code}-{rng.randint(1, 9999):04}"
    text = f"{kind.banner}\n\n{title}\n\n{' '.join(sentences)}\n\n{kind.banner}\n"
    return FormDocument(
        layout=PROSE,
        document=ExtractionInput(title=title, text=text),
        gold={field.name: value for field, value, _ in values},
    )
