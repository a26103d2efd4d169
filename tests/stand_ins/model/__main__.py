"""Serves a model that is played by hand: `python -m tests.stand_ins.model --by-hand FOLDER [--port N]`."""

import argparse
import asyncio
from pathlib import Path

from tests.stand_ins.model.by_hand import HandPlayedModel, write_file
from tests.stand_ins.model.server import ScriptedModelServer


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.stand_ins.model", description=__doc__)
    parser.add_argument("--by-hand", metavar="FOLDER", type=Path, required=True)
    parser.add_argument("--port", type=int, default=0, help="a free one unless given")
    parser.add_argument("--wait", metavar="SECONDS", type=float, default=3600.0, help="for each answer")
    return parser.parse_args()


async def serve_by_hand(folder: Path, *, port: int, wait_s: float) -> None:
    """Serves until it is cancelled. Any key and any model are accepted."""
    player = HandPlayedModel(folder, wait_s=wait_s)
    server = ScriptedModelServer(answer_chat=player.answer_request, api_key=None, models=None)
    await server.start(port)
    try:
        served_port = server.url.rpartition(":")[2].partition("/")[0]
        write_file(folder / "port", served_port)
        print(f"{server.url} · requests in {folder / 'requests'}, answers to {folder / 'answers'}", flush=True)  # noqa: T201
        print(served_port, flush=True)  # noqa: T201
        await asyncio.Event().wait()
    finally:
        await server.stop()


def main() -> None:
    arguments = parse_arguments()
    try:
        asyncio.run(serve_by_hand(arguments.by_hand, port=arguments.port, wait_s=arguments.wait))
    except KeyboardInterrupt:
        print("stopped")  # noqa: T201


if __name__ == "__main__":
    main()
