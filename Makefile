# Needs make and Python 3.11, 3.12 or 3.13. PYTHON chooses the interpreter:
#     make test PYTHON=python3.12
# ARGS is passed to the command of a target:
#     make check ARGS="-k dataset"

PYTHON ?= python3
ARGS ?=

VENV := .venv
RUN := $(VENV)/bin/python -m
# A file's tests stay in one process, where they share fixtures and what XLA has compiled (tests/scheduling.py). Two
# processes more than cores: many tests wait for workers that they started. Files begin in the order of
# tests/conftest.py. ARGS="-n 0" runs all tests in one process.
NUM_PROCESSES := $(shell $(PYTHON) -c 'import os; print((os.cpu_count() or 1) + 2)' 2>/dev/null)
PYTEST := $(RUN) pytest -q -n $(NUM_PROCESSES) --dist loadfile --no-loadscope-reorder
# As in tests/quick_compilation.py.
QUICK_COMPILATION := --xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true
PIP := pip --quiet --quiet --disable-pip-version-check --no-input

# "py311" and so on: part of the name of the lock file, and of the stamp of a finished install.
PY := $(shell $(PYTHON) -c 'import sys; print("py%d%d" % sys.version_info[:2])' 2>/dev/null)
LOCK := requirements/lock-$(PY).txt
READY := $(VENV)/ready-$(PY)

# The tests of engines have an environment of their own: Ray and what it needs take 600 MB.
ENGINES := .venvs/engines-$(PY)
ENGINES_LOCK := requirements/lock-engines-$(PY).txt
ENGINES_READY := $(ENGINES)/ready

# So have the tests of trackers: MLflow and wandb, with what they need, take 700 MB.
TRACKERS := .venvs/trackers-$(PY)
TRACKERS_LOCK := requirements/lock-trackers-$(PY).txt
TRACKERS_READY := $(TRACKERS)/ready

# Sphinx and what it needs, beside the core that the reference is made from.
DOCS := .venvs/docs-$(PY)
DOCS_LOCK := requirements/lock-docs-$(PY).txt
DOCS_READY := $(DOCS)/ready
# Tests start hundreds of processes, each of which would compile the whole package again.
unexport PYTHONDONTWRITEBYTECODE

# Hides XLA warnings that no user can act on; errors are still shown.
export TF_CPP_MIN_LOG_LEVEL ?= 2

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo install docs check test test-all test-engines test-trackers test-versions lint types layers format bench bench-gpu bench-data bench-loops bench-workers bench-saving bench-large bench-sharding bench-start bench-page plan-error parity faults attacks row-operations sharding tf-coverage errors tf-guides lock clean supported

help:
	@echo "make demo       install, then train a small model on several devices and show it"
	@echo "make docs       build the documentation site in build/docs/html"
	@echo "make check      the fast tier: ruff, mypy, import-linter, unit tests (under two minutes)"
	@echo "make test       the checks and the default tests (about 11 minutes on two cores)"
	@echo "make test-all   the checks and all tests but most cells of parity, faults and attacks (an hour or more on two cores)"
	@echo "make parity     compare every model, optimizer and strategy with stock Keras on one device (three quarters of an hour)"
	@echo "make faults     kill jobs at every moment, and write the results to docs/faults.md (half an hour)"
	@echo "make attacks    attack the ports of jobs that wait and train, and write the results to docs/attacks.md (twenty minutes)"
	@echo "make row-operations  compare operations along the rows with one device, and write docs/row-operations.md"
	@echo "make sharding   measure the memory of a device with sharded state, and write the table of docs/sharding.md"
	@echo "make tf-coverage  run the tests of the TensorFlow namespace, and write the results to docs/tf-coverage.md"
	@echo "make errors     make the mistakes of newcomers, and write what they read to docs/errors.md"
	@echo "make tf-guides  write docs/tf-guides.md, the features of TensorFlow's guides and their tests"
	@echo "make test-engines  jobs on real Ray, SLURM and Open MPI, and write the results to docs/engines.md"
	@echo "make test-trackers  runs of a local MLflow server and of wandb's offline mode"
	@echo "make test-versions  the default tests on JAX 0.11 and 0.12 (needs Python 3.12 or 3.13); ARGS=\"keras=PATH\": on another Keras"
	@echo "make bench      run the benchmarks of fit, evaluate and predict"
	@echo "make bench-data run the benchmark of input pipelines"
	@echo "make bench-loops  run the benchmark of custom training loops"
	@echo "make bench-workers  run the benchmark of two worker processes"
	@echo "make bench-saving   run the benchmark of checkpointing"
	@echo "make bench-large  run the benchmark of ResNet-50 and GPT-2 small on a GPU"
	@echo "make bench-gpu  run all benchmarks of one GPU, with the packages of PYTHON: small and large models, loops, start"
	@echo "make bench-sharding  run the benchmark of sharded state"
	@echo "make bench-start  run the benchmark of imports and of the first step"
	@echo "make bench-page  write benchmarks/RESULTS.md and its plot from the saved results of all benchmarks"
	@echo "make plan-error  compare predictions of unisono plan with training, and write the table of docs/more-devices.md"
	@echo "make format     format the code and apply ruff's automatic fixes"
	@echo "make install    create $(VENV) and install from the lock"
	@echo "make lock       update requirements/lock-*.txt (needs a package index)"
	@echo "make clean      remove $(VENV) and all caches"
	@echo
	@echo "PYTHON=python3.12 chooses the Python, ARGS=\"-k name\" is passed to the command."

demo: $(READY)
	@$(VENV)/bin/unisono demo $(ARGS)

install: $(READY)

# The whole repository is the source, so that links between pages and to files are those that GitHub shows.
docs: $(DOCS_READY)
	@$(DOCS)/bin/python -m sphinx -M html . build/docs -c docs -d build/docs/doctrees -E -W --keep-going -q $(ARGS)
	@echo "build/docs/html/index.html"

check: lint types layers
	@$(PYTEST) -m "not slow and not full and not engines and not trackers" --ignore=tests/parity $(ARGS)

# Without LLVM's optimizations, which make test-all has, the tests take a sixth less CPU time: XLA compiles most of it.
test: export XLA_FLAGS ?= $(QUICK_COMPILATION)
# The checks use one core only, so the tests begin meanwhile.
test: $(READY)
	@$(MAKE) --no-print-directory lint types layers & checks=$$!; $(PYTEST) $(ARGS); tests=$$?; \
	    wait $$checks || { echo "lint, types or layers failed: see above"; exit 1; }; exit $$tests

test-all: lint types layers
	@$(PYTEST) -m "not table and not engines and not trackers" $(ARGS)

# The whole table. Its processes use all cores by themselves.
parity: $(READY)
	@$(RUN) pytest -q -m "" tests/parity $(ARGS)

# With ARGS some scenarios are tried again, and the page has only these.
test-engines: $(ENGINES_READY)
	@rm -f build/engines.jsonl
	@$(ENGINES)/bin/python -m pytest -q -n 2 --dist loadfile -m engines tests/engines \
	    --engine-results=build/engines.jsonl $(ARGS); code=$$?; \
	    $(ENGINES)/bin/python -m tests.engines.page build/engines.jsonl docs/engines.md && exit $$code

test-trackers: $(TRACKERS_READY)
	@$(TRACKERS)/bin/python -m pytest -q -m trackers tests/trackers $(ARGS)

# With ARGS some faults are tried again, and the page combines them with the earlier results of the rest.
faults: $(READY)
	@$(if $(ARGS),,rm -f build/faults.jsonl)
	@$(PYTEST) -m "" tests/faults --fault-results=build/faults.jsonl $(ARGS); code=$$?; \
	    $(RUN) tests.faults.page build/faults.jsonl docs/faults.md && exit $$code

attacks: $(READY)
	@$(if $(ARGS),,rm -f build/attacks.jsonl)
	@$(PYTEST) -m "" tests/attacks/test_table.py --attack-results=build/attacks.jsonl $(ARGS); code=$$?; \
	    $(RUN) tests.attacks.page build/attacks.jsonl docs/attacks.md && exit $$code

row-operations: $(READY)
	@rm -f build/row-operations.jsonl && mkdir -p build
	@XLA_FLAGS="$(QUICK_COMPILATION)" \
	    $(RUN) tests.row_operations.run build/row-operations.jsonl && \
	    $(RUN) tests.row_operations.page build/row-operations.jsonl docs/row-operations.md

# ARGS names some of the strategies; the table then has only these.
sharding: $(READY)
	@$(RUN) tests.device_memory.run build/sharding.jsonl $(ARGS) && \
	    $(RUN) tests.device_memory.page build/sharding.jsonl docs/sharding.md

# A name works if a test that passed uses it. The test of the page itself would compare with the old page.
tf-coverage: $(READY)
	@$(PYTEST) -m "" tests/tf tests/tfds --ignore=tests/tf/test_coverage.py \
	    --names-used=build/tf-names.json $(ARGS); code=$$?; \
	    $(RUN) tests.tf.coverage_page build/tf-names.json docs/tf-coverage.md && exit $$code

errors: $(READY)
	@$(RUN) tests.errors.page docs/errors.md
	@$(RUN) ruff format --quiet docs/errors.md

tf-guides: $(READY)
	@$(RUN) tests.tf.guides_page docs/tf-guides.md

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

# Not with the packages of the lock, whose JAX is the one for CPUs.
bench-gpu:
	@$(PYTHON) benchmarks/gpu.py $(ARGS)

bench-data bench-loops bench-workers bench-saving bench-large bench-sharding bench-start bench-page: bench-%: $(READY)
	@$(VENV)/bin/python benchmarks/$*.py $(ARGS)

plan-error: $(READY)
	@$(VENV)/bin/python benchmarks/plan.py --write $(ARGS)

lock:
	@PYTHON="$(PYTHON)" requirements/relock

clean:
	rm -rf $(VENV) .venvs build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find src tests examples benchmarks -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

# An environment of another Python, or of an interrupted install, has no stamp of this name, and is created again.
# If the stamp is only older than the lock file or pyproject.toml, the environment is updated in place.
$(READY): $(wildcard $(LOCK)) pyproject.toml | supported
	@echo "Installing into $(VENV) from $(LOCK) (once)"
	@test -f $@ || $(PYTHON) -m venv --clear $(VENV)
	@$(RUN) $(PIP) install --no-deps --require-hashes -r $(LOCK)
	@$(RUN) $(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

$(ENGINES_READY): $(wildcard $(ENGINES_LOCK)) pyproject.toml | supported
	@echo "Installing into $(ENGINES) from $(ENGINES_LOCK) (once)"
	@test -f $@ || $(PYTHON) -m venv --clear $(ENGINES)
	@$(ENGINES)/bin/python -m $(PIP) install --no-deps --require-hashes -r $(ENGINES_LOCK)
	@$(ENGINES)/bin/python -m $(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

$(DOCS_READY): $(wildcard $(DOCS_LOCK)) pyproject.toml | supported
	@echo "Installing into $(DOCS) from $(DOCS_LOCK) (once)"
	@test -f $@ || $(PYTHON) -m venv --clear $(DOCS)
	@$(DOCS)/bin/python -m $(PIP) install --no-deps --require-hashes -r $(DOCS_LOCK)
	@$(DOCS)/bin/python -m $(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

$(TRACKERS_READY): $(wildcard $(TRACKERS_LOCK)) pyproject.toml | supported
	@echo "Installing into $(TRACKERS) from $(TRACKERS_LOCK) (once)"
	@test -f $@ || $(PYTHON) -m venv --clear $(TRACKERS)
	@$(TRACKERS)/bin/python -m $(PIP) install --no-deps --require-hashes -r $(TRACKERS_LOCK)
	@$(TRACKERS)/bin/python -m $(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

supported:
	@test -f $(LOCK) || { echo "Unisono needs Python 3.11, 3.12 or 3.13; '$(PYTHON)' is" \
	    "$(if $(PY),$$($(PYTHON) -V 2>&1),not a Python that runs). Name another: make PYTHON=python3.12 <target>"; exit 1; }
