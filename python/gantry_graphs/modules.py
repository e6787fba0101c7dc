"""The modules of the user's project."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import traceback
from hashlib import sha256
from pathlib import Path
from typing import Any

_IMPORT_FOLDER = "--import-folder="


def load_export(file: str, name: str, what_would_be_right: str) -> Any:
    """The value of a name in a module; `what_would_be_right` completes the message of an error."""
    try:
        module = _import(Path(file))
    except Exception as error:
        # In the log of the process: the message has only the place where the project's code failed.
        traceback.print_exception(error)
        raise ImportError(f"{file} failed to load: {type(error).__name__}: {error}{_place_of(error)}") from error
    if not hasattr(module, name):
        raise AttributeError(f'{file} has no "{name}"; it has to be {what_would_be_right}')
    return getattr(module, name)


def optional_export(file: str, name: str) -> Any:
    """The value of a name in a module that has been loaded, or None."""
    return getattr(_import(Path(file)), name, None)


def _place_of(error: Exception) -> str:
    """The last line of the project's own code that led to the error, in brackets; empty where there is none."""
    folders = [str(Path.cwd()), *_import_folders()]
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = Path(frame.filename)
        # An environment of libraries may be in the project's folder.
        if any(path.is_relative_to(folder) for folder in folders) and "site-packages" not in path.parts:
            return f" ({path}:{frame.lineno})"
    return ""


def _import_folders() -> list[str]:
    return [each.removeprefix(_IMPORT_FOLDER) for each in sys.argv[1:] if each.startswith(_IMPORT_FOLDER)]


def _import(file: Path) -> Any:
    """The module of a file: by its dotted name where Python finds it under one, so that its own package imports it once."""
    root = Path.cwd()
    added = _import_folders()
    if str(root) not in sys.path:
        sys.path.insert(0, str(root))
    sys.path.extend(folder for folder in added if folder not in sys.path)
    dotted = _dotted_name(file, root, {Path(folder) for folder in added})
    if dotted:
        return importlib.import_module(dotted)
    # The digest distinguishes files of the same name in two folders.
    name = f"{file.stem}_{sha256(str(file).encode()).hexdigest()[:8]}".replace("-", "_").replace(".", "_")
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is no Python module")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _dotted_name(file: Path, root: Path, added: set[Path]) -> str | None:
    """The name under which `import` finds the file: from the project's folder, an installed package, or an added folder."""
    bases = [root, *(Path(entry) for entry in sys.path if entry)]
    # The deepest first: of a project that is installed from its `src`, no module imports another one with `src` in its name.
    for base in sorted(bases, key=lambda base: len(base.parts), reverse=True):
        if not file.is_relative_to(base):
            continue
        parts = file.relative_to(base).with_suffix("").parts
        if not all(part.isidentifier() for part in parts):
            continue
        # A module beside others in an added folder may import them relatively: as modules of a package that the folder is.
        if base in added and (len(parts) == 1 or (base / "__init__.py").exists()):
            continue
        name = ".".join(parts)
        try:
            spec = importlib.util.find_spec(name)
        except (ImportError, ValueError):
            continue
        if spec and spec.origin and Path(spec.origin).resolve() == file.resolve():
            return name
    return None
