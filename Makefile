# Everything runs from a virtual environment in .venv that these targets make themselves.
PYTHON ?= python3
BIN := .venv/bin
# Whatever is measured or compared must not depend on the user's own settings or store.
export PYTHONHASHSEED := 0
export PYTHONUTF8 := 1

.PHONY: demo test bench mutants lint clean

# Installs what a user gets, and nothing else.
.venv/installed: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

.venv/tested: .venv/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group test
	touch $@

# The real Pi and the Node that it needs, for the tests of its extension; without npm these are left out, and said to be.
.venv/pi/installed: Makefile .venv/installed
	npm install --silent --no-audit --no-fund --prefix .venv/pi node@22 @earendil-works/pi-coding-agent@1.6.0 \
	  && touch $@ || echo "npm could not install Pi: the tests of the real Pi are left out"

# The inspector of MCP, beside them: it needs the same Node.
.venv/pi/inspector: Makefile .venv/pi/installed
	npm install --silent --no-audit --no-fund --prefix .venv/pi @modelcontextprotocol/inspector@2.12.0 \
	  && touch $@ || echo "npm could not install the MCP inspector: its tests are left out"

# Indexes the example sessions and shows for three requests what comes back and why.
demo: .venv/installed
	@$(BIN)/python examples/demo.py

lint: .venv/tested
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: lint .venv/pi/installed .venv/pi/inspector
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report --skip-covered
	$(BIN)/python benchmarks/gate.py 8000
	$(BIN)/python benchmarks/gate.py 200000

bench: .venv/tested
	$(BIN)/python benchmarks/gate.py 2000000

# Breaks a sample of the ranking, evidence, lineage and privacy floors and counts what the tests notice.
mutants: .venv/tested
	$(BIN)/python -m tests.mutants

clean:
	rm -rf .venv .coverage* .mypy_cache .pytest_cache .ruff_cache .import_linter_cache build dist
