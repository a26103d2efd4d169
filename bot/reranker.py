"""The reranker that `PARLEY_RERANKER` names: a cross-encoder that FlashRank runs. The one importer of flashrank.

FlashRank fetches a model that it does not find. Parley never lets it: what is not in the home is named, with the
address to fetch it from.
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

_BESIDE = ("config.json", "tokenizer_config.json", "special_tokens_map.json", "tokenizer.json")
_LONGEST_TEXT = 20_000  # code points handed over; a model reads some 512 words of them
_BROKEN = (OSError, LookupError, ValueError, TypeError, AttributeError)  # files that are not what they should be


class FlashrankReranker:
    """Fulfils `agent.rerank.Reranker` with the model of that name in `folder`, which is loaded on first use.

    One call is worked on at a time, in a thread of its own: the model takes all processors that there are. A call that
    was given up before it began is never begun. `close` waits for nothing.
    """

    def __init__(self, model: str, folder: Path) -> None:
        self._model, self._folder = model, folder
        self._ranker: Any = None  # it has no types
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="reranker")

    async def scores(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        if not texts:
            return []
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._scores, question, list(texts))

    def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _scores(self, question: str, texts: Sequence[str]) -> list[float]:
        with Translated(self._model):
            if self._ranker is None:
                self._ranker = _loaded(self._model, self._folder)
            scores = _judged(self._ranker, question, texts)
        if not all(map(math.isfinite, scores)):
            raise RerankerUnavailable(f"the model {self._model} gives something else than numbers")
        return scores


@dataclass(frozen=True, slots=True)
class Translated:
    """A block in which what flashrank, onnxruntime and tokenizers raise comes out as `RerankerUnavailable`.

    Neither has a base of its own, so that no `except` names what they raise. What is not theirs is not touched.
    """

    model: str

    def __enter__(self) -> None:
        """Nothing to open."""

    def __exit__(self, kind: type[BaseException] | None, exc: BaseException | None, trace: object) -> None:
        if exc is not None and _is_theirs(exc):
            raise RerankerUnavailable(f"the model {self.model} cannot be used ({type(exc).__name__}: {exc})") from exc


def _is_theirs(exc: BaseException) -> bool:
    """tokenizers raises nothing but `Exception` itself."""
    return isinstance(exc, _BROKEN) or type(exc) is Exception or type(exc).__module__.startswith("onnxruntime")


def _loaded(model: str, folder: Path) -> Any:
    """FlashRank's `Ranker`. Raises `RerankerUnavailable` for what is not there."""
    root = logging.getLogger()
    before = list(root.handlers), root.level
    try:
        from flashrank import Config, Ranker  # pyright: ignore[reportMissingImports, reportMissingTypeStubs, reportUnknownVariableType]
    except ImportError as exc:
        advice = "install Parley with its extra: pip install 'parley[rerank]'"
        raise RerankerUnavailable(f"flashrank is not installed; {advice}") from exc
    _check(model, folder, cast(Any, Config))
    try:
        return cast(Any, Ranker)(model_name=model, cache_dir=str(folder), log_level="WARNING")
    finally:
        root.handlers, root.level = before  # it sets up logging for the whole process


def _check(model: str, folder: Path, config: Any) -> None:
    """Before FlashRank looks: it would fetch a folder that is missing, and no more of one that is broken."""
    known = [name for name in config.model_file_map if name not in config.listwise_rankers]
    if model not in known:
        raise RerankerUnavailable(f"flashrank knows no model {model!r} that scores passages, only {', '.join(known)}")
    files = (config.model_file_map[model], *_BESIDE)
    missing = [name for name in files if not (folder / model / name).is_file()]
    if missing:
        advice = f"fetch {config.model_url.format(model)} and unpack it into {folder}"
        raise RerankerUnavailable(f"the model {model} lacks {', '.join(missing)} in {folder / model}; {advice}")
    for name in _BESIDE:
        _check_object(model, folder / model / name)


def _check_object(model: str, path: Path) -> None:
    """Before its readers look, which say less of what is wrong, and where."""
    try:
        content = cast(object, json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError) as exc:
        raise RerankerUnavailable(f"the model {model} cannot be used: {path} is not JSON ({exc})") from exc
    if not isinstance(content, dict):
        raise RerankerUnavailable(f"the model {model} cannot be used: {path} is no JSON object")


def _judged(ranker: Any, question: str, texts: Sequence[str]) -> list[float]:
    """In the order of `texts`; FlashRank sorts them."""
    import numpy as np
    from flashrank import RerankRequest  # pyright: ignore[reportMissingImports, reportMissingTypeStubs, reportUnknownVariableType]

    passages = [{"id": at, "text": _sound(text)} for at, text in enumerate(texts)]
    with np.errstate(over="ignore"):  # a text that is surely none of it has 0
        ranked = ranker.rerank(cast(Any, RerankRequest)(query=_sound(question), passages=passages))
    return [float(one["score"]) for one in sorted(ranked, key=lambda one: one["id"])]


def _sound(text: str) -> str:
    """Tokenizers refuse lone surrogates."""
    return text[:_LONGEST_TEXT].encode(errors="replace").decode()
