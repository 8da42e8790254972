# Needs make and Python 3.11, 3.12 or 3.13, nothing else. PYTHON chooses the interpreter:
#     make test PYTHON=python3.12
# ARGS goes to the command behind a target:
#     make check ARGS="-k dataset"

PYTHON ?= python3
ARGS ?=

VENV := .venv
RUN := $(VENV)/bin/python -m
PIP := $(RUN) pip --quiet --quiet --disable-pip-version-check --no-input

# "py311" and so on. It names the lock to install from and the stamp that says it was installed.
PY := $(shell $(PYTHON) -c 'import sys; print("py%d%d" % sys.version_info[:2])' 2>/dev/null)
LOCK := requirements/lock-$(PY).txt
READY := $(VENV)/ready-$(PY)

# XLA logs warnings that no user can act on; its errors stay.
export TF_CPP_MIN_LOG_LEVEL ?= 2

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo install check test test-all test-versions lint types layers format bench bench-data bench-loops bench-workers bench-saving faults tf-coverage lock clean supported

help:
	@echo "make demo       install, then train a small model on several devices and show it"
	@echo "make check      the fast tier: ruff, mypy, import-linter, unit tests (under two minutes)"
	@echo "make test       the checks and the default tests"
	@echo "make test-all   the checks and every test, the long ones too"
	@echo "make faults     kill jobs at every moment, and write what became of them to docs/faults.md (an hour)"
	@echo "make tf-coverage  run the tests of TensorFlow's names, and write which work to docs/tf-coverage.md"
	@echo "make test-versions  the default tests on JAX 0.11 and 0.12 (needs a Python >= 3.12)"
	@echo "make bench      run the benchmark of fit"
	@echo "make bench-data run the benchmark of input pipelines"
	@echo "make bench-loops  run the benchmark of custom training loops"
	@echo "make bench-workers  run the benchmark of two worker processes"
	@echo "make bench-saving   run the benchmark of saving while training"
	@echo "make format     let ruff format the code and mend what it can"
	@echo "make install    create $(VENV) and install from the lock"
	@echo "make lock       write requirements/lock-*.txt anew (needs a package index)"
	@echo "make clean      remove $(VENV) and all caches"
	@echo
	@echo "PYTHON=python3.12 chooses the Python, ARGS=\"-k name\" goes to the command behind the target."

demo: $(READY)
	@$(VENV)/bin/unisono demo $(ARGS)

install: $(READY)

check: lint types layers
	@$(RUN) pytest -q -m "not slow and not full" --ignore=tests/parity $(ARGS)

test: lint types layers
	@$(RUN) pytest -q $(ARGS)

test-all: lint types layers
	@$(RUN) pytest -q -m "" $(ARGS)

# With ARGS some faults are tried anew, and the page is made of these and of what is known of the others.
faults: $(READY)
	@$(if $(ARGS),,rm -f build/faults.jsonl)
	@$(RUN) pytest -q -m "" tests/faults --fault-results=build/faults.jsonl $(ARGS); code=$$?; \
	    $(RUN) tests.faults.page build/faults.jsonl docs/faults.md && exit $$code

# Which names work is known from the tests that use them and passed. The page's own test would look at the old page.
tf-coverage: $(READY)
	@$(RUN) pytest -q -m "" tests/tf tests/tfds --ignore=tests/tf/test_coverage.py \
	    --names-used=build/tf-names.json $(ARGS); code=$$?; \
	    $(RUN) tests.tf.coverage_page build/tf-names.json docs/tf-coverage.md && exit $$code

test-versions:
	@.ci/versions $(ARGS)

lint: $(READY)
	@$(RUN) ruff check --quiet .
	@$(RUN) ruff format --quiet --check . || { echo "The files above are not formatted. Type: make format"; exit 1; }

types: $(READY)
	@$(RUN) mypy --no-error-summary

layers: $(READY)
	@report=$$($(VENV)/bin/lint-imports --no-logo 2>&1) || { echo "$$report"; exit 1; }

format: $(READY)
	@$(RUN) ruff check --quiet --fix-only .
	@$(RUN) ruff format .

bench: $(READY)
	@$(VENV)/bin/python benchmarks/run.py $(ARGS)

bench-data: $(READY)
	@$(VENV)/bin/python benchmarks/data.py $(ARGS)

bench-loops: $(READY)
	@$(VENV)/bin/python benchmarks/loops.py $(ARGS)

bench-workers: $(READY)
	@$(VENV)/bin/python benchmarks/workers.py $(ARGS)

bench-saving: $(READY)
	@$(VENV)/bin/python benchmarks/saving.py $(ARGS)

lock:
	@PYTHON="$(PYTHON)" requirements/relock

clean:
	rm -rf $(VENV) build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find src tests examples benchmarks -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

# An environment of another Python, or of an interrupted install, has no stamp of this name: it is made anew.
# A stamp that is only older than the lock or pyproject.toml is brought up to date in place.
$(READY): $(wildcard $(LOCK)) pyproject.toml | supported
	@echo "Installing into $(VENV) from $(LOCK) (once)"
	@test -f $@ || $(PYTHON) -m venv --clear $(VENV)
	@$(PIP) install --no-deps --require-hashes -r $(LOCK)
	@$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

supported:
	@test -f $(LOCK) || { echo "Unisono needs Python 3.11, 3.12 or 3.13; '$(PYTHON)' is" \
	    "$(if $(PY),$$($(PYTHON) -V 2>&1),not a Python that runs). Name another: make PYTHON=python3.12 <target>"; exit 1; }
