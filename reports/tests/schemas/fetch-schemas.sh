#!/bin/sh
# Puts the published schemas into the folder given and prints its path: Jenkins' XSD for JUnit reports (as pytest's source
# archive carries it) and OASIS' JSON Schema for SARIF 2.1.0 (as the crate serde-sarif does). They are fetched, never committed:
#     ONEJOB_SCHEMAS=$(reports/tests/schemas/fetch-schemas.sh target/schemas) cargo test -p onejob-reports --test schemas
set -eu
folder=${1:?give a folder}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
if [ ! -s "$folder/junit-10.xsd" ]; then
    python3 -m pip download --quiet --no-deps --no-binary :all: --dest "$folder" pytest==9.2.0 >&2
    tar -xzOf "$folder/pytest-9.2.0.tar.gz" pytest-9.2.0/testing/example_scripts/junit-10.xsd >"$folder/junit-10.xsd.new"
    mv "$folder/junit-10.xsd.new" "$folder/junit-10.xsd"
fi
if [ ! -s "$folder/sarif-2.1.0.json" ]; then
    # A project that is never built: cargo brings the source of what it names.
    mkdir -p "$folder/carrier/src"
    : >"$folder/carrier/src/lib.rs"
    printf '[package]\nname = "carrier"\nedition = "2024"\n[dependencies]\nserde-sarif = "=0.8.0"\n[workspace]\n' >"$folder/carrier/Cargo.toml"
    cargo metadata --quiet --format-version 1 --manifest-path "$folder/carrier/Cargo.toml" >"$folder/carrier/metadata.json"
    python3 - "$folder" <<'PYTHON' >&2
import json, pathlib, shutil, sys
folder = pathlib.Path(sys.argv[1])
packages = json.loads((folder / "carrier/metadata.json").read_text())["packages"]
manifest = next(package["manifest_path"] for package in packages if package["name"] == "serde-sarif")
shutil.copy(pathlib.Path(manifest).parent / "src/schema.json", folder / "sarif-2.1.0.json")
PYTHON
fi
echo "$folder"
