# Everything runs in .venv, made here from pyproject.toml; nothing global is touched.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# Tests start hundreds of programs: what they import is compiled once, also where the environment says never to keep it.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help e2e-inspector e2e-openclaw e2e-openclaw-fast setup demo test unit wheel crash mutants laws-long keystone-long guidance-long delivery-long faults-long fuzz-long bench-store bench-embed bench-context bench-retrieval bench-compaction bench-load bench-peers ablation model-check inspect-mcp e2e-claude-code e2e-hermes clean

help: ## list the targets
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  %-16s %s\n", $$1, $$2}'

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed, this is " + sys.version.split()[0] + "; try: make PYTHON=python3.12 ...") if sys.version_info < (3, 11) else 0'
	@echo "setting up $(VENV) ..." >&2
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

setup: $(READY) ## make .venv with the package and the tools

demo: $(READY) ## show the main job, through a daemon on a temporary home
	@$(BIN)/libravdb demo

test: $(READY) ## everything that must hold: format, lint, types, wheel, tests, a real OpenClaw and browser where they can be had
	@$(BIN)/python tools/check.py

bench-peers: ## other stores for `libravdb bench store` to compare with, in a venv of their own
	@$(PYTHON) -m venv .venv-peers
	@.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check apsw chromadb lancedb pyarrow sqlite-vec
	@.venv-peers/bin/python -c 'import apsw, chromadb, lancedb, pyarrow, sqlite_vec'

unit: $(READY) ## only the tests, fast feedback
	@$(BIN)/python -m pytest -q -n auto -m 'not long'

wheel: $(READY) ## build the wheel and run the demo from it in an empty environment
	@$(BIN)/python tools/wheel_check.py

bench-store: $(READY) ## measure the store, beside the peers of bench-peers where they are installed
	@$(BIN)/libravdb bench store --json benchmarks/results/store.json

bench-embed: $(READY) ## measure the bundled model against its full-precision original (80 MB download)
	@$(BIN)/python tools/build_model.py --f32 build/minilm-f32
	@$(BIN)/libravdb bench embed --reference build/minilm-f32 --json benchmarks/results/embed.json

crash: $(READY) ## kill a writing process 500 times; nothing acknowledged may be lost
	@$(BIN)/python tools/crash_fuzz.py --kills 500 --json benchmarks/results/crash.json

mutants: $(READY) ## plant errors in the laws one by one; a test must fail for each
	@$(BIN)/python tools/mutants.py

laws-long: $(READY) ## the budget law on a real store, 10,000 cases
	@$(BIN)/python -m pytest -q -m long tests/memory/test_context.py

keystone-long: $(READY) ## all sixteen invariants after every step of 400 random histories, and compactions killed at every commit
	@$(BIN)/python -m pytest -q -m long tests/laws

guidance-long: $(READY) ## rules of other writers, 500 turns and 5 compactions later: how many are found, and how many wrongly
	@$(BIN)/python -m pytest -q -n 2 -m long tests/guidance

delivery-long: $(READY) ## 10,000 turns while daemon and client are killed: each arrives once, in order
	@$(BIN)/python -m pytest -q -m long tests/serve/client

faults-long: $(READY) ## kills, full disks, ten thousand idle clients and models that lie, against a real daemon, for long
	@$(BIN)/python -m pytest -q -m long tests/serve/faults tests/serve/test_daemon.py tests/serve/isolation

fuzz-long: $(READY) ## a million broken frames for the parser, 150,000 for a live daemon: no crash, no hang, bounded memory
	@$(BIN)/python tools/frame_fuzz.py --frames 1000000 --live 150000 --json benchmarks/results/fuzz.json

inspect-mcp: $(READY) ## ask the MCP server with the protocol's own inspector; needs node and npm (150 MB download)
	@npm install --loglevel=error --no-fund --no-audit --prefix build/inspector @modelcontextprotocol/inspector
	@$(BIN)/python tools/inspect_mcp.py build/inspector/node_modules/.bin/mcp-inspector

e2e-claude-code: $(READY) ## Claude Code itself with our hooks and a model on loopback; needs node and npm (240 MB download)
	@npm install --loglevel=error --no-fund --no-audit --prefix build/claude-code @anthropic-ai/claude-code
	@$(BIN)/python tools/claude_code_check.py build/claude-code/node_modules

e2e-hermes: ## the memory provider inside Hermes Agent itself, in a venv of its own
	@$(PYTHON) -m venv .venv-hermes
	@.venv-hermes/bin/python -m pip install --quiet --disable-pip-version-check 'hermes-agent==0.19.*' pytest hypothesis -e .
	@.venv-hermes/bin/python -c 'import hermes_constants, agent.memory_manager, plugins.memory' # or its tests are skipped
	@.venv-hermes/bin/python -m pytest -q -W default tests/integrations/test_hermes.py

bench-context: $(READY) ## measure what a context costs beside the embedding of its question
	@$(BIN)/libravdb bench context --json benchmarks/results/context.json

bench-retrieval: $(READY) ## measure what recall finds; DATA=file or folder of labelled conversations
	@$(BIN)/libravdb bench retrieval --data "$(or $(DATA),benchmarks/data/technical)" --json benchmarks/results/retrieval.json

bench-compaction: $(READY) ## measure what compaction loses and costs; DATA=file or folder of labelled conversations
	@$(BIN)/libravdb bench compaction --data "$(or $(DATA),benchmarks/data/technical)" --json benchmarks/results/compaction.json

bench-load: $(READY) ## measure what the daemon bears: 64 clients for a minute on 20,000 turns, and what a call to it costs
	@$(BIN)/libravdb bench load --json benchmarks/results/load.json

ablation: $(READY) ## measure what each signal of recall is worth; DATA="FILE ..." of labelled conversations
	@$(BIN)/python tools/ablation.py --json benchmarks/results/ablation.json --data $(DATA)

model-check: $(READY) ## rebuild the bundled model from its published weights (80 MB download) and compare
	@$(BIN)/python tools/build_model.py --check
	@$(BIN)/python tools/build_tokens.py --check

e2e-inspector: ## the inspector's page in a real chromium, in a venv of its own (3 min); CHROMIUM=program; pictures go to build/screenshots
	@CHROMIUM="$(CHROMIUM)" $(PYTHON) -m tests.e2e.inspector.fetch
	@CHROMIUM="$(CHROMIUM)" .venv-browser/bin/python -m pytest -q -rs -m long tests/e2e/inspector

e2e-openclaw: $(READY) ## play whole conversations on a real OpenClaw (1 GB from npm, 10 min); OPENCLAW=version
	@$(E2E_OPENCLAW)

e2e-openclaw-fast: $(READY) ## the same in 3 min: without long conversations, restarts of the host, the audit and the commands
	@$(E2E_OPENCLAW) --fast

# `make test` plays the fast ones too, and says so where no registry has the host: the other tests pass without a network,
# those of the plugin against real daemons (tests/plugins). Here that is a failure, unless ALLOW_SKIP=1 is given.
E2E_OPENCLAW = $(BIN)/python -m tests.e2e.openclaw.run $(if $(OPENCLAW),--host $(OPENCLAW)) $(if $(ALLOW_SKIP),--allow-skip)

clean: ## remove what make built
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage*
