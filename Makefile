# Two commands for everybody, each from a bare clone: `make reproduce` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# Machine code, plain loop and learner decide alike in all pairs of policy and set.
ALIKE := $(addprefix tests/simulation/,test_policies_on_sets.py test_engine.py test_solo_engine.py test_bounds_per_item.py)

# What else must never be forgotten: work that is killed goes on with the same numbers, and what was saved outlives kills
# and power cuts; hostile files, forks, threads, signals, restarts, edited code, functions that misbehave, and items in
# any order harm nobody; the site.
CAMPAIGNS := $(addprefix tests/,simulation/test_cluster_campaigns.py simulation/test_misbehaving.py \
  simulation/test_stale_campaigns.py simulation/test_stale_machine_code.py agent/test_policy_kernels.py \
  kernel/test_background.py kernel/test_cache.py kernel/test_users_code_on_disk.py live/test_concurrent_model.py \
  live/test_fork_campaigns.py live/test_loading_elsewhere.py live/test_learner_campaigns.py \
  live/test_interrupted_calls.py experiments/test_strangers.py util/test_power_cuts.py test_hostile_files.py \
  test_kills.py test_site.py test_tutorial_notebook.py)

.PHONY: reproduce test test-alike test-campaigns test-all lint docs bench random clean

reproduce: $(VENV)/core.stamp
	$(BIN)/semibandits reproduce

test: lint
	$(BIN)/pytest -q -m "not long"

test-alike: $(VENV)/dev.stamp
	$(BIN)/pytest -q -m long $(ALIKE)

test-campaigns: $(VENV)/dev.stamp
	$(BIN)/pytest -q -m long $(CAMPAIGNS)

test-all: lint
	$(BIN)/pytest -q

# Written to build/docs; a warning is an error. All pages (-a), as the search forgets index entries of pages not written.
docs: $(VENV)/dev.stamp
	$(BIN)/sphinx-build -W --keep-going -q -a -b html docs build/docs

lint: $(VENV)/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The last needs a C compiler; the second compares with OR-tools and lapx too, where they are installed.
bench: $(VENV)/dev.stamp
	$(BIN)/python benchmarks/live.py
	$(BIN)/python benchmarks/threads.py
	$(BIN)/python benchmarks/other_sets.py
	$(BIN)/python benchmarks/pauses.py
	$(BIN)/python benchmarks/sets.py
	$(BIN)/python benchmarks/theory.py
	$(BIN)/python benchmarks/policies.py
	$(BIN)/python benchmarks/recommend.py
	$(BIN)/python benchmarks/bounds_per_item.py
	$(BIN)/python benchmarks/checks.py
	$(BIN)/python benchmarks/engine.py

# Needs a battery that reads raw bits, for instance Debian's dieharder.
random: $(VENV)/core.stamp
	$(BIN)/python benchmarks/streams.py --battery

$(VENV)/core.stamp: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[plot,frames]"
	touch $@

$(VENV)/dev.stamp: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	touch $@ $(VENV)/core.stamp

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache build dist reproduction
