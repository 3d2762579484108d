# Each command sets up what it needs; a second run starts at once.
#   make report          the papers at quick scale: verdict table here, pictures in build/report/index.html
#   make test            lint, types and the whole test suite
#   make test PAPER=…    the tests of one paper (brutzkus2018), without lint and types
#   make test PART=…     the tests of one part of the package (training, run, console, …)
#   make check           lint and types only
#   make test-page       pages of the report and of certificates in Chromium, which is installed where it is missing
#   make test-report     the report of the papers: made, its numbers compared, all figures looked at in Chromium
#   make test-sweep      sweeps on a real Slurm, on Dask and by other executors, which are installed where they are missing
# Longer looks, which `make test` does not take:
#   make test-machines   other instruction sets (docs/machines.md)
#   make test-versions   other versions of Python and the libraries (docs/machines.md); PYTHONS="3.12 3.13"
#   make mutants PAPER=…  do tests notice weakened checks? (docs/mutants.md); PART=diagnostics, training,
#                        certificates or estimators
#   make drawn-data      every claim on drawn data sets (docs/mutants.md)
#   make drawn-facts     every fact of a certificate on drawn tables, beside independent programs (docs/certify.md)
PYTHON ?= python3
JOBS ?= 2
BIN := .venv/bin
CHROMIUM ?= /usr/bin/chromium

WAITING := $(BIN)/python -m tools.waiting

# Some containers set this. Every process would then compile all modules again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: report test check test-page test-report chromium test-sweep slurm test-machines test-versions mutants drawn-data drawn-facts setup format clean

report: setup
	$(BIN)/widenet report --out build/report

SOME := $(if $(PAPER),tests/papers/$(PAPER))$(if $(PART),tests/$(PART))

test: $(if $(SOME),setup,check)
	@test -z "$(SOME)" -o -d "$(SOME)" || { echo "there is no folder $(SOME): PAPER and PART name one"; exit 2; }
	$(BIN)/python -m pytest -n $(JOBS) $(SOME)

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@$(WAITING) "checking types" --show -- $(BIN)/basedpyright --level error --threads $(JOBS)

# The types of these tests are checked here, where their libraries are.
test-page: setup chromium .venv/installed-page
	$(BIN)/basedpyright --level error --project tests/page
	CHROMIUM=$(CHROMIUM) $(BIN)/python -m pytest tests/page --ignore=tests/page/real

# About six minutes for the report where nothing is in the store, and three for the tests.
test-report: report chromium .venv/installed-page
	CHROMIUM=$(CHROMIUM) $(BIN)/python -m pytest -n $(JOBS) -rP tests/page/real

chromium:
	@test -x $(CHROMIUM) || { echo "installing Debian's chromium"; apt-get update -q && \
		apt-get -o DPkg::Lock::Timeout=300 install -q -y --no-install-recommends chromium; } \
		|| { echo "make test-page needs Chromium; name one with: make test-page CHROMIUM=/path/to/chromium"; exit 2; }

.venv/installed-page: .venv/installed
	@$(WAITING) "installing playwright" -- $(BIN)/python -m pip install --disable-pip-version-check --progress-bar off \
		-c constraints.txt -e '.[dev,page]'
	@touch $@

# The types of these tests are checked here, where their libraries are.
test-sweep: setup slurm .venv/installed-sweep
	$(BIN)/basedpyright --level error --project tests/cluster
	$(BIN)/python -m pytest -n 0 tests/cluster tests/sweeps/test_output.py

slurm:
	@test -x /usr/sbin/slurmd -a -x /usr/sbin/munged || { echo "installing Debian's slurm-wlm and munge"; \
		apt-get update -q && apt-get -o DPkg::Lock::Timeout=300 install -q -y --no-install-recommends slurm-wlm munge; } \
		|| { echo "make test-sweep needs Slurm: install slurm-wlm and munge"; exit 2; }

.venv/installed-sweep: .venv/installed
	@$(WAITING) "installing dask, executors and pyarrow" -- $(BIN)/python -m pip install --disable-pip-version-check --progress-bar off \
		-c constraints.txt -e '.[dev,dask,executors,parquet]'
	@touch $@

test-machines: setup
	$(BIN)/python -m tools.machines --jobs $(JOBS) $(foreach name,$(MACHINE),--machine $(name))

test-versions: setup
	$(BIN)/python -m tools.versions --jobs $(JOBS) $(foreach name,$(PYTHONS),--python $(name))

mutants: setup
	@test -n "$(PAPER)$(PART)" || { echo "name a paper or a part: make mutants PAPER=brutzkus2018, or PART=diagnostics"; exit 2; }
	$(BIN)/python -m tools.mutants $(PAPER)$(PART) --jobs $(JOBS) $(if $(SAMPLE),--sample $(SAMPLE)) $(if $(SEED),--seed $(SEED))

drawn-data: setup
	$(BIN)/python -m tools.drawn_data --jobs $(JOBS) $(if $(COUNT),--count $(COUNT))

drawn-facts: setup
	$(BIN)/python -m tools.drawn_facts $(if $(COUNT),--count $(COUNT)) $(if $(WHOLE),--whole $(WHOLE))

setup: .venv/installed

.venv/installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "widenet needs Python 3.11 or newer; name one with: make PYTHON=python3.12 ..."; exit 2; }
	@$(PYTHON) -m venv .venv
	@$(WAITING) "installing into .venv" --count '^Collecting ([A-Za-z0-9_.-]+)' --of $$(wc -l < constraints.txt) -- \
		$(BIN)/python -m pip install --disable-pip-version-check --progress-bar off -c constraints.txt -e '.[dev]'
	@touch $@

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf .venv build
