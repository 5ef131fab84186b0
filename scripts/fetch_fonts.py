"""Rebuild assets/fonts from the pinned npm packages: `python scripts/fetch_fonts.py`.

Needs `npm` on PATH and a registry it can reach; the dashboard itself never runs this.
"""

from __future__ import annotations

import hashlib
import subprocess
import tarfile
import tempfile
from pathlib import Path

FONTS = Path(__file__).resolve().parent.parent / "assets" / "fonts"

# package: (version, copyright as the font file itself states it, {our file: file in the package})
PACKAGES: dict[str, tuple[str, str, dict[str, str]]] = {
    "inter": (
        "5.3.0",
        "Copyright 2016 The Inter Project Authors (https://github.com/rsms/inter)",
        {
            "inter.woff2": "inter-latin-wght-normal.woff2",
            "inter-italic.woff2": "inter-latin-wght-italic.woff2",
            "inter-greek.woff2": "inter-greek-wght-normal.woff2",
            "inter-latin-ext.woff2": "inter-latin-ext-wght-normal.woff2",
        },
    ),
    "source-serif-4": (
        "5.3.1",
        "© 2014 - 2021 Adobe Systems Incorporated (http://www.adobe.com/), "
        "with Reserved Font Name ‘Source’.",
        {"source-serif.woff2": "source-serif-4-latin-wght-normal.woff2"},
    ),
    "jetbrains-mono": (
        "5.3.0",
        "Copyright 2020 The JetBrains Mono Project Authors "
        "(https://github.com/JetBrains/JetBrainsMono)",
        {"jetbrains-mono.woff2": "jetbrains-mono-latin-wght-normal.woff2"},
    ),
}

ORIGIN = """\
# Where the fonts come from

Variable fonts under the SIL Open Font License 1.1, unchanged, from the npm packages below.
`python scripts/fetch_fonts.py` rebuilds this folder, this file included.

| file | package | file in the package | SHA-256 |
|---|---|---|---|
"""


def member(archive: tarfile.TarFile, path: str) -> bytes:
    """Content of one file of an npm package."""
    file = archive.extractfile(f"package/{path}")
    if file is None:
        raise ValueError(f"The package holds no file {path}.")
    return file.read()


def main() -> None:
    """Fetch each package once, copy the chosen files, write licences and ORIGIN.md."""
    FONTS.mkdir(parents=True, exist_ok=True)
    rows = []
    for package, (version, owner, files) in PACKAGES.items():
        spec = f"@fontsource-variable/{package}@{version}"
        with tempfile.TemporaryDirectory() as folder:
            npm = ["npm", "pack", "--silent", spec]
            subprocess.run(npm, cwd=folder, check=True, stdout=subprocess.DEVNULL)
            with tarfile.open(next(Path(folder).glob("*.tgz"))) as archive:
                # The package's first line names who packed it, not always who owns the font.
                terms = member(archive, "LICENSE").decode().split("\n", 1)[1]
                (FONTS / f"OFL-{package}.txt").write_text(f"{owner}\n{terms}", encoding="utf-8")
                for ours, theirs in files.items():
                    data = member(archive, f"files/{theirs}")
                    (FONTS / ours).write_bytes(data)
                    digest = hashlib.sha256(data).hexdigest()
                    rows.append(f"| {ours} | {spec} | {theirs} | `{digest}` |\n")
    (FONTS / "ORIGIN.md").write_text(ORIGIN + "".join(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
