# The few verbs of the project. Everything lives in .venv; nothing else on the machine changes.
SHELL := /bin/bash
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.ready
DEV := .venv/.dev
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check
SOURCES := pyproject.toml CMakeLists.txt $(shell find src/core -name '*.[ch]pp' 2>/dev/null | sed 's/ /\\ /g')

.PHONY: demo test slow slow-tests flake lint docs bench check-stats check-stats-quick instructions sanitize tsan compile-clang compile-elsewhere fuzz fuzz-share fuzz-readers wheel clean site-checks audit

# What the demo needs is little; the tools of development come with the first verb that needs them.
$(STAMP): $(SOURCES)
	@command -v $${CXX:-c++} >/dev/null || \
	    { echo "A C++20 compiler is needed. On Debian: apt-get install g++"; exit 1; }
	@begun=$$SECONDS; set -e; \
	test -x $(BIN)/python || $(PYTHON) -m venv .venv; \
	$(PIP) --editable . --config-settings=cmake.define.CRANFIELD_WERROR=ON; \
	echo "installed in $$((SECONDS - begun)) s, $$(du -sm .venv | cut -f 1) MB"
	@touch $@

# The requirements of an extra alone: installing `.[dev]` would compile the core a second time.
$(DEV): $(STAMP) pyproject.toml
	$(BIN)/python scripts/requirements dev >.venv/dev.txt
	$(PIP) --requirement .venv/dev.txt
	touch $@

demo: $(STAMP)
	$(BIN)/cranfield demo

# Without plugins that only the site's interface is tried with: each process would load them.
test: $(DEV)
	$(BIN)/python -m pytest -q -n 2 -m "not slow" -p no:schemathesis -p no:anyio

lint: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/clang-format --dry-run --Werror $$(find src/core -name '*.[ch]pp')

docs: $(DEV)
	$(BIN)/python docs/generate.py
	$(BIN)/mkdocs build --strict --quiet

bench: $(DEV)
	$(BIN)/python scripts/requirements bench >.venv/bench.txt
	$(PIP) --requirement .venv/bench.txt || \
	    echo "not all peers could be installed: going on with those that are there"
	$(BIN)/python benchmarks/run.py

# Simulations with known answers: do tests, intervals, ranks and the truth of a crowd hold?
check-stats: $(DEV)
	$(BIN)/python benchmarks/check_stats.py
	$(BIN)/python benchmarks/check_crowd.py
	$(BIN)/python benchmarks/check_truth.py
	$(BIN)/python benchmarks/check_cells.py
	$(BIN)/python benchmarks/check_regions.py
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/check_judging.py

# The checks that take seconds; below three minutes.
check-stats-quick: $(DEV)
	$(BIN)/python benchmarks/check_stats.py --quick
	$(BIN)/python benchmarks/check_crowd.py --quick
	$(BIN)/python benchmarks/check_truth.py --quick

# What takes longer than a test should: part of CI.
slow: slow-tests sanitize tsan site-checks audit fuzz-share
	scripts/instructions --bars

# Tests of faults, kills, clusters, signals and limits. What is red is tried once more; each such
# test is listed, and counted in the last line.
slow-tests: $(DEV)
	$(BIN)/python -m pytest -q -n 2 -m slow -rR --reruns 1

# The same N times under load, without a second try: what was ever red.
N ?= 20
flake: $(DEV)
	$(BIN)/python scripts/flake $(N)

# The campaign site: kills, every screen, its interface against its description, its script.
site-checks: $(DEV)
	$(BIN)/python -m pytest -q -rR --reruns 1 tests/server/slow_*.py

# Known weaknesses of the installed packages, where the advisories can be had.
audit: $(DEV)
	scripts/audit

# Instructions of starting and of each line, by callgrind: figures without noise.
instructions: $(STAMP)
	scripts/instructions

# Kernels and readers on a core with the address and undefined-behaviour sanitizers.
sanitize: $(DEV)
	scripts/sanitize

# Everything in the core that runs on several threads, under ThreadSanitizer.
tsan:
	scripts/tsan

# Does clang accept the core? g++ is what builds it elsewhere.
compile-clang: $(DEV)
	@include="$$($(BIN)/python -m nanobind --include_dir)"; \
	python="$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("include"))')"; \
	find src/core -name '*.cpp' -print0 | xargs -0 -n 1 -P 2 clang++ -std=c++20 -Wall -Wextra \
	    -Werror -fsyntax-only -Isrc/core -isystem "$$include" -isystem "$$python"

# Does the core compile with libc++, as on macOS, and for Windows?
compile-elsewhere: $(DEV)
	scripts/compile_elsewhere

# Ten thousand damaged inputs, odd files, limits and signals for every command; minutes.
fuzz: $(DEV)
	$(BIN)/python -m benchmarks.fuzz

# A tenth of them: other cases than those of the tests.
fuzz-share: $(DEV)
	$(BIN)/python -m benchmarks.fuzz --first 1800 --cases 1000

# The core's readers on bytes that libFuzzer invents (needs clang).
fuzz-readers:
	scripts/fuzz_readers

# A wheel for Linux, tried where there is neither a compiler nor anything else.
wheel:
	scripts/wheel

clean:
	rm -rf .venv build dist site
