"""``python -m ordinoise.app.cli``: the command line."""

from ordinoise.app.cli import main

main()
