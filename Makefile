# Everything a newcomer needs: `make demo` shows what relay does, `make test` checks all of it.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
WORKERS ?= 2

PYTHONS ?= python3.11 python3.12 python3.13 python3.14

.PHONY: demo test check suite fuzz mutants bench docs dist clean

$(VENV)/.ready-run: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --editable ".[onnx,export,params,bench]"
	touch $@

$(VENV)/.ready-test: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --editable ".[test]"
	touch $@ $(VENV)/.ready-run

$(VENV)/.ready-bench: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --editable ".[onnx,export,params,peers]"
	touch $@ $(VENV)/.ready-run

demo: $(VENV)/.ready-run  ## build, compile and run an ONNX ResNet-18, and compare it with onnxruntime
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python examples/demo.py

check: $(VENV)/.ready-test  ## lint, types and contracts
	$(BIN)/ruff check src tests benchmarks examples
	$(BIN)/ruff format --check src tests benchmarks examples
	$(BIN)/pyright
	$(BIN)/lint-imports

suite: $(VENV)/.ready-test  ## the tests; with RELAY_TEST_HOST=zen_3 as on that machine (tests/targets/cpu/machines.py)
	$(BIN)/python -m pytest -n $(WORKERS)

test: check suite  ## all that must hold before a change lands

fuzz: $(VENV)/.ready-test  ## the generated tests on new examples, then 20,000 generated programs, 10,000 kernels, the gradients of 10,000 programs, 5,000 Python functions, 5,000 programs of each kind for every pass, all PyTorch models, five whole trainings, ONNX's suite, and 200 compilations that are killed, 1,000 programs loaded and 300 compiled, 100,000 damaged inputs, and 5,000 random ONNX graphs
	RELAY_FUZZ=1 $(BIN)/python -m pytest -n $(WORKERS) tests/arith tests/tir tests/te tests/text tests/infer tests/interpret tests/lower tests/runtime tests/programs tests/frontend/python tests/driver/test_compiled_operators.py
	$(BIN)/python -m tests.programs
	$(BIN)/python -m tests.targets.cpu.campaign
	$(BIN)/python -m tests.autodiff.campaign
	$(BIN)/python -m tests.transform.every_pass
	$(BIN)/python -m tests.frontend.python.campaign
	$(BIN)/python -m tests.frontend.torch.campaign
	$(BIN)/python -m tests.frontend.torch.campaign --captured
	$(BIN)/python -m tests.training.campaign
	$(BIN)/python -m tests.frontend.onnx_suite
	$(BIN)/python -m tests.frontend.onnx_suite --interpret --symbolic
	mkdir -p build/campaigns
	$(BIN)/python -m tests.endurance.kills --state build/campaigns/kills.json
	$(BIN)/python -m tests.endurance.memory
	$(BIN)/python -m tests.endurance.mutated --state build/campaigns/mutated.json
	$(BIN)/python -m tests.frontend.onnx_generated.campaign --state build/campaigns/onnx.json

mutants: $(VENV)/.ready-test  ## which small mistakes in arith, ir, infer and normalize their nearest tests do not find
	$(BIN)/python -m tests.mutation

bench: $(VENV)/.ready-bench  ## the speed of models and kernels, as ratios to onnxruntime, OpenVINO, PyTorch and JAX
	$(BIN)/python -m benchmarks

$(VENV)/.ready-docs: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --editable ".[docs]"
	touch $@

docs: $(VENV)/.ready-docs  ## the documentation as pages in build/site, to be opened from there or served
	$(BIN)/python -m mkdocs build --strict --quiet
	@echo build/site/index.html

$(VENV)/.ready-dist: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check "build>=1.2"
	touch $@

dist: $(VENV)/.ready-dist  ## the source distribution and the wheel, which is tried in an environment of its own for each of PYTHONS
	rm -rf dist
	$(BIN)/python -m build --outdir dist .
	$(BIN)/python -m tests.packaging.clean_environment dist/*.whl $(PYTHONS)

clean:
	rm -rf $(VENV) build dist demo .pytest_cache .ruff_cache .hypothesis
