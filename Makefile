# The everyday commands of paceline; `make` lists them. Builds are in CMakePresets.json and tools/build.sh, checks in
# docs/checks.md.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

jobs := $(shell nproc 2>/dev/null || echo 2)
program := build/release/paceline

.PHONY: help demo test changed check checks python explorer test-explorer package deps format reference fingerprints \
        validation calibrated trust claims comparison figures fuzz bench

help: ## list these commands
	@awk -F ':.*## ' '/^[a-zA-Z0-9-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

demo: ## build paceline, run the DGC speedup study and draw its figure
	@echo "demo: installs the Debian packages that are missing, builds paceline, runs scenarios/dgc-speedup.json and draws its figure"
	@tools/build.sh program
	@$(program) run scenarios/dgc-speedup.json
	@$(program) plot results/dgc-speedup speedup --format svg,png >/dev/null
	@echo "every point: results/dgc-speedup/results.csv"
	@echo "this table:  results/dgc-speedup/table.txt"
	@echo "what ran:    results/dgc-speedup/manifest.json"
	@echo "the figure:  results/dgc-speedup/speedup.svg and speedup.png"

test: ## build everything and run every test
	@echo "test: builds preset release and runs every test"
	@tools/build.sh all
	@ctest --preset release --parallel $(jobs)

changed: deps ## check what a branch changed: sources, tests of touched rooms, pages that name touched keys
	@tools/changed.py

check: deps ## run every check but those that need a system of their own (hours); make check-NAME runs one
	@tools/checks.py --stage sources --stage bare --stage builds --stage more

checks: ## list the checks, what each protects, and the minutes of each stage
	@tools/checks.py

check-%:
	@tools/checks.py $*

python: ## build the Python module into build/release/python and run its tests
	@tools/checks.py python

explorer: ## build the what-if page for a browser into build/explorer
	@tools/build.sh page

test-explorer: ## use the page as a person would, in headless Chromium and in Firefox
	@tools/checks.py engine explorer firefox

package: ## make a Debian package, an archive for any Linux and a Python wheel into build/packages
	@echo "package: builds with preset release in build/package, and packs program, page, scenarios and Python module"
	@PACELINE_PAGE_DEPS=--page tools/build.sh page
	@tools/deps.sh --package
	@tools/make_packages.sh

deps: ## install missing Debian packages
	@tools/deps.sh

format: ## format every C++ file with clang-format
	@git ls-files --cached --others --exclude-standard -- '*.cpp' '*.hpp' | xargs -r ls 2>/dev/null | xargs clang-format-19 -i

reference: ## write the pages and tables that are made from the schema, the program and the tests
	@tools/build.sh program
	@tools/build.sh papers
	@tools/make_algorithm_tables.py $(program)
	@tools/make_papers_table.py build/release/tests/papers/paceline_papers
	@tools/make_reference.py build/docs $(program)

fingerprints: ## run every fingerprint scenario and write the hashes of its tables
	@tools/build.sh program
	@tools/fingerprints.py $(program) --write --jobs $(jobs)

validation: ## compare predictions with published measurements; writes docs/validation.md
	@tools/build.sh program
	@tools/validate.py $(program)

calibrated: ## calibrate each validated testbed on three of its rows; writes docs/calibrated-testbeds.md (minutes)
	@tools/build.sh program
	@tools/calibrate_testbeds.py $(program)

trust: ## fit how far real steps are from predicted ones; writes docs/trust.md and analysis/trust/misses.hpp
	@tools/build.sh program
	@tools/trust.py $(program)
	@tools/build.sh program

claims: ## run the studies behind docs/claims.md and write its tables (hours); CLAIM="A9 B10" runs some and prints them
	@tools/build.sh program
	@tools/claims.py $(program) $(CLAIM)

comparison: ## run every algorithm on one task; writes docs/comparison.md
	@tools/build.sh program
	@tools/compare_algorithms.py $(program)

figures: python ## draw the figures of the documentation; writes docs/figures
	@tools/draw_figures.sh $(program)

fuzz: ## judge 10,000 faulty inputs, 2,000 with failing nodes and 10,000 networks under sanitizers (an hour)
	@tools/build.sh fuzz
	@build/asan/tests/fuzz/paceline_fuzz --count 10000 --jobs $(jobs) --out build/fuzz
	@build/asan/tests/fuzz/paceline_fuzz --kind failures --count 2000 --seconds 300 --jobs $(jobs) --out build/fuzz
	@build/asan/tests/fuzz/paceline_fuzz --kind network --count 10000 --jobs $(jobs) --out build/fuzz

bench: ## benchmark paceline, and other simulators if installed
	@tools/deps.sh --bench
	@tools/build.sh all
	@tools/bench.sh
