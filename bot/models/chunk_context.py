"""The contexts of `parley ingest --chunk-context`: a model says what each passage is about in its document.

A passage is then found by what its document says elsewhere: "its revenue grew by 3 %" by the company and the quarter.
The method is contextual retrieval: Anthropic, "Introducing Contextual Retrieval", 2024,
https://www.anthropic.com/news/contextual-retrieval. Instead of the whole document, a call has its beginning and a run
of passages, which costs one reading of a text instead of one for each of its passages.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from agent.errors import ModelUnavailable, UnusableReply
from agent.gateway.language_model import LanguageModel
from agent.gateway.structured_output import request_structured
from agent.reasoning_log import ReasoningLog
from agent.token_counts import estimate_tokens
from bot.errors import ResultCacheUnavailable
from bot.models.cost_estimate import ModelWorkload
from bot.models.result_cache import ResultCache, result_key_of
from prompts.data_texts import drop_hidden_characters, escape_attribute, escape_tags
from prompts.outputs import SituatedPassagesOutput
from prompts.prompt_library import RenderedPrompt, load_prompt
from storage.ingest.documents.code_contexts import join_contexts
from storage.search.documents import Document, Passage

_PROMPT_NAME = "situate_passage"
_CALL_PASSAGES, _CALL_CHARS = 10, 10_000  # of one call
_BEGINNING_CHARS = 2_000  # code points of the document's beginning, in calls about later passages
_MAX_CONTEXT_CHARS = 500  # code points; the rest of a longer context is cut off
_MAX_OUTPUT_TOKENS, _CALL_TIMEOUT_S = 2_000, 120.0
_OUTPUT_TOKENS_A_PASSAGE = 60  # for the estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageRun:
    """Successive passages of a document that share a call. `keys`: of their contexts in the cache."""

    prompt: RenderedPrompt
    keys: tuple[bytes, ...]


class ChunkContextWriter:
    """Implements `storage.ingest.pipeline.PassageSituator`. Contexts are kept in the cache, by prompt, model, passage
    and the text around it; so a run that was stopped goes on, and unchanged documents cost nothing.

    A passage that the model leaves out, or whose call fails, has no context, and is counted in `failure_count`. A
    document of one passage needs none. At most `concurrency` calls run at once.
    """

    def __init__(self, model: LanguageModel, model_name: str, cache: ResultCache, *, concurrency: int = 4) -> None:
        """`model_name`: of the model for small tasks, which is asked."""
        self._model, self._cache = model, cache
        self._prompt = load_prompt(_PROMPT_NAME)
        self._family = f"{_PROMPT_NAME} by {model_name}"
        self._calls = asyncio.Semaphore(concurrency)
        self.failure_count = 0  # passages

    async def situate_passages(self, documents: Sequence[Document]) -> list[Document]:
        runs_by_document = [self._runs_of(document) for document in documents]
        runs = [run for document_runs in runs_by_document for run in document_runs]
        contexts = dict(await self._load_contexts(runs))
        written = await asyncio.gather(*(self._write_contexts(run) for run in _select_unwritten(runs, contexts)))
        for fetched in written:
            contexts = {**fetched, **contexts}  # what was kept stays, so that unchanged documents are skipped
        return [
            _with_contexts(document, [contexts.get(key, "") for run in document_runs for key in run.keys])
            for document, document_runs in zip(documents, runs_by_document, strict=True)
        ]

    async def measure_workload(self, documents: Sequence[Document]) -> ModelWorkload:
        """Returns the calls that `situate_passages` would make, without making them."""
        runs = [run for document in documents for run in self._runs_of(document)]
        workload = ModelWorkload()
        for run in _select_unwritten(runs, await self._load_contexts(runs)):
            input_tokens = estimate_tokens(run.prompt.system) + estimate_tokens(run.prompt.user)
            output_tokens = len(run.keys) * _OUTPUT_TOKENS_A_PASSAGE
            workload += ModelWorkload(calls=1, input_tokens=input_tokens, output_tokens=output_tokens)
        return workload

    def _runs_of(self, document: Document) -> list[PassageRun]:
        if len(document.passages) < 2:
            return []
        return [self._run_of(document, passages) for passages in _divide_passages(document.passages)]

    def _run_of(self, document: Document, passages: Sequence[Passage]) -> PassageRun:
        prompt = self._prompt.render(
            title=escape_attribute(document.title),
            beginning=_escape_text(document.text[: min(passages[0].start, _BEGINNING_CHARS)]).strip(),
            passages=[
                {"number": number, "text": _escape_text(document.text[passage.start : passage.end])}
                for number, passage in enumerate(passages, start=1)
            ],
        )
        keys = tuple(result_key_of(prompt.system, prompt.user, str(number)) for number in range(len(passages)))
        return PassageRun(prompt=prompt, keys=keys)

    async def _load_contexts(self, runs: Sequence[PassageRun]) -> Mapping[bytes, str]:
        try:
            results = await self._cache.load_results(self._family, [key for run in runs for key in run.keys])
        except ResultCacheUnavailable:
            return {}
        return {key: result.decode() for key, result in results.items()}

    async def _write_contexts(self, run: PassageRun) -> Mapping[bytes, str]:
        """Returns the contexts that the model gives, and keeps them."""
        try:
            async with self._calls:
                reply = await request_structured(
                    self._model,
                    run.prompt,
                    SituatedPassagesOutput,
                    ReasoningLog(),
                    check=lambda output: _find_missing_numbers(output, len(run.keys)),
                    max_output_tokens=_MAX_OUTPUT_TOKENS,
                    timeout_s=_CALL_TIMEOUT_S,
                )
        except (ModelUnavailable, UnusableReply):
            self.failure_count += len(run.keys)
            return {}
        contexts = {
            run.keys[passage.number - 1]: _clean_context(passage.context)
            for passage in reply.value.passages
            if 1 <= passage.number <= len(run.keys)
        }
        self.failure_count += len(run.keys) - len(contexts)
        try:
            await self._cache.store_results(self._family, {key: context.encode() for key, context in contexts.items()})
        except ResultCacheUnavailable:
            return contexts  # they count all the same; a later run asks for them again
        return contexts


class ContextWorkloadMeter:
    """Implements `PassageSituator` without any call: adds up those that a `ChunkContextWriter` would make."""

    def __init__(self, writer: ChunkContextWriter) -> None:
        self._writer = writer
        self.workload = ModelWorkload()

    async def situate_passages(self, documents: Sequence[Document]) -> list[Document]:
        workload = await self._writer.measure_workload(documents)
        self.workload += workload
        return list(documents) if workload.calls else await self._writer.situate_passages(documents)


def _find_missing_numbers(output: SituatedPassagesOutput, passage_count: int) -> list[str]:
    numbers = {passage.number for passage in output.passages}
    return [f"passage {n} is not in the reply" for n in range(1, passage_count + 1) if n not in numbers]


def _escape_text(text: str) -> str:
    return escape_tags(drop_hidden_characters(text), "document", "beginning", "passage")


def _divide_passages(passages: Sequence[Passage]) -> list[list[Passage]]:
    """Returns the passages in order, in runs of some that are short enough for one call."""
    runs = list[list[Passage]]()
    for passage in passages:
        if not runs or len(runs[-1]) >= _CALL_PASSAGES or passage.end - runs[-1][0].start > _CALL_CHARS:
            runs.append([])
        runs[-1].append(passage)
    return runs


def _select_unwritten(runs: Sequence[PassageRun], contexts: Mapping[bytes, str]) -> list[PassageRun]:
    """Returns each run once that has a passage without a context."""
    return list({run.keys: run for run in runs if any(key not in contexts for key in run.keys)}.values())


def _with_contexts(document: Document, contexts: Sequence[str]) -> Document:
    if not any(contexts):
        return document
    passages = zip(document.passages, contexts, strict=True)
    return replace(
        document,
        passages=tuple(
            replace(passage, context=join_contexts(context, passage.context)) for passage, context in passages
        ),
    )


def _clean_context(text: str) -> str:
    return " ".join(text.encode(errors="ignore").decode().split())[:_MAX_CONTEXT_CHARS]
