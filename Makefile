# `make run` starts Alicia, `make test` tests it. Both do their own set-up, side by side, and only what changed.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PARALLEL := $(MAKE) -j4
VENV := .venv/bin
COMPILE := ../$(VENV)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate
WEB_SOURCES := $(shell find web -type f -not -path 'web/node_modules/*' -not -path 'web/dist/*' 2>/dev/null)
# Tests that need LiveKit, models or a browser; all the others need only Python.
STACK_TESTS := $(wildcard tests/agent tests/client tests/cluster tests/local tests/models tests/soak tests/web)
# Which set of packages the models are put together with; one installer at a time works on the environment.
READY := .venv/.run-ready
PYTEST := $(VENV)/pytest -n 2 --dist loadgroup -q

.PHONY: help run test check bench report soak audit format lock clean livekit weights-small weights-large chromium cluster libraries-run libraries-test \
        test-all test-python test-web test-stack

help:
	@echo "make run     set up what is missing, then start Alicia at http://127.0.0.1:8080"
	@echo "make test    set up what is missing, then run every check and test"
	@echo "make check   format, lint, types, layers; in seconds"
	@echo "make bench   run the benchmarks, which takes hours, and write bench/report.md"
	@echo "make report  write bench/report.md from what was measured already"
	@echo "make soak    talk for half an hour while parts are killed, and prove that nothing was lost"
	@echo "make audit   ask registries for known holes in the packages that are used"
	@echo "make format  put the sources into the project's format"
	@echo "make lock    resolve the dependencies again and write requirements/*.txt"
	@echo "make clean   remove what the set-up made in this folder"

run:
	@$(PARALLEL) .venv/.run-ready web/dist/index.html livekit weights-large libraries-run
	@exec $(VENV)/alicia up

test:
	@$(PARALLEL) READY=.venv/.test-ready test-all

test-all: check test-python test-web test-stack

check: .venv/.test-ready
	@$(VENV)/ruff format --check --quiet . || { echo "Run make format."; exit 1; }
	@$(VENV)/ruff check --quiet .
	@$(VENV)/lint-imports --no-logo >.build/layers.log 2>&1 || { cat .build/layers.log; exit 1; }
	@$(VENV)/basedpyright --level error
	@echo "check: format, lint, layers and types are in order"

test-python: .venv/.test-ready weights-small .build/client-generator/.installed
	@$(PYTEST) tests $(addprefix --ignore=,$(STACK_TESTS))

test-web: web/dist/index.html
	@scripts/setup/node.sh npm --prefix web test

# After the others, so that two cores do not run two suites and a Go build at once.
test-stack: .venv/.test-ready web/dist/index.html livekit weights-small chromium cluster libraries-test | test-python test-web check
	@$(PYTEST) $(STACK_TESTS)

bench:
	@$(PARALLEL) READY=.venv/.test-ready .venv/.test-ready web/dist/index.html livekit weights-large chromium
	@$(VENV)/python bench/run_all.py

report: .venv/.test-ready
	@$(VENV)/python bench/report.py

soak:
	@$(PARALLEL) READY=.venv/.test-ready .venv/.test-ready livekit weights-small libraries-test
	@PYTHONPATH=tests:bench $(VENV)/python scripts/soak.py

audit: .venv/.test-ready
	@scripts/audit.sh

format: .venv/.test-ready
	@$(VENV)/ruff check --quiet --fix-only . ; $(VENV)/ruff format --quiet .

lock: .venv/.uv
	@cd requirements && $(COMPILE) ../pyproject.toml --extra local build.in -o alicia.txt
	@cd requirements && $(COMPILE) ../pyproject.toml --extra local build.in dev.in -o dev.txt
	@cd requirements && for each in bootstrap go node client-generator; do $(COMPILE) $$each.in -o $$each.txt; done
	@cd requirements && for each in weights-small weights-large; do $(COMPILE) --no-deps $$each.in -o $$each.txt; done

clean:
	rm -rf .venv .build web/node_modules web/dist

.venv/.uv: requirements/bootstrap.txt scripts/setup/python.sh
	@scripts/setup/python.sh

.venv/.run-ready: .venv/.uv requirements/alicia.txt pyproject.toml
	@echo "set-up: Python packages"
	@$(VENV)/uv pip install --quiet --python $(VENV)/python --require-hashes -r requirements/alicia.txt
	@$(VENV)/uv pip install --quiet --python $(VENV)/python --no-deps --no-build-isolation --editable .
	@touch $@

.venv/.test-ready: .venv/.uv requirements/dev.txt pyproject.toml
	@echo "set-up: Python packages, with those for tests"
	@$(VENV)/uv pip install --quiet --python $(VENV)/python --require-hashes -r requirements/dev.txt
	@$(VENV)/uv pip install --quiet --python $(VENV)/python --no-deps --no-build-isolation --editable .
	@mkdir -p .build && touch $@ .venv/.run-ready

# Beside the environment, not in it: the generator wants an older typer than ours.
.build/client-generator/.installed: requirements/client-generator.txt .venv/.uv
	@echo "set-up: generator of HTTP clients"
	@$(VENV)/uv pip install --quiet --python $(VENV)/python --target $(@D) --require-hashes -r requirements/client-generator.txt
	@touch $@

web/node_modules/.installed: web/package-lock.json .venv/.uv
	@echo "set-up: web packages"
	@scripts/setup/node.sh npm --prefix web ci --silent --no-fund --no-audit
	@touch $@

web/dist/index.html: web/node_modules/.installed $(WEB_SOURCES)
	@echo "set-up: web client"
	@scripts/setup/node.sh npm --prefix web run --silent build
	@touch $@

livekit: .venv/.uv
	@scripts/setup/livekit.sh

weights-small weights-large: weights-%: $(READY)
	@$(VENV)/python -m alicia.local.weights $*

cluster:
	@scripts/setup/cluster.sh

libraries-run libraries-test: libraries-%:
	@scripts/setup/libraries.sh $*

chromium:
	@scripts/setup/chromium.sh
