"""The command line. Commands import slow modules only when they run, so `parley --help` is fast."""

from bot.cli.app import main

__all__ = ["main"]
