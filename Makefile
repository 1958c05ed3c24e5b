# Everything is done in .venv, from the pinned packages of requirements.lock.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip -qq --no-input --disable-pip-version-check
# Named by content and place: a changed lock, or a checkout that was moved, is installed anew.
STAMP := $(VENV)/.installed-$(shell { cat requirements.lock pyproject.toml; pwd; } | cksum | tr ' ' '-')

.DEFAULT_GOAL := help
.PHONY: bench help run test lint fmt e2e compatibility build lock image image-test screenshot setup browser
.NOTPARALLEL:

help: ## List the targets
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/\1|\2/p' $(MAKEFILE_LIST) | while IFS='|' read -r name what; do \
		printf '  make %-13s %s\n' "$$name" "$$what"; done

run: setup ## Start Vitrine with its demo; prints a sign-in link (data in ./var)
	@VITRINE_DATA_DIR="$${VITRINE_DATA_DIR:-var}" exec $(BIN)/vitrine demo

test: lint browser ## Lint, type check, unit tests, browser tests
	@$(BIN)/python -m pytest -n auto --maxprocesses 4 tests
	@$(BIN)/python -m pytest -n auto --maxprocesses 2 e2e

lint: setup ## Ruff and strict mypy
	@$(BIN)/python -m ruff check .
	@$(BIN)/python -m ruff format --check .
	@$(BIN)/python -m mypy

fmt: setup ## Format, and mend what ruff can mend
	@$(BIN)/python -m ruff check --fix .
	@$(BIN)/python -m ruff format .

e2e: setup browser ## Browser tests only
	@$(BIN)/python -m pytest e2e

compatibility: setup browser ## Write docs/compatibility.md anew, from the official servers
	@VITRINE_TEST_WRITE_COMPATIBILITY=1 $(BIN)/python -m pytest e2e/official

bench: setup browser ## Measure Vitrine beside two other programs (BENCH="--only window", BENCH=--help)
	@$(BIN)/python -m bench $(BENCH)

build: setup ## Source distribution and wheel, into ./dist
	@$(BIN)/python -m hatchling build -d dist

lock: ## Write requirements.lock anew (needs uv)
	@command -v uv >/dev/null || { echo "make lock needs uv: pip install uv" >&2; exit 1; }
	uv pip compile --upgrade --universal --python-version 3.11 --generate-hashes --no-header \
		--no-annotate --extra test --extra build pyproject.toml -o requirements.lock

image: ## Container image "vitrine", with docker, podman or buildah
	@.ci/container/image build $(IMAGE_OPTIONS)

image-test: image ## Try the image: health check, not root, no build tools in it
	@.ci/container/image test

screenshot: setup browser ## Make docs/images/session.png anew, from the demo
	@$(BIN)/python -m e2e.screenshot docs/images/session.png

setup: $(STAMP)
	@$(BIN)/python hatch_build.py

$(STAMP):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "Vitrine needs Python 3.11 or newer, and $(PYTHON) is not: name one with make PYTHON=python3.12" >&2; exit 1; }
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
	@echo "Installing the pinned packages into $(VENV) (a minute or two, once)"
	@$(PIP) install --require-hashes -r requirements.lock
	@$(PIP) install --no-deps --no-build-isolation -e .
	@rm -f $(VENV)/.installed-* && touch $@

browser:
	@missing=; \
	for name in chromium chromium-browser google-chrome none; do command -v $$name >/dev/null && break; done; \
	[ $$name != none ] || missing=chromium; \
	command -v firefox-esr >/dev/null || command -v firefox >/dev/null || missing="$$missing firefox-esr"; \
	[ -n "$$missing" ] || exit 0; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "Installing for the browser tests:" $$missing; \
		apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install --no-install-recommends $$missing >/dev/null; \
	else \
		echo "The browser tests need more, install it with: sudo apt-get install --no-install-recommends" $$missing >&2; exit 1; \
	fi
