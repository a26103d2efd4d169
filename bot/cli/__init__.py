"""The command line. Nothing heavy is imported before a command needs it: `parley --help` answers at once."""

from bot.cli.app import main

__all__ = ["main"]
