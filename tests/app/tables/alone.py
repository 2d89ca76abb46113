"""A reader in a process of its own, whose memory is its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def refused_alone(path: Path) -> tuple[str, int]:
    """Why a file is refused, and the peak memory of a process of its own and of those that it starts, in kB."""
    code = """
import resource, sys
from pathlib import Path
from ordinoise.app.tables import read_table
try:
    read_table(Path(sys.argv[1]))
except ValueError as error:
    print(error)
own = next(int(line.split()[1]) for line in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line)
print(max(own, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
"""  # its own ru_maxrss would begin at that of the process that started it
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    sentence, most_kib = done.stdout.splitlines()
    return sentence, int(most_kib)
