# Liveproof: one command for each thing. `make help` lists them.

# Settings: make demo TORCH_INDEX=<address of an index with CPU builds of PyTorch>, for example.
PYTHON ?= $(shell for p in python3.11 python3 python; do \
	"$$p" -c $(IS_311) 2>/dev/null && { echo "$$p"; break; }; done)
CHROMIUM ?= $(shell for c in chromium chromium-browser google-chrome google-chrome-stable \
	"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"; do \
	"$$c" --version >/dev/null 2>&1 && { command -v "$$c"; break; }; done)
TORCH_INDEX ?=
ARGS ?=

VENV := .venv
BENCH := .venv-bench
PY := $(VENV)/bin/python
IS_311 := 'import sys; sys.exit(sys.version_info[:2] != (3, 11))'

# $(call install,folder,requirement files): a virtual environment with these packages. pip's own
# settings (PIP_INDEX_URL and the like) hold; torch comes first where an index for it is named.
define install
	@$(1)/bin/python -c $(IS_311) 2>/dev/null && $(1)/bin/python -m pip --version >/dev/null 2>&1 || { \
		"$(PYTHON)" -c $(IS_311) 2>/dev/null || { \
			echo "Liveproof needs Python 3.11, and neither python3.11 nor python3 on the PATH is that:" \
				"install it (Debian and Ubuntu: python3.11-venv; macOS: brew install python@3.11)" \
				"or say where it is, as in: make demo PYTHON=/path/to/python3.11" >&2; exit 1; }; \
		"$(PYTHON)" -m venv --clear $(1); }
	$(if $(TORCH_INDEX),$(1)/bin/python -m pip install --no-deps --index-url "$(TORCH_INDEX)" "$$(grep '^torch==' requirements.txt)")
	$(1)/bin/python -m pip install $(addprefix -r ,$(2))
	@touch $(1)/.installed
endef

.DEFAULT_GOAL := help
.PHONY: help demo test lint bench claims clean chromium thumbnails

help: ## show this list
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' Makefile | while IFS="$$(printf '\t')" read -r name text; do \
		printf '  make %-10s %s\n' "$$name" "$$text"; done

demo: $(VENV)/.installed ## install what is missing and open the dashboard in a browser tab
	@$(PY) app.py $(ARGS)

test: $(VENV)/.installed chromium lint ## lint, check types and run every test
	CHROMIUM="$(CHROMIUM)" $(PY) -m pytest $(ARGS)

lint: $(VENV)/.installed ## style, format and types
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy

bench: $(BENCH)/.installed ## measure speed and accuracy against peers, as ratios in one run
	$(BENCH)/bin/python tests/bench/run.py $(ARGS)

claims: $(VENV)/.installed ## measure every paper's claims; write assets/claims.json and README's table
	$(PY) -m models.claims $(ARGS)
	$(PY) scripts/readme_table.py

thumbnails: $(VENV)/.installed chromium ## draw the home page's pictures again
	CHROMIUM="$(CHROMIUM)" $(PY) -m scripts.thumbnails

clean: ## remove the environments and caches that these commands made
	rm -rf $(VENV) $(BENCH) .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.installed: requirements.txt
	$(call install,$(VENV),requirements.txt)

# particles 0.4 declares numpy<2, but what is compared here runs with the pinned one.
$(BENCH)/.installed: requirements.txt requirements-bench.txt
	$(call install,$(BENCH),requirements.txt requirements-bench.txt)
	@$(BENCH)/bin/python -m pip install --no-deps particles==0.4 || { rm -f $@; exit 1; }

chromium:
	@"$(CHROMIUM)" --version >/dev/null 2>&1 || { \
		[ "$(origin CHROMIUM)" = file ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
		apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y chromium; } || { \
		echo "The browser tests need Chromium or Chrome, and $(if $(CHROMIUM),$(CHROMIUM) does not run,none is on the PATH):" \
			"install it (Debian: apt-get install chromium; macOS: brew install --cask chromium)" \
			"or say where it is, as in: make test CHROMIUM=/path/to/chromium" >&2; exit 1; }
