# Everything for a plain machine without ROS, as an ordinary user. On a ROS 2 host: colcon build.
PYTHON ?= python3
ARGS ?=

BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# In a namespace of its own, away from a graph that may be running here.
CHECK := $(BIN)/telerobot up demo --check --namespace setup_check --without bag_recorder --without operator_console
INTERFACES := $(wildcard msg srv action msg/*.msg srv/*.srv action/*.action)
BUILD_FILES := CMakeLists.txt package.xml setup.py setup.cfg

# What computes on every core; then, one by one, what starts a graph. Both run, whatever the first finds; 5: none selected.
define pytest
	@units=0; $(BIN)/python -m pytest -n auto --maxprocesses 8 -m "not system$(1)" $(ARGS) || units=$$?; \
	graphs=0; $(BIN)/python -m pytest -m "system$(1)" $(ARGS) || graphs=$$?; \
	case $$units$$graphs in 00 | 05 | 50) ;; *) exit 1 ;; esac
endef

.PHONY: setup build demo test test-all docs lock clean distclean

setup: .venv/.built  ## .venv with the locked wheels, interfaces built, package installed editable

build:  ## build again, as after a change that make does not see
	@rm -f .venv/.built
	@$(MAKE) --no-print-directory .venv/.built

demo: setup  ## the whole graph with the simulated arm and a browser console; options in ARGS
	$(BIN)/telerobot demo $(ARGS)

test: setup  ## style, types, and every test but the slow ones
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(call pytest, and not slow)

test-all: setup  ## the slow ones too
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(call pytest,)

docs: setup  ## pages made from tables
	$(BIN)/telerobot graph --format markdown > docs/graph.md
	$(BIN)/telerobot params > docs/parameters.md
	$(BIN)/telerobot states > docs/states.md
	$(BIN)/python -m telerobot_nodes.motion.parameter_page > docs/gcmsf_parameters.md
	$(BIN)/python -m telerobot_nodes.tasks.page > docs/tasks.md

lock:  ## requirements.lock from setup.cfg and pyproject.toml; needs uv
	.ci/lock $(ARGS)

clean:  ## what building and testing leave behind
	rm -rf build install log *.egg-info .pytest_cache .hypothesis .mypy_cache .ruff_cache
	find telerobot_nodes test launch -name __pycache__ -prune -exec rm -rf {} +
	rm -f .venv/.built

distclean: clean  ## and the environment
	rm -rf .venv

.venv/.wheels: requirements.lock
	@$(PYTHON) .ci/check_host.py
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "Installing the wheels of requirements.lock into .venv (about 2 GB, once)"
	@$(PIP) --no-deps --requirement requirements.lock
	@touch $@

.venv/.built: .venv/.wheels $(INTERFACES) $(BUILD_FILES)
	@$(PYTHON) .ci/check_host.py
	@echo "Building the ROS interfaces and installing the package (about a minute)"
	@PATH="$(CURDIR)/$(BIN):$$PATH" PYTHONWARNINGS=ignore $(PIP) --no-deps --no-build-isolation --editable .
	@echo "Compiling the control loop and starting every node once (half a minute)"
	@$(BIN)/python -m telerobot_nodes.warm
	@$(CHECK) >build/check.log 2>&1 || { tail build/check.log; echo "telerobot: not every node starts: build/check.log"; }
	@touch $@
