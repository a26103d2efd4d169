"""What commands share that have a model read many documents: consent to the cost, and a progress bar."""

import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.failures import CommandFailed, print_to_stderr

if TYPE_CHECKING:
    from bot.models.chunk_context import ChunkContextWriter, ContextWorkloadMeter
    from bot.models.configured_models import ConfiguredModels
    from bot.models.cost_estimate import ModelWorkload
    from storage.ingest.extract.candidates import Extractor

ConsentOption = Annotated[bool, typer.Option("--yes", help="Do not ask whether the model may be used.")]
_WITHOUT_CONSENT = "no model was used; give --yes to use it without being asked"


def ask_for_consent(estimate: str, *, yes: bool) -> None:
    """Print the estimate to stderr; without `yes`, ask whether to go on. Raises `CommandFailed` unless agreed."""
    print_to_stderr(estimate)
    if not yes and not (sys.stdin.isatty() and typer.confirm("Go on?", err=True)):
        raise CommandFailed(_WITHOUT_CONSENT)


@dataclass(frozen=True, kw_only=True)
class ModelReaders:
    """What of an ingestion run a model does: reading values, and writing contexts of passages."""

    models: "ConfiguredModels"
    extractor: "Extractor"  # the model's, or the rules'
    metered_extractor: "Extractor"
    situator: "ChunkContextWriter | None"
    metered_situator: "ContextWorkloadMeter | None"

    @classmethod
    def build(
        cls, models: "ConfiguredModels", rules: "Extractor", *, reads_values: bool, writes_contexts: bool
    ) -> "ModelReaders":
        """Raises `CommandFailed` if a model is needed and none is set."""
        if not (reads_values or writes_contexts):
            return cls(models=models, extractor=rules, metered_extractor=rules, situator=None, metered_situator=None)
        from bot.models.chunk_context import ContextWorkloadMeter
        from bot.models.model_extractor import WorkloadMeter

        extractor, situator = models.build_extractor(rules), models.build_context_writer()
        if extractor is None or situator is None:
            raise CommandFailed("--extract-with model and --chunk-context need PARLEY_MODEL", exit_status=2)
        return cls(
            models=models,
            extractor=extractor if reads_values else rules,
            metered_extractor=WorkloadMeter(extractor, rules) if reads_values else rules,
            situator=situator if writes_contexts else None,
            metered_situator=ContextWorkloadMeter(situator) if writes_contexts else None,
        )

    @property
    def is_needed(self) -> bool:
        return self.extractor is not self.metered_extractor or self.situator is not None

    @property
    def workload(self) -> "ModelWorkload":
        """The calls that the metered readers have counted."""
        from bot.models.cost_estimate import ModelWorkload
        from bot.models.model_extractor import WorkloadMeter

        workload = ModelWorkload() if self.metered_situator is None else self.metered_situator.workload
        if isinstance(self.metered_extractor, WorkloadMeter):
            workload += self.metered_extractor.workload
        return workload

    async def describe_cost(self) -> str:
        return f"to read the documents: {await self.models.describe_reading_cost(self.workload)}"

    def describe_failures(self) -> "Mapping[str, int]":
        """What the model could not do, with the number of documents or passages; empty if it did all."""
        from bot.models.model_extractor import ModelExtractor

        documents = self.extractor.fallback_count if isinstance(self.extractor, ModelExtractor) else 0
        passages = 0 if self.situator is None else self.situator.failure_count
        counts = {"read by the rules alone": documents, "passages without context": passages}
        return {what: count for what, count in counts.items() if count}


@contextmanager
def open_count_bar(title: str, total: int) -> Generator[Callable[[int], None]]:
    """A progress bar on stderr, if that is a terminal; yields the function that takes the count so far."""
    if not sys.stderr.isatty():
        yield lambda count: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=total)
        yield lambda count: bar.update(task, completed=count)
