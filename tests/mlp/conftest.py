import os
from pathlib import Path

import ordinoise


def _forget_outdated_code() -> None:
    """Let the compiler's cache, which looks at one file only, see changes in the files that it is built from."""
    folder = Path(ordinoise.__file__).parent / "mlp"
    newest = max(path.stat().st_mtime for path in folder.glob("*.py"))
    engine = folder / "_engine.py"
    if engine.stat().st_mtime < newest:
        os.utime(engine)


_forget_outdated_code()
