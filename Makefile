# Everything runs in a virtual environment in this checkout; the system's Python is left alone.
PYTHON ?= python3
BIN := .venv/bin
KERNELS := $(shell find src/matroid_bandits/_core -name "*.pyx" -o -name "*.pxd")

.PHONY: help coverage review changelog reproduce compare delays change large features identify serve bench-service test-browser test test-checked test-archive test-sanitized test-sage build/archive/wheel lint format type bench sage dev clean

help:  ## show the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

.venv/ready: pyproject.toml setup.py src/matroid_bandits/_version.py $(KERNELS)
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "building the package in .venv (a minute or two the first time) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
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
	$(BIN)/python -m pytest -n auto $(ARGS)

# A wheel of the source archive, with bounds checks: one build of the kernels for the next two targets.
build/archive/wheel: dev
	@rm -rf build/archive && mkdir -p build/archive
	$(BIN)/python -m build --sdist --outdir build/archive . > build/archive/log
	MATROID_BANDITS_CHECKED=1 $(BIN)/python -m pip wheel --quiet --disable-pip-version-check \
		--no-deps --wheel-dir $@ build/archive/matroid_bandits-*.tar.gz

test-checked: build/archive/wheel  ## the tests of kernels, on kernels built with bounds checks
	@rm -rf build/checked
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --target build/checked $</*.whl
	PYTHONPATH=build/checked MATROID_BANDITS_CHECKED=1 $(BIN)/python -m pytest -n auto $(ARGS) \
		tests/contracts tests/differential tests/fuzz tests/unit

test-archive: build/archive/wheel  ## the source archive installs into an empty environment and works
	$(PYTHON) -m venv --clear build/archive/venv
	build/archive/venv/bin/python -m pip install --quiet --disable-pip-version-check $</*.whl
	cd build/archive && venv/bin/matroid-bandits simulate --matroid K5 --horizon 1000 --runs 2
	cd build/archive && venv/bin/matroid-bandits reproduce --list

test-sanitized: dev  ## random calls and the tests of kernels, on kernels built with AddressSanitizer and UBSan
	MATROID_BANDITS_SANITIZED=1 $(BIN)/python setup.py --quiet build --build-lib build/sanitized
	PYTHONPATH=build/sanitized LD_PRELOAD=$$(gcc -print-file-name=libasan.so) PYTHONMALLOC=malloc \
		ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 FUZZ=300 \
		$(BIN)/python -m pytest -n auto $(ARGS) tests/fuzz tests/contracts tests/differential

test-sage: dev .venv-sage/ready  ## every class and composition against SageMath's matroids
	PYTHONPATH=src .venv-sage/bin/python -m pytest tests/sage src/matroid_bandits/adapters/sage.py $(ARGS)

test-browser: dev  ## the dashboard in a real browser (needs chromium and chromedriver; skipped without)
	$(BIN)/python -m pytest $(ARGS) tests/browser

# The second part has kernels with line tracing, a hundred times slower: in a copy of the checkout, because
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

sage: .venv-sage/ready  ## SageMath's matroids in an environment of their own, for make bench and test-sage

clean:  ## remove what was built
	rm -rf .venv .venv-sage build dist src/*.egg-info
	find src/matroid_bandits/_core -name "*.so" -delete
