"""The reranker of `PARLEY_RERANKER`: a cross-encoder that runs in FlashRank. Only this module imports flashrank.

FlashRank downloads a model that it does not find. Parley prevents that: an error names the missing files in the home,
and the address to fetch them from.
"""

import asyncio
import json
import logging
import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from agent.errors import RerankerUnavailable

_CONFIG_FILES = ("config.json", "tokenizer_config.json", "special_tokens_map.json", "tokenizer.json")
_MAX_TEXT_CHARS = 20_000  # code points passed on; a model reads some 512 words of them
_FILE_ERRORS = (OSError, LookupError, ValueError, TypeError, AttributeError)  # from model files with wrong content


class FlashrankReranker:
    """Fulfils `agent.retrieval.relevance.Reranker` with the given model in `folder`. The model is loaded on first use.

    Calls run one at a time in a thread, because the model uses all processors. A call that is cancelled before its
    start never runs. `close` does not wait for a running call.
    """

    def __init__(self, model: str, folder: Path) -> None:
        self._model, self._folder = model, folder
        self._ranker: Any = None  # flashrank has no types
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="reranker")

    async def score_passages(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        if not texts:
            return []
        return await asyncio.get_running_loop().run_in_executor(
            self._thread, self._compute_scores, question, list(texts)
        )

    def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _compute_scores(self, question: str, texts: Sequence[str]) -> list[float]:
        with RerankerErrorTranslation(self._model):
            if self._ranker is None:
                self._ranker = _load_ranker(self._model, self._folder)
            scores = _score_passages(self._ranker, question, texts)
        if not all(map(math.isfinite, scores)):
            raise RerankerUnavailable(f"the model {self._model} gives something else than numbers")
        return scores


@dataclass(frozen=True, slots=True)
class RerankerErrorTranslation:
    """Translates the errors of flashrank, onnxruntime and tokenizers in its block into `RerankerUnavailable`.

    None of these libraries has a base class for its errors that an `except` could name. Other errors pass unchanged.
    """

    model: str

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, exc: BaseException | None, trace: object) -> None:
        if exc is not None and _is_library_error(exc):
            raise RerankerUnavailable(f"the model {self.model} cannot be used ({type(exc).__name__}: {exc})") from exc


def _is_library_error(exc: BaseException) -> bool:
    """Whether a library raised it. `tokenizers` raises only plain `Exception`."""
    return isinstance(exc, _FILE_ERRORS) or type(exc) is Exception or type(exc).__module__.startswith("onnxruntime")


def _load_ranker(model: str, folder: Path) -> Any:
    """FlashRank's `Ranker`. Raises `RerankerUnavailable` for missing files."""
    root = logging.getLogger()
    previous_logging = list(root.handlers), root.level
    try:
        from flashrank import Config, Ranker  # pyright: ignore[reportMissingImports, reportMissingTypeStubs, reportUnknownVariableType]
    except ImportError as exc:
        advice = "install Parley with its extra: pip install 'parley[rerank]'"
        raise RerankerUnavailable(f"flashrank is not installed; {advice}") from exc
    _check_model_files(model, folder, cast(Any, Config))
    try:
        return cast(Any, Ranker)(model_name=model, cache_dir=str(folder), log_level="WARNING")
    finally:
        root.handlers, root.level = previous_logging  # FlashRank configures logging for the whole process


def _check_model_files(model: str, folder: Path, config: Any) -> None:
    """Runs before FlashRank looks for the files: it would download a missing folder, and would not
    repair a broken one.
    """
    known_models = [name for name in config.model_file_map if name not in config.listwise_rankers]
    if model not in known_models:
        raise RerankerUnavailable(
            f"flashrank knows no model {model!r} that scores passages, only {', '.join(known_models)}"
        )
    files = (config.model_file_map[model], *_CONFIG_FILES)
    missing = [name for name in files if not (folder / model / name).is_file()]
    if missing:
        advice = f"fetch {config.model_url.format(model)} and unpack it into {folder}"
        raise RerankerUnavailable(f"the model {model} lacks {', '.join(missing)} in {folder / model}; {advice}")
    for name in _CONFIG_FILES:
        _check_json_object(model, folder / model / name)


def _check_json_object(model: str, path: Path) -> None:
    """Runs before FlashRank reads the file, because its errors name neither the file nor the reason."""
    try:
        content = cast(object, json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError) as exc:
        raise RerankerUnavailable(f"the model {model} cannot be used: {path} is not JSON ({exc})") from exc
    if not isinstance(content, dict):
        raise RerankerUnavailable(f"the model {model} cannot be used: {path} is not a JSON object")


def _score_passages(ranker: Any, question: str, texts: Sequence[str]) -> list[float]:
    """The scores in the order of `texts`; FlashRank sorts its results by score."""
    import numpy as np
    from flashrank import RerankRequest  # pyright: ignore[reportMissingImports, reportMissingTypeStubs, reportUnknownVariableType]

    passages = [{"id": index, "text": _encodable_text(text)} for index, text in enumerate(texts)]
    with np.errstate(over="ignore"):  # a clearly irrelevant text overflows and scores 0
        ranked = ranker.rerank(cast(Any, RerankRequest)(query=_encodable_text(question), passages=passages))
    return [float(passage["score"]) for passage in sorted(ranked, key=lambda passage: passage["id"])]


def _encodable_text(text: str) -> str:
    """Replaces lone surrogates, which tokenizers reject."""
    return text[:_MAX_TEXT_CHARS].encode(errors="replace").decode()
