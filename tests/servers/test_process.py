"""A program ends with the block that runs it, and leaves nothing of itself, in whatever way the block ends."""

import asyncio
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.servers.process import run_program

ENVIRONMENT: Mapping[str, str] = {}
WAITING_PROGRAM = (sys.executable, "-c", "import signal; signal.pause()")
PARENT_PROGRAM = """
import asyncio, sys
from pathlib import Path
from tests.servers.process import run_program

async def run():
    command = (sys.executable, "-c", "import signal; print('running', flush=True); signal.pause()")
    async with run_program(command, environment={}, log=Path(sys.argv[1])) as process:
        print(process.pid, flush=True)
        await process.wait()

asyncio.run(run())
"""


async def test_a_program_has_ended_when_its_block_was_cancelled_twice(tmp_path: Path) -> None:
    """As it happens when a run is interrupted: a task group cancels what the end of the loop cancels as well."""
    opened: asyncio.Future[asyncio.subprocess.Process] = asyncio.get_running_loop().create_future()

    async def run_for_ever() -> None:
        async with run_program(WAITING_PROGRAM, environment=ENVIRONMENT, log=tmp_path / "log") as process:
            opened.set_result(process)
            await process.wait()

    running = asyncio.create_task(run_for_ever())
    process = await opened
    running.cancel()
    await asyncio.sleep(0)
    running.cancel()
    await asyncio.wait([running])

    assert running.cancelled()
    assert process.returncode == -signal.SIGKILL


async def test_a_program_ends_when_the_process_that_runs_it_is_killed(tmp_path: Path) -> None:
    parent = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", PARENT_PROGRAM, str(tmp_path / "log")), stdout=asyncio.subprocess.PIPE
    )
    assert parent.stdout is not None
    program = os.pidfd_open(int(await parent.stdout.readline()))
    ended = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().add_reader(program, ended.set_result, None)
    try:
        parent.kill()
        await parent.wait()
        await ended
    finally:
        asyncio.get_running_loop().remove_reader(program)
        os.close(program)
