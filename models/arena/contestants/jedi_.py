"""Jedi, a static analyser of Python: it completes the name at the cursor, and nothing more.

Needs the package ``jedi``, which only the building of the table installs.
"""

# mypy: disable-error-code="import-not-found, import-untyped"

from __future__ import annotations

from models.arena.contestants.roster import NO_JEDI


def complete(prefix: str, suffix: str) -> str:
    """Return the rest of the first name that fits, names of the same file first; or "".

    Raises
    ------
    ValueError
        If the package is not installed.
    """
    try:
        import jedi
    except ImportError:
        raise ValueError(NO_JEDI) from None
    jedi.settings.use_filesystem_cache = False  # nothing is written into the home directory
    before = prefix.split("\n")
    script = jedi.Script(prefix + suffix)
    found = [
        name for name in script.complete(len(before), len(before[-1])) if name.type != "keyword"
    ]
    ours = [name for name in found if name.module_path is None and not name.in_builtin_module()]
    return str((ours or found)[0].complete or "") if ours or found else ""
