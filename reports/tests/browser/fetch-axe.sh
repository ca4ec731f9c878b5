#!/bin/sh
# Puts axe.min.js (MPL-2.0, fetched and never committed) into the folder given and prints its path:
#     ONEJOB_AXE=$(reports/tests/browser/fetch-axe.sh target/axe) cargo test -p onejob-reports --test browser
set -eu
folder=${1:?give a folder}
mkdir -p "$folder"
if [ ! -s "$folder/axe.min.js" ]; then
    python3 -m pip download --quiet --no-deps --dest "$folder" axe-playwright-python==0.1.8 >&2
    python3 - "$folder" <<'PYTHON' >&2
import pathlib, sys, zipfile
folder = pathlib.Path(sys.argv[1])
wheel = next(folder.glob("axe_playwright_python-*.whl"))
with zipfile.ZipFile(wheel) as archive:
    (folder / "axe.min.js").write_bytes(archive.read("axe_playwright_python/axe.min.js"))
PYTHON
fi
cd "$folder" && echo "$PWD/axe.min.js"
