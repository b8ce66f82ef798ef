# Everything for a plain machine without ROS, as an ordinary user. On a ROS 2 host: colcon build.
PYTHON ?= python3
ARGS ?=

BIN := .venv/bin
# What is compiled while the interfaces are built.
COMPILED := demo
INTERFACES := $(wildcard msg srv action msg/*.msg srv/*.srv action/*.action)
BUILD_FILES := CMakeLists.txt package.xml setup.py setup.cfg

# Style; what computes, on every core; then, one by one, what starts a graph. All run, whatever the first finds; 5: none
# selected. A test of the graph whose end hangs outside of Python, beyond every time limit of its own, ends the run.
define pytest
	@style=0; $(MAKE) --no-print-directory style || style=$$?; units=0; $(BIN)/python -m pytest -n auto --maxprocesses 8 --dist loadscope -m "not system$(1)" --junitxml=build/tests/units.xml $(ARGS) || units=$$?; \
	graphs=0; $(BIN)/python -m pytest -o faulthandler_timeout=960 -o faulthandler_exit_on_timeout=true -m "system$(1)" --junitxml=build/tests/graphs.xml $(ARGS) || graphs=$$?; \
	case $$style$$units$$graphs in 000 | 005 | 050) ;; *) exit 1 ;; esac
endef

.PHONY: setup develop robots build demo quick test test-all style docs wheel lock clean distclean

setup: .venv/.built  ## .venv with the locked wheels, interfaces built, package installed editable

develop: COMPILED := all
develop: .venv/.develop  ## and what testing and the documentation need; sources that changed since are compiled again
	@$(PYTHON) .ci/set_up.py compiled

robots: setup  ## models of other robots: panda, ur5
	@$(PYTHON) .ci/set_up.py robots

build:  ## build again, as after a change that make does not see
	@rm -f .venv/.built
	@$(MAKE) --no-print-directory .venv/.built

demo: setup  ## the whole graph with the simulated arm and a browser console; options in ARGS
	$(BIN)/telerobot demo $(ARGS)

quick: develop  ## the tests that compute and are quick, without a graph
	$(BIN)/ruff check .
	$(BIN)/python -m pytest -n auto --maxprocesses 8 --dist loadscope -m "not system and not slow and not nightly and not lengthy" $(ARGS)

test: develop  ## style, types, and every test but the slow and the nightly ones
	$(call pytest, and not slow and not nightly)

test-all: develop  ## the slow and the nightly ones too
	$(call pytest,)

style: .venv/.develop  ## what pre-commit runs
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: .venv/.develop  ## pages generated from tables, and the site of all pages under build/site
	$(BIN)/python -m telerobot_nodes.pages docs
	$(BIN)/mkdocs build --strict --quiet

wheel: setup  ## dist/telerobot-VERSION.whl with the interfaces inside
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir dist .

lock: setup  ## the two locks from setup.cfg and pyproject.toml
	$(BIN)/python .ci/lock $(ARGS)

clean:  ## what building and testing leave behind
	rm -rf build dist install log *.egg-info .pytest_cache .hypothesis .mypy_cache .ruff_cache
	find telerobot_nodes test launch -name __pycache__ -prune -exec rm -rf {} +
	rm -f .venv/.built .venv/.develop

distclean: clean  ## and the environment
	rm -rf .venv

.venv/.wheels: requirements.lock
	@$(PYTHON) .ci/check_host.py
	@$(PYTHON) .ci/set_up.py run
	@touch $@

.venv/.built: .venv/.wheels $(INTERFACES) $(BUILD_FILES)
	@$(PYTHON) .ci/check_host.py
	@$(PYTHON) .ci/set_up.py build $(COMPILED)
	@touch $@

.venv/.develop: .venv/.built requirements-dev.lock
	@$(PYTHON) .ci/set_up.py develop
	@touch $@
