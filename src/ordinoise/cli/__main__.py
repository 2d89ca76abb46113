"""``python -m ordinoise.cli``: the command line."""

from ordinoise.cli import main

main()
