"""The memory of another process of ours, on systems that limit none."""

from __future__ import annotations

import subprocess
import sys

if sys.platform == "win32":
    import ctypes
    from ctypes import wintypes

    class _Counters(ctypes.Structure):
        """PROCESS_MEMORY_COUNTERS of Windows."""

        _fields_ = (
            ("cb", wintypes.DWORD),
            ("faults", wintypes.DWORD),
            ("most", ctypes.c_size_t),
            ("now", ctypes.c_size_t),
            ("others", ctypes.c_size_t * 6),
        )

    def bytes_of(process: int) -> int:
        """Bytes of memory that a process has; 0 if the system does not say."""
        kernel = ctypes.windll.kernel32
        kernel.OpenProcess.restype = wintypes.HANDLE
        handle = kernel.OpenProcess(0x1000, False, process)  # to query limited information
        if not handle:
            return 0
        counters = _Counters(cb=ctypes.sizeof(_Counters))
        kernel.K32GetProcessMemoryInfo(wintypes.HANDLE(handle), ctypes.byref(counters), counters.cb)
        kernel.CloseHandle(wintypes.HANDLE(handle))
        return int(counters.now)

else:

    def bytes_of(process: int) -> int:
        """Bytes of memory that a process has; 0 if the system does not say."""
        try:
            words = ["ps", "-o", "rss=", "-p", str(process)]
            return 1024 * int(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
        except (OSError, ValueError, subprocess.CalledProcessError):
            return 0
