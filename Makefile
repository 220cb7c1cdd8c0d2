# Everything installs into the checkout's own .venv; nothing outside it is touched.
PYTHON ?= python3
BIN := .venv/bin
POTATO := .venv-potato
DEMO := examples/reviews

.PHONY: demo ui test lint clean

demo: .venv/installed
	$(BIN)/python $(DEMO)/demo.py

ui: .venv/installed
	$(BIN)/training-pipeline up $(DEMO)

test: lint $(POTATO)/installed
	POTATO_BIN=$(abspath $(POTATO)/bin/potato) $(BIN)/python -m pytest

lint: .venv/installed-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

.venv/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable .
	touch $@

.venv/installed-dev: .venv/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	touch $@

# The annotation server that the tests read from and write to: a program of its own, in an environment of its own.
$(POTATO)/installed: tests/potato_server/requirements.txt
	$(PYTHON) -m venv $(POTATO)
	$(POTATO)/bin/python -m pip install --quiet --disable-pip-version-check --requirement $<
	touch $@

clean:
	rm -rf .venv $(POTATO) build *.egg-info
