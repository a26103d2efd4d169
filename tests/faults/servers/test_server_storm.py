"""A short storm on OpenSearch and PostgreSQL. `make faults` runs a thousand faults."""

from pathlib import Path

import pytest

from tests.faults.servers.kinds import ServerFault
from tests.faults.servers.server_storm import StormSize, run_server_storm
from tests.servers.missing import ServerMissing, skip_or_fail

SIZE = StormSize(fault_target=30, base_documents=1_200, max_delay_s=1.0, longest_stop_s=3.0)


@pytest.mark.servers
@pytest.mark.timeout(1_200)  # it waits for each kind of kill and for points in time to expire: 160 s when quiet
def test_everything_holds_while_opensearch_and_postgres_and_replicas_fail(tmp_path: Path) -> None:
    try:
        report = run_server_storm(tmp_path, seed=1, size=SIZE)
    except ServerMissing as exc:
        skip_or_fail(exc)

    assert report.problems == []
    assert report.fault_count >= SIZE.fault_target
    assert report.answer_count > 0
    assert report.faults[ServerFault.KILLED_NODE] > 0
    assert report.faults[ServerFault.KILLED_DATABASE] > 0
    assert report.faults[ServerFault.KILLED_REPLICA] > 0
    assert report.search_report_count > 0
