"""Writing files so that nothing is ever left half written."""

import os
from collections.abc import Mapping
from pathlib import Path


def write_all(contents: Mapping[Path, bytes]) -> None:
    """Write all files or none: on any error the old ones are put back."""
    staged = {path: path.with_name(path.name + ".new") for path in contents}
    kept = {path: path.read_bytes() for path in contents if path.exists()}
    replaced = []
    try:
        for path, new in staged.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            new.write_bytes(contents[path])
        for path, new in staged.items():
            replaced.append(path)
            os.replace(new, path)
    except BaseException:
        for path in replaced:
            if path in kept:
                path.write_bytes(kept[path])
            else:
                path.unlink(missing_ok=True)
        raise
    finally:
        for new in staged.values():
            new.unlink(missing_ok=True)
