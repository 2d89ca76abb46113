# Every target sets up what it needs in .venv first; a second run starts at once. As root on Debian, the set-up of the
# tests also installs Debian's chromium with apt-get, and says so before it does; SYSTEM_PACKAGES=no leaves that out.
.PHONY: help demo test check bench evidence contestants docs wheel notebooks lint types layers dependencies workflows actionlint release lock unit oldest slow fuzz format clean
bin := .venv/bin
export ORDINOISE_DATA ?= $(wildcard $(abspath ../shared/data))
# Workers for the tests; numerical libraries stay on one thread each, so that they do not fight.
WORKERS ?= 2
export OMP_NUM_THREADS ?= 1
# Compiled modules are kept, whatever the environment says: many tests start processes.
export PYTHONDONTWRITEBYTECODE =
export OPENBLAS_NUM_THREADS ?= 1

help: ## What can be made
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /\1\t/' | expand -t 14
	@echo "As root on Debian, all but demo install the system package chromium; SYSTEM_PACKAGES=no leaves that out."

demo: ## Set up, then the whole story on embedded data (a minute)
	@tools/setup demo
	@$(bin)/ordinoise demo

test: lint types layers unit ## Set up, then lint, types, layers and the default tests

check: lint types layers dependencies workflows unit docs ## All of test, and dependencies, workflows, docs and examples

bench: ## Speed beside PyTorch, then a quick study of accuracy beside other libraries (an hour)
	@tools/setup bench
	@$(bin)/python -m studies.steps
	@$(bin)/python -m studies.accuracy --quick

evidence: ## Every figure of the documentation, in pieces: skips what was run since what it imports changed (many hours)
	@tools/setup bench
	@$(bin)/python -m studies.evidence --workers $(WORKERS)

contestants: ## Install what the benchmarks compare with
	@tools/setup bench

docs: ## The documentation, warnings as errors, into docs/_build/html, and the code on its pages
	@tools/setup test
	$(bin)/python -m pytest -q -n $(WORKERS) --dist worksteal -m page
	$(bin)/sphinx-build -q -W --keep-going -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

notebooks: ## Run the notebooks of the documentation and store what they print (two minutes)
	@tools/setup test
	$(bin)/jupyter execute --inplace docs/notebooks/*.ipynb

lint:
	@tools/setup test
	$(bin)/ruff check .
	$(bin)/ruff format --check -q .

types:
	@tools/setup test
	@$(bin)/python -m tools.compiled & echo $(bin)/mypy; $(bin)/mypy; code=$$?; wait; exit $$code

layers:
	@tools/setup test
	@PYTHONPATH=. $(bin)/lint-imports --no-logo

dependencies:
	@tools/setup test
	$(bin)/deptry src

workflows: ## The workflows of .github, by zizmor, and by actionlint where it is installed
	@tools/setup test
	$(bin)/zizmor --offline --quiet .github
	@PATH="$(bin):$$PATH"; if command -v actionlint >/dev/null; then actionlint; else echo "no actionlint here: make actionlint installs it"; fi

actionlint: ## Install actionlint, whose package downloads it from its own releases
	@tools/setup test
	$(bin)/uv pip install --quiet --python $(bin)/python --require-hashes --requirement tools/actionlint.txt

release: ## The package from tools with hashes, in an environment of its own, into dist: what the workflow publishes
	python3 -m venv --clear .venv-release
	.venv-release/bin/python -m pip install --quiet --require-hashes --only-binary=:all: --no-deps --requirement tools/release.txt
	rm -rf dist
	.venv-release/bin/python -m build --no-isolation --outdir dist

lock: ## tools/release.txt anew: what builds the release, with hashes
	@tools/setup test
	$(bin)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate --upgrade tools/release.in -o tools/release.txt

unit:
	@tools/setup test
	$(bin)/python -m pytest -q -n $(WORKERS) --dist worksteal -m "not slow and not paper and not page"

# Deprecations are left out: an old library beside a new one gives them, and we cannot mend either.
oldest: ## Set up .venv-oldest with the oldest supported dependencies, then the default tests
	@tools/setup oldest
	.venv-oldest/bin/python -m pytest -q -n $(WORKERS) --dist worksteal -m "not slow and not paper and not page" -W ignore::DeprecationWarning -W ignore::FutureWarning

slow: ## Statistical guards and long runs
	@tools/setup test
	$(bin)/python -m pytest -q -n $(WORKERS) --dist worksteal -m "slow or paper"

# Workers of the fuzzer are processes of their own; FUZZ_SECONDS=0 runs one round of FUZZ_INPUTS.
FUZZ_SECONDS ?= 3600
FUZZ_INPUTS ?= 100000
fuzz: ## Fuzzed inputs over every reader and verb (an hour; FUZZ_SECONDS, FUZZ_INPUTS)
	@tools/setup test
	$(bin)/python -m tools.fuzz --inputs $(FUZZ_INPUTS) --seconds $(FUZZ_SECONDS)

wheel: ## The package as pip installs it, into dist, tried in an empty environment
	@tools/setup test
	rm -rf dist
	$(bin)/uv build --quiet --out-dir dist
	$(bin)/twine check --strict dist/*.whl dist/*.tar.gz
	$(bin)/python -m pytest -q -m slow tests/test_wheel.py

format: ## Rewrite the code in the house format
	@tools/setup test
	$(bin)/ruff check -q --fix . ; $(bin)/ruff format -q .

clean: ## Remove .venv and everything built
	rm -rf .venv .venv-oldest .venv-release docs/_build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
