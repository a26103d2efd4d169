# Every target sets up what it needs, on a fresh machine too: uv, Python packages, servers for the tests.

# A uv that the project accepts (`required-version` in pyproject.toml), else one of the project's own from PyPI.
UV := $(shell uv cache dir >/dev/null 2>&1 && command -v uv || echo .uv/bin/uv)
BIN := .venv/bin
WORKERS ?= auto
ARGS ?=

export PATH := $(CURDIR)/.uv/bin:$(PATH)
export UV_COMPILE_BYTECODE := 1
export UV_PROJECT_ENVIRONMENT := $(CURDIR)/.venv

.PHONY: help setup demo serve test playground pictures image check format-check lint-check types layers format docs \
  bench bench-peers faults fuzz attack audit sbom clean
.DEFAULT_GOAL := help

help:
	@echo "make demo    load the demo documents and play the story (then: make serve)"
	@echo "make serve   the web chat over the demo documents, http://127.0.0.1:8080"
	@echo "make test    all tests, with the real servers that can be had here"
	@echo "make pictures    draws the pictures of docs/admin.md and docs/slack.md; it needs Chromium"
	@echo "make playground  the tests in the Microsoft 365 Agents Playground alone; they need node, npm and Chromium"
	@echo "make image   build the container image and run it; BASE=debootstrap where no registry can be reached"
	@echo "make check   format, lint, types, layers, documentation, tests"
	@echo "make format  put the code into shape"
	@echo "make docs    build the documentation site in build/site; a broken link is an error"
	@echo "make bench   measure the aims and print one table; ARGS=\"--passages 100000\" and the like give sizes"
	@echo "make bench-peers  measure Haystack and LangChain beside Parley on one OpenSearch; installs them apart"
	@echo "make faults  a thousand faults on each chat product and on servers; ARGS=\"--surface servers --seed 2 --faults 100\""
	@echo "make fuzz    odd files for each parser, then 10,000 odd requests for each address of the server;"
	@echo "             FUZZ_SECONDS=3600 fuzzes the parsers longer, FUZZ=100000 sends more"
	@echo "make attack  hostile files, questions and requests, with a table; ARGS=\"files --only csv\" takes some of them"
	@echo "make audit   check the lock file, and ask the OSV database about known vulnerabilities"
	@echo "make sbom    write what a release contains into build/parley.cdx.json (CycloneDX)"
	@echo "make clean   remove everything made here"

setup: .venv/.synced

.venv/.synced: pyproject.toml uv.lock | $(UV)
	$(UV) sync --frozen --all-extras --quiet
	@touch $@

.uv/bin/uv:
	@python3 -m venv .uv || { rm -rf .uv; echo "No uv here, and python3 cannot make a venv to put it in. Install one of" \
	  "them: https://docs.astral.sh/uv/, or on Debian: apt-get install python3-venv" >&2; exit 1; }
	.uv/bin/pip install --quiet "uv>=0.9"

# The demo has a home of its own, so that it never meets documents of yours.
demo serve: export PARLEY_HOME ?= $(CURDIR)/.demo

demo: setup
	$(BIN)/parley demo $(ARGS)

serve: setup
	$(BIN)/parley serve $(ARGS)

# Tests that use one server stay in one worker, so that each server is started once (tests/conftest.py).
test: setup
	$(BIN)/python -m pytest -n $(WORKERS) --maxprocesses 4 $(ARGS)

# PARLEY_PLAYGROUND_PICTURES=docs/teams renews the pictures of the documentation.
playground: setup
	$(BIN)/python -m pytest -n 0 tests/playground $(ARGS)

# The pictures of docs/admin.md and docs/slack.md, except file.png; ARGS="--all build/pictures" draws all pages, modals and cards.
# A person looks at them.
pictures: setup
	$(BIN)/python -m tests.pictures.draw $(ARGS)

# The base image of the Dockerfile, or BASE=debootstrap: one of Debian's packages in its place (docs/operations.md).
BASE ?= docker.io/library/$(shell sed -n 's/^ARG PYTHON_IMAGE=//p' Dockerfile)
image: setup
	PARLEY_TEST_IMAGE=$(BASE) $(BIN)/python -m pytest -n 0 -s tests/image $(ARGS)

check: format-check lint-check types layers docs audit test

format-check: setup
	$(BIN)/ruff format --check

lint-check: setup
	$(BIN)/ruff check

types: setup
	$(BIN)/pyright

layers: setup
	$(BIN)/lint-imports

format: setup
	$(BIN)/ruff check --fix --exit-zero
	$(BIN)/ruff format

docs: setup
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

bench: setup
	$(BIN)/python -m bench.aims $(ARGS)

# Haystack and LangChain have an environment of their own, since Parley needs neither (docs/benchmarks.md).
bench-peers: setup .bench-peers/.synced
	$(BIN)/python -m bench.peers $(ARGS)

.bench-peers/.synced: bench/peers/requirements.txt | $(UV)
	$(UV) venv --quiet --clear .bench-peers
	$(UV) pip install --quiet --python .bench-peers/bin/python --require-hashes -r bench/peers/requirements.txt
	@touch $@

faults: setup
	$(BIN)/python -m tests.faults $(ARGS)

FUZZ ?= 10000
FUZZ_SECONDS ?= 60
fuzz: setup
	$(BIN)/python -m tests.attack.fuzz_run --seconds $(FUZZ_SECONDS)
	PARLEY_FUZZ_REQUESTS=$(FUZZ) $(BIN)/python -m pytest -n 0 tests/attack tests/adapters/teams/test_fuzz.py $(ARGS)

attack: setup
	$(BIN)/python -m tests.attack $(ARGS)

# A database that cannot be reached is a line, not a failure.
audit: setup
	$(BIN)/python -m tests.dependencies

sbom: | $(UV)
	@mkdir -p build
	$(UV) export --frozen --no-default-groups --preview-features sbom-export --format cyclonedx1.5 --quiet \
	  --output-file build/parley.cdx.json

clean:
	rm -rf .venv .bench-peers .uv .servers .demo .hypothesis .ruff_cache .import_linter_cache dist build
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
