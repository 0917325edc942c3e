# Everything that can be done with this checkout. Needs make and Python 3.11 or newer; tests against Kubernetes' own code also need Go,
# which comes as a wheel where the machine has none. `make help` lists the targets.
.DEFAULT_GOAL := help
SHELL := /bin/sh
.PHONY: help demo test check format format-check lint types contracts conformance unit bench reference pythons lock dist clean

# The first Python that is new enough; say `make PYTHON=python3.13 …` for another.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python3.14 python; do \
	"$$p" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' 2>/dev/null && { echo "$$p"; break; }; done)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# Two processes: the reference answers in the second core while Python works in the first.
PYTEST := $(BIN)/python -m pytest -n 2
ARGS ?=

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile

demo: $(VENV)/.demo ## set up, and run `reparto plan` on each folder of examples/
	@PATH="$(BIN):$$PATH" sh scripts/demo.sh

test: $(VENV)/.dev pythons ## every test, the differential ones included (builds the reference)
	$(PYTEST) $(ARGS)

check: format-check lint types contracts test ## what CI runs

unit: $(VENV)/.dev ## the fast tests only
	$(PYTEST) tests/unit $(ARGS)

conformance: $(VENV)/.dev ## the comparisons with Kubernetes' own code, ten times what CI asks; REPARTO_SEED=n for another run, REPARTO_PROBLEMS=n for n of each
	REPARTO_SCALE=$${REPARTO_SCALE:-10} $(PYTEST) --dist worksteal tests/conformance $(ARGS)

pythons: $(VENV)/.dev ## the unit tests under every other supported Python on this machine
	$(BIN)/python scripts/pythons.py tests/unit

format: $(VENV)/.dev ## format the sources
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix-only --quiet .

format-check: $(VENV)/.dev
	$(BIN)/ruff format --check .

lint: $(VENV)/.dev ## likely mistakes
	$(BIN)/ruff check .

types: $(VENV)/.dev ## pyright, strict on src
	$(BIN)/pyright --pythonpath $(BIN)/python

contracts: $(VENV)/.dev ## the layers: who may import whom
	$(BIN)/lint-imports

bench: $(VENV)/.dev ## how fast, beside the reference in the same run
	$(BIN)/python -m benchmarks $(ARGS)

reference: ## build the Go programs of reference/ (minutes when cold; kept in the cache)
	$(or $(PYTHON),$(error no Python 3.11 to 3.14 found)) scripts/reference.py

lock: ## write the lock files anew (needs uv)
	sh scripts/lock.sh

dist: $(VENV)/.dev ## wheel and sdist into dist/
	$(BIN)/python -m build --no-isolation --outdir dist .

clean: ## remove what the targets made in the checkout
	rm -rf $(VENV) dist build .pytest_cache .ruff_cache .hypothesis .import_linter_cache

$(BIN)/python:
	$(or $(PYTHON),$(error no Python 3.11 to 3.14 found: install one, or say make PYTHON=/path/to/python3)) -m venv $(VENV)

# The locks hold versions and hashes of everything; pip refuses what differs.
$(VENV)/.demo: $(BIN)/python pyproject.toml requirements.lock requirements-build.lock
	$(PIP) install --require-hashes -r requirements.lock -r requirements-build.lock
	$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.demo requirements-dev.lock
	$(PIP) install --require-hashes -r requirements-dev.lock
	@touch $@
