# The three commands of this repository. Each one sets up what it needs; a second run starts at once.
#   make report   the papers at quick scale: verdict table here, pictures in build/report/index.html
#   make test     lint, types and the whole test suite
#   make check    lint and types only
# Long looks at the checks themselves: make mutants ROOM=… and make drawn-data (docs/mutants.md), make drawn-facts
# (docs/certify.md)
PYTHON ?= python3
JOBS ?= 2
BIN := .venv/bin

.PHONY: report test check mutants drawn-data drawn-facts setup format clean

report: setup
	$(BIN)/widenet report --out build/report

test: check
	$(BIN)/python -m pytest -n $(JOBS)

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/basedpyright --level error

mutants: setup
	@test -n "$(ROOM)" || { echo "name a room, diagnostics or training: make mutants ROOM=brutzkus2018"; exit 2; }
	$(BIN)/python -m tools.mutants $(ROOM) --jobs $(JOBS) $(if $(SAMPLE),--sample $(SAMPLE)) $(if $(SEED),--seed $(SEED))

drawn-data: setup
	$(BIN)/python -m tools.drawn_data --jobs $(JOBS) $(if $(COUNT),--count $(COUNT))

drawn-facts: setup
	$(BIN)/python -m tools.drawn_facts $(if $(COUNT),--count $(COUNT)) $(if $(WHOLE),--whole $(WHOLE))

setup: .venv/installed

.venv/installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "widenet needs Python 3.11 or newer; name one with: make PYTHON=python3.12 ..."; exit 2; }
	@echo "installing into .venv; this takes a minute or two"
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf .venv build
