"""`python -m tests.attack.fuzz_run`: fuzzes the parsers of files for some time, and keeps what they do not bear."""

import argparse
import itertools
import sys
import tempfile
import time
from pathlib import Path

from storage.ingest.worker import ParserWorker
from tests.attack.fuzz_files import SAMPLES, FuzzFinding, fuzz_limits, fuzz_parser


def fuzz_for(file_format: str, seed: int, seconds: float) -> tuple[int, list[FuzzFinding]]:
    """Returns the number of cases and the findings."""
    end_s, findings, count = time.monotonic() + seconds, list[FuzzFinding](), 0
    with tempfile.TemporaryDirectory(prefix="parley-fuzz-") as folder, ParserWorker(fuzz_limits()) as worker:
        for finding in fuzz_parser(file_format, seed, itertools.count(), Path(folder), worker):
            count += 1
            findings += [finding] if finding else []
            if time.monotonic() > end_s:
                break
    return count, findings


def main() -> None:
    options = argparse.ArgumentParser(prog="tests.attack.fuzz_run", description=__doc__)
    options.add_argument("--seconds", type=float, default=60, help="for all formats together [60]")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--format", choices=list(SAMPLES), action="append", help="all of them if none is named")
    options.add_argument("--keep", type=Path, help="a folder for the files of the findings")
    arguments = options.parse_args()
    formats, all_findings = arguments.format or list(SAMPLES), list[FuzzFinding]()
    for file_format in formats:
        count, findings = fuzz_for(file_format, arguments.seed, arguments.seconds / len(formats))
        all_findings += findings
        sys.stdout.write(f"{file_format}: {count:,} files, {len(findings)} findings\n")
        for finding in findings:
            sys.stdout.write(f"  seed {arguments.seed}, case {finding.case}: {finding.problem}\n")
    if arguments.keep and all_findings:
        arguments.keep.mkdir(parents=True, exist_ok=True)
        for finding in all_findings:
            name = f"{arguments.seed}-{finding.case}.{finding.file_format}"
            (arguments.keep / name).write_bytes(finding.content)
    sys.exit(1 if all_findings else 0)


if __name__ == "__main__":
    main()
