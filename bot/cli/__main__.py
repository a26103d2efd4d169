"""`python -m bot.cli`."""

from bot.cli.app import main

main()
