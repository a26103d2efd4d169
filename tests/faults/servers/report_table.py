"""Runs the storm on servers, and prints what became of everything."""

import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.faults.servers.server_storm import REPLICA_COUNT, WORKERS_PER_REPLICA, StormSize, run_server_storm
from tests.faults.servers.storm_checks import StormReport
from tests.servers.missing import ServerMissing


def report_server_storm(seed: int, size: StormSize) -> list[str]:
    """Prints the faults and the checks. Returns what went wrong."""
    console = Console(width=120)
    try:
        with tempfile.TemporaryDirectory(prefix="parley-faults-") as name:
            report = run_server_storm(Path(name), seed, size)
    except ServerMissing as exc:
        return [str(exc)]
    console.print(build_server_table(report, size))
    return report.problems


def build_server_table(report: StormReport, size: StormSize) -> Table:
    servers = f"OpenSearch of {size.node_count} node{'s' * (size.node_count > 1)}, PostgreSQL"
    replicas = f"{REPLICA_COUNT} replicas with {REPLICA_COUNT * WORKERS_PER_REPLICA} workers"
    table = Table(
        title=f"{servers}, {replicas}: {report.fault_count:,} faults in {report.seconds:,.0f} s, seed {report.seed}, "
        f"load average {report.load:.1f}",
        title_justify="left",
    )
    table.add_column("fault, or check")
    table.add_column("times", justify="right")
    table.add_column("wrong", justify="right")
    for kind in sorted(report.faults.keys() | report.planned_kills.keys()):
        planned, happened = report.planned_kills.get(kind, 0), report.faults.get(kind, 0)
        is_short = happened < planned
        table.add_row(f"{kind} (planned {planned:,}, happened {happened:,})" if is_short else kind, f"{happened:,}")
    table.add_section()
    table.add_row("questions answered", f"{report.answer_count:,}")
    table.add_row("questions that ended in an apology", f"{report.apology_count:,}")
    table.add_row("reports of saved searches", f"{report.search_report_count:,}")
    table.add_row("starts of replicas", f"{report.replica_starts:,}")
    table.add_row("writes acknowledged", f"{report.acknowledged_writes:,}")
    table.add_row("writes refused or unknown, which may have happened", f"{report.unknown_writes:,}")
    table.add_section()
    for phase, seconds in report.phase_seconds.items():
        table.add_row(f"seconds of: {phase}", f"{seconds:,.0f}")
    table.add_section()
    for check in report.checks:
        table.add_row(check.name, f"{check.checked:,}", f"{len(check.problems):,}")
    return table
