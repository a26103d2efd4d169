"""The extractor of `parley ingest --extract-with model`: a model reads what the rules read too, and both are joined."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass

from cachetools import LRUCache

from agent.errors import ModelUnavailable, UnusableReply
from agent.gateway.language_model import LanguageModel
from agent.gateway.structured_output import request_structured
from agent.reasoning_log import ReasoningLog
from agent.token_counts import estimate_tokens
from bot.errors import ResultCacheUnavailable
from bot.models.cost_estimate import ModelWorkload
from bot.models.result_cache import ResultCache, result_key_of
from prompts.data_texts import escape_attribute, escape_tags
from prompts.outputs import FieldExtractionOutput
from prompts.outputs.field_extraction import ExtractedValueOutput
from prompts.prompt_library import RenderedPrompt, load_prompt
from storage.ingest.extract.candidates import CandidatesByField, ExtractionInput, Extractor
from storage.ingest.extract.quoted_values import QuotedValue, check_quoted_values, join_candidates
from storage.search.ids import FieldName
from storage.search.schema import FieldType, Schema, SchemaField

_PROMPT_NAME = "extract_fields"
_WINDOW_CHARS, _OVERLAP_CHARS = 12_000, 400  # code points of a document that one call reads; windows overlap
_CALL_CHARS, _CALL_WINDOWS = 12_000, 8  # of all windows of one call, unless the first alone has more
_MAX_OUTPUT_TOKENS, _CALL_TIMEOUT_S = 6_000, 120.0
_OUTPUT_TOKENS_A_FIELD = 40  # for the estimate: a value, its words and the punctuation of JSON
_MAX_KEPT_WINDOWS = 5_000  # read windows in memory

_WindowValues = tuple[QuotedValue, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentWindow:
    """A piece of a document that one call reads, and the key of its result in the cache."""

    title: str
    text: str
    key: bytes


class ModelExtractor:
    """Implements `Extractor`. What the model found in a window is kept in the cache, by the text, the fields, the model
    and the prompt; so a run that was stopped, and a later one, ask for nothing twice.

    A document of which a window cannot be read is read by the rules alone, and counted in `fallback_count`. At most
    `concurrency` calls run at once.
    """

    def __init__(
        self, model: LanguageModel, model_name: str, rules: Extractor, cache: ResultCache, *, concurrency: int = 4
    ) -> None:
        """`model_name`: of the model for small tasks, which is asked."""
        self._model, self._rules, self._cache = model, rules, cache
        self._prompt = load_prompt(_PROMPT_NAME)
        self._family = f"{_PROMPT_NAME} by {model_name}"
        self._calls = asyncio.Semaphore(concurrency)
        self._read_windows: LRUCache[bytes, _WindowValues] = LRUCache(_MAX_KEPT_WINDOWS)
        self._failed_windows = set[bytes]()
        self.fallback_count = 0  # documents

    async def prepare_documents(self, documents: Sequence[ExtractionInput], schema: Schema) -> None:
        await self._rules.prepare_documents(documents, schema)
        self._failed_windows.clear()
        windows = [window for document in documents for window in self._windows_of(document, schema)]
        calls = _pack_windows(await self._select_unread(windows))
        await asyncio.gather(*(self._read_together(call, schema) for call in calls))

    async def extract_candidates(self, document: ExtractionInput, schema: Schema) -> CandidatesByField:
        candidates = await self._rules.extract_candidates(document, schema)
        quoted_values = await self._load_quoted_values(document, schema)
        if quoted_values is None:
            self.fallback_count += 1
            return candidates
        return await asyncio.to_thread(_join_with_rules, candidates, quoted_values, document, schema)

    async def measure_workload(self, documents: Sequence[ExtractionInput], schema: Schema) -> ModelWorkload:
        """Returns the calls that `prepare_documents` would make, without making them."""
        windows = [window for document in documents for window in self._windows_of(document, schema)]
        workload = ModelWorkload()
        for call in _pack_windows(await self._select_unread(windows)):
            prompt = self._render_prompt(call, schema)
            output_tokens = len(call) * len(schema.fields) * _OUTPUT_TOKENS_A_FIELD
            workload += ModelWorkload(
                calls=1,
                input_tokens=estimate_tokens(prompt.system) + estimate_tokens(prompt.user),
                output_tokens=min(output_tokens, _MAX_OUTPUT_TOKENS),
            )
        return workload

    async def _load_quoted_values(self, document: ExtractionInput, schema: Schema) -> Sequence[QuotedValue] | None:
        """Returns the values of all windows; None if one of them could not be read."""
        windows = self._windows_of(document, schema)
        untried = [window for window in windows if window.key not in self._failed_windows]
        for call in _pack_windows(await self._select_unread(untried)):
            await self._read_together(call, schema)
        if any(window.key not in self._read_windows for window in windows):
            return None
        return [value for window in windows for value in self._read_windows[window.key]]

    def _windows_of(self, document: ExtractionInput, schema: Schema) -> list[DocumentWindow]:
        """Returns the windows of the text; none if there are no words or no fields."""
        if not schema.fields or not document.text.strip():
            return []
        fields = "\n".join(map(_describe_field, schema.fields))
        length, step = len(document.text), _WINDOW_CHARS - _OVERLAP_CHARS
        starts = range(0, max(length - _OVERLAP_CHARS, 1), step)
        texts = [document.text[start : start + _WINDOW_CHARS] for start in starts]
        return [
            DocumentWindow(
                title=document.title, text=text, key=result_key_of(self._prompt.source, fields, document.title, text)
            )
            for text in texts
        ]

    async def _select_unread(self, windows: Sequence[DocumentWindow]) -> list[DocumentWindow]:
        """Returns each window once that is neither in memory nor in the cache; puts those of the cache into memory."""
        unread = {window.key: window for window in windows if window.key not in self._read_windows}
        try:
            results = await self._cache.load_results(self._family, list(unread))
        except ResultCacheUnavailable:
            results = dict[bytes, bytes]()
        self._read_windows.update({key: _values_from_json(result) for key, result in results.items()})
        return [window for key, window in unread.items() if key not in results]

    async def _read_together(self, windows: Sequence[DocumentWindow], schema: Schema) -> None:
        """Ask the model about the windows, and keep what it says; the windows that it leaves out have failed."""
        self._failed_windows.update(window.key for window in windows)
        try:
            async with self._calls:
                reply = await request_structured(
                    self._model,
                    self._render_prompt(windows, schema),
                    FieldExtractionOutput,
                    ReasoningLog(),
                    check=lambda output: _find_faults(output, len(windows), schema),
                    max_output_tokens=_MAX_OUTPUT_TOKENS,
                    timeout_s=_CALL_TIMEOUT_S,
                )
        except (ModelUnavailable, UnusableReply):
            return
        values_by_number = {values.document: values.values for values in reply.value.documents}
        results = {
            window.key: values_by_number[number]
            for number, window in enumerate(windows, start=1)
            if number in values_by_number
        }
        self._failed_windows.difference_update(results)
        self._read_windows.update({key: tuple(map(_quoted_value_of, values)) for key, values in results.items()})
        try:
            stored = {key: _values_to_json(values) for key, values in results.items()}
            await self._cache.store_results(self._family, stored)
        except ResultCacheUnavailable:
            return  # the values count all the same; a later run asks for them again

    def _render_prompt(self, windows: Sequence[DocumentWindow], schema: Schema) -> RenderedPrompt:
        documents = [
            {
                "number": number,
                "title": escape_attribute(window.title),
                "text": escape_tags(window.text, "fields", "document"),  # the model copies its words, hidden ones too
            }
            for number, window in enumerate(windows, start=1)
        ]
        return self._prompt.render(fields=list(map(_describe_field, schema.fields)), documents=documents)


class WorkloadMeter:
    """Implements `Extractor` without any call: adds up those that a `ModelExtractor` would make.

    Finds what that one finds in documents that the model has read before, and in others what the rules find.
    """

    def __init__(self, extractor: ModelExtractor, rules: Extractor) -> None:
        self._extractor, self._rules = extractor, rules
        self.workload = ModelWorkload()

    async def prepare_documents(self, documents: Sequence[ExtractionInput], schema: Schema) -> None:
        self.workload += await self._extractor.measure_workload(documents, schema)

    async def extract_candidates(self, document: ExtractionInput, schema: Schema) -> CandidatesByField:
        is_read = not (await self._extractor.measure_workload([document], schema)).calls
        return await (self._extractor if is_read else self._rules).extract_candidates(document, schema)


def _pack_windows(windows: Sequence[DocumentWindow]) -> list[list[DocumentWindow]]:
    """Divides the windows into calls, in order; short ones share a call."""
    calls = list[list[DocumentWindow]]()
    character_count = 0
    for window in windows:
        is_full = not calls or len(calls[-1]) >= _CALL_WINDOWS or character_count + len(window.text) > _CALL_CHARS
        if is_full:
            calls.append([])
            character_count = 0
        calls[-1].append(window)
        character_count += len(window.text)
    return calls


def _join_with_rules(
    candidates: CandidatesByField, quoted_values: Sequence[QuotedValue], document: ExtractionInput, schema: Schema
) -> CandidatesByField:
    return join_candidates(candidates, check_quoted_values(quoted_values, document, schema), schema)


def _find_faults(output: FieldExtractionOutput, document_count: int, schema: Schema) -> list[str]:
    """Returns a sentence for the model about each fault that it can mend."""
    numbers = {values.document for values in output.documents}
    unknown_fields = {
        value.field for values in output.documents for value in values.values if value.field not in schema.by_name
    }
    return [
        *(f"document {n} is not in the reply" for n in range(1, document_count + 1) if n not in numbers),
        *(f"there is no field {name!r}" for name in sorted(unknown_fields)),
    ]


def _describe_field(field: SchemaField) -> str:
    """`price: money (EUR), the total; also called "sum"`."""
    details = [_describe_type(field)]
    if field.description:
        details.append(" ".join(field.description.split()))
    if names := [name for name in (field.title, *field.plain_synonyms, *field.labels) if name]:
        details.append("also called " + ", ".join(json.dumps(name, ensure_ascii=False) for name in names))
    return f"{field.name}: {'; '.join(details)}"


def _describe_type(field: SchemaField) -> str:
    match field.type:
        case FieldType.NUMBER:
            return f"number in {field.unit}" if field.unit else "number"
        case FieldType.MONEY:
            return f"amount in {field.currency}" if field.currency else "amount with its currency"
        case FieldType.DATE:
            return "day"
        case FieldType.FLAG:
            return "flag, true or false"
        case FieldType.TEXT:
            return "text"
        case FieldType.CATEGORY | FieldType.LIST:
            kind = "list of names" if field.type is FieldType.LIST else "name"
            return f"{kind}, of {json.dumps(list(field.values), ensure_ascii=False)}" if field.values else kind
        case FieldType.ROWS:
            columns = ", ".join(f"{column.name} ({_describe_type(column)})" for column in field.columns)
            return f"rows with the columns {columns}"


def _quoted_value_of(value: ExtractedValueOutput) -> QuotedValue:
    cells = tuple((FieldName(cell.column), cell.value) for cell in value.cells)
    return QuotedValue(field=FieldName(value.field), value=value.value, words=value.words, cells=cells)


def _values_to_json(values: Sequence[ExtractedValueOutput]) -> bytes:
    return json.dumps([value.model_dump() for value in values], ensure_ascii=False).encode("utf-8", "surrogatepass")


def _values_from_json(result: bytes) -> _WindowValues:
    return tuple(
        _quoted_value_of(ExtractedValueOutput.model_validate(value))
        for value in json.loads(result.decode("utf-8", "surrogatepass"))
    )
