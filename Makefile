# The everyday commands of paceline; `make` lists them. The builds themselves are in CMakePresets.json.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

jobs := $(shell nproc 2>/dev/null || echo 2)
sources = $(wildcard $(shell git ls-files --cached --others --exclude-standard -- '*.cpp' '*.hpp'))

# .ci/run sets PACELINE_WERROR=ON in the environment. A user's build never fails for a warning.
werror = $(if $(PACELINE_WERROR),-D PACELINE_WERROR=$(PACELINE_WERROR))

# Whoever writes one part configures this preset with some tests (docs/adding), which `make` must not take for all.
all_tests = $(if $(filter release,$(1)),-D PACELINE_TESTS=ON)

# $(call build,PRESET,TARGET)
build = cmake --preset $(1) $(all_tests) $(werror) --log-level=NOTICE && cmake --build build/$(1) --target $(2)

# For clang-tidy, which reads sources one by one; the builds compile two dozen as one. Nothing is compiled in this
# folder.
lint_database = cmake --preset release -B build/lint -D PACELINE_UNITY=OFF -D PACELINE_PRECOMPILE=OFF --log-level=NOTICE

# $(call run_sanitized,FOLDER,TESTS,EXCEPT): Python's tests and two files of the longest studies are left out, too.
run_sanitized = ctest --test-dir $(1) --output-on-failure --no-tests=error --parallel $(jobs) --tests-regex '$(2).*_test\.cpp$$' \
	--exclude-regex '^app/studies/(mobile|failures)_figures$(3)'

.PHONY: help explorer test-explorer demo test python package fuzz bench calibrated claims trust validation comparison figures fingerprints reference deps format check \
        check-aarch64 check-container check-cpus check-embedded check-fingerprints check-fresh check-fingerprints-shipped check-instruction-sets check-native check-package check-reference check-attacks check-claims check-docs check-pages check-install check-callers check-format check-layers check-numerics check-lint check-lint-core check-lint-tests check-sanitizers check-sanitizers-core check-profiles check-scenarios check-trust check-validation

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-22s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

demo: ## build paceline, run the DGC speedup study and draw its figure
	@echo "demo: installs the Debian packages that are missing, builds paceline, runs scenarios/dgc-speedup.json and draws its figure"
	@tools/deps.sh --demo
	@$(call build,release,paceline)
	@build/release/paceline run scenarios/dgc-speedup.json
	@build/release/paceline plot results/dgc-speedup speedup --format svg,png >/dev/null
	@echo "every point: results/dgc-speedup/results.csv"
	@echo "this table:  results/dgc-speedup/table.txt"
	@echo "what ran:    results/dgc-speedup/manifest.json"
	@echo "the figure:  results/dgc-speedup/speedup.svg and speedup.png"

test: deps ## build everything and run every test
	@echo "test: builds preset release and runs every test"
	@$(call build,release,all)
	@ctest --preset release --parallel $(jobs)

python: ## build the Python module into build/release/python and run its tests
	@echo "python: builds the module with preset release, and runs tests/python with Debian's Python"
	@tools/deps.sh --python
	@cmake --preset release $(werror) -D PACELINE_PYTHON_MODULE=ON --log-level=NOTICE && \
		cmake --build build/release --target paceline_python paceline paceline_programs
	@PYTHONPATH=$(CURDIR)/build/release/python PACELINE_PROGRAM=$(CURDIR)/build/release/paceline \
		/usr/bin/python3 -B -m pytest -q tests/python

page_deps := --explorer
explorer: ## build the what-if page for a browser into build/explorer
	@echo "explorer: compiles the engine for WebAssembly, checks the types of the page and bundles it into build/explorer"
	@tools/deps.sh $(page_deps)
	@$(call build,wasm,paceline_engine)
	@cd explorer && npm ci --no-audit --no-fund --ignore-scripts --loglevel=error && npx tsc --project .
	@node explorer/build.mjs build/wasm/explorer/engine build/explorer

test-explorer: explorer ## use the page as a person would, in headless Chromium, and compare its numbers with paceline
	@echo "test-explorer: opens build/explorer in headless Chromium and compares its results with those of paceline run"
	@$(call build,release,paceline)
	@cd explorer && node --test tests/*.test.mjs

package: page_deps := --page # no browsers
package: explorer ## make a Debian package, an archive for any Linux and a Python wheel into build/packages
	@echo "package: builds with preset release in build/package, and packs program, page, scenarios and Python module"
	@tools/deps.sh --package
	@tools/make_packages.sh

fuzz: deps ## judge 10,000 faulty inputs, 2,000 with failing nodes and 10,000 networks under sanitizers (an hour; not in CI)
	@echo "fuzz: builds preset asan and runs paceline_fuzz; what is found stays in build/fuzz"
	@$(call build,asan,paceline_fuzz)
	@build/asan/tests/fuzz/paceline_fuzz --count 10000 --jobs $(jobs) --out build/fuzz
	@build/asan/tests/fuzz/paceline_fuzz --kind failures --count 2000 --seconds 300 --jobs $(jobs) --out build/fuzz
	@build/asan/tests/fuzz/paceline_fuzz --kind network --count 10000 --jobs $(jobs) --out build/fuzz

bench: ## benchmark paceline, and other simulators if installed
	@echo "bench: builds preset release and runs tools/bench.sh"
	@tools/deps.sh --bench
	@$(call build,release,all)
	@tools/bench.sh

validation: deps ## compare predictions with published measurements; writes docs/validation.md
	@echo "validation: runs scenarios/validation and writes docs/validation.md and its figure"
	@tools/deps.sh --demo
	@$(call build,release,paceline)
	@tools/validate.py build/release/paceline

calibrated: deps ## calibrate each validated testbed on three of its rows; writes docs/calibrated-testbeds.md (minutes)
	@echo "calibrated: runs scenarios/validation before and after, and writes docs/calibrated-testbeds.md"
	@tools/deps.sh --demo
	@$(call build,release,paceline)
	@tools/calibrate_testbeds.py build/release/paceline

trust: deps ## fit how far real steps are from predicted ones; writes docs/trust.md and analysis/trust/misses.hpp
	@echo "trust: runs scenarios/validation for intervals, and writes docs/trust.md and analysis/trust/misses.hpp"
	@$(call build,release,paceline)
	@tools/trust.py build/release/paceline
	@$(call build,release,paceline)

claims: deps ## run the studies behind docs/claims.md and write its tables (hours); CLAIM="A9 B10" runs some and prints them
	@echo "claims: runs the studies of the papers' claims"
	@tools/deps.sh --demo
	@$(call build,release,paceline)
	@tools/claims.py build/release/paceline $(CLAIM)

comparison: deps ## run every algorithm on one task; writes docs/comparison.md
	@echo "comparison: runs scenarios/all-algorithms.json and writes docs/comparison.md"
	@$(call build,release,paceline)
	@tools/compare_algorithms.py build/release/paceline

figures: deps python ## draw the figures of the documentation; writes docs/figures
	@echo "figures: runs four studies and the notebooks, and draws docs/figures"
	@$(call build,release,paceline)
	@tools/draw_figures.sh build/release/paceline

fingerprints: deps ## run every fingerprint scenario; writes the hashes to tests/fingerprints/fingerprints.txt
	@echo "fingerprints: runs tests/fingerprints and scenarios, long ones shortened, and writes the hashes"
	@$(call build,release,paceline)
	@python3 tools/fingerprints.py build/release/paceline --write --jobs $(jobs)

reference: deps ## write docs/reference.md from the schema, and the tables of algorithms in docs/
	@echo "reference: writes the tables of algorithms, docs/combinations.md and docs/reference.md"
	@$(call build,release,paceline)
	@tools/make_algorithm_tables.py build/release/paceline
	@tools/make_combinations.py build/release/paceline
	@$(call build,release,paceline_papers)
	@tools/make_papers_table.py build/release/tests/papers/paceline_papers
	@python3 tools/make_reference.py

deps: ## install missing Debian packages
	@echo "deps: looks for the Debian packages that the build needs"
	@tools/deps.sh

format: ## format every C++ file with clang-format
	@echo "format: rewrites the C++ files that differ from .clang-format"
	@clang-format-19 -i $(sources)

check: python check-format check-layers check-callers check-numerics check-profiles check-reference check-docs check-attacks check-install check-scenarios check-trust check-validation check-claims check-fingerprints check-instruction-sets check-native check-embedded check-cpus check-lint check-lint-tests check-sanitizers ## run all checks below except check-aarch64, check-container and check-package

check-package: package ## install the packages on bare Debian 12 and 13 without a compiler and use them (needs root; not in check)
	@tools/deps.sh --fresh
	@tools/check_packages.sh

check-container: ## build the Containerfile with buildah and run the demo's study in it (needs root; not in check)
	@tools/deps.sh --container
	@tools/check_container.sh

check-fresh: ## check that make demo and make test work on a bare Debian 12 (needs root; RELEASE=trixie has Debian 13; not in check)
	@tools/deps.sh --fresh
	@tools/check_fresh.sh

check-format: ## check the format of every C++ file, and that scripts can be executed
	@echo "check-format: compares the C++ files with .clang-format"
	@clang-format-19 --dry-run -Werror $(sources)
	@! { grep -nE '^.{101,}' $(filter-out tests/%,$(sources)); grep -nE '^[^"]{101,}$$' $(filter tests/%,$(sources)); true; } | grep . || { echo "check-format: these lines have more than 100 columns" >&2; exit 1; }
	@! find .ci bench examples tests tools -name '*.py' ! -perm -u=x -exec sh -c 'head -c 2 "$$1" | grep -q "^#!"' _ {} \; -print | grep . || { echo "check-format: these scripts have a first line #! and may not be executed" >&2; exit 1; }

check-layers: ## check that includes respect the layers
	@echo "check-layers: reads the includes of every C++ file"
	@python3 -B tools/check_layers.py --self-test
	@python3 -B tools/check_layers.py

check-callers: ## check that the product calls all that it declares
	@echo "check-callers: looks for functions, types and constants that nothing but the tests uses"
	@python3 -B tools/check_callers.py

check-numerics: ## check that no number depends on the machine
	@echo "check-numerics: looks for functions and sums that depend on the machine"
	@python3 -B tools/check_numerics.py --self-test
	@python3 -B tools/check_numerics.py

check-profiles: ## check that the profiles match tools/make_profiles.py
	@echo "check-profiles: makes the profiles again and compares"
	@python3 tools/make_profiles.py --check

check-reference: deps ## check docs/reference.md, the tables of algorithms and of keys, and all links in the docs
	@echo "check-reference: makes docs/reference.md and the tables of algorithms again, compares tables of keys with the schema, and follows the links of every page"
	@$(call build,release,paceline)
	@tools/make_algorithm_tables.py build/release/paceline --check
	@tools/make_combinations.py build/release/paceline --check
	@$(call build,release,paceline_papers)
	@tools/make_papers_table.py build/release/tests/papers/paceline_papers --check
	@python3 tools/make_reference.py --check
	@python3 tools/check_keys.py
	@python3 tools/check_links.py --self-test
	@python3 tools/check_links.py

check-pages: deps # for CI, where check-sanitizers-core checks docs/adding
	@echo "check-pages: runs the commands of docs/tutorial.md and docs/how-to"
	@$(call build,release,paceline)
	@python3 tools/check_pages.py --self-test
	@python3 tools/check_pages.py build/release/paceline

check-docs: check-pages ## check that the commands of the tutorial, the how-to pages and docs/adding do what the pages show
	@echo "check-docs: runs the commands of docs/adding in a tree with its patches"
	@python3 -B tools/check_adding.py

check-attacks: deps ## check that full disks, signals, odd files, hostile texts and small limits do no harm
	@echo "check-attacks: runs tests/attacks; those that mount a small disk need root, and are skipped and told without"
	@$(call build,release,paceline)
	@python3 -B tests/attacks/attacks.py build/release/paceline

check-install: deps ## check that an installation runs, that another program can use its libraries, and that nothing optional is required
	@echo "check-install: installs into a folder of its own and builds tests/consumer against it"
	@$(call build,release,all)
	@tools/check_install.sh build/release
	@tools/check_optional_parts.sh

# Scenarios of data sets that do not ship.
needs_files = %/dgc-cifar-10.json %/dgc-ptb.json

check-scenarios: deps ## check that the shipped scenarios are accepted
	@echo "check-scenarios: reads every point of every shipped scenario, with its data"
	@$(call build,release,paceline)
	@for file in $(filter-out %.schema.json %/published.json $(needs_files),$(wildcard scenarios/*.json scenarios/*/*.json)); do \
		build/release/paceline check $$file >/dev/null || exit 1; done

check-validation: deps ## check docs/validation.md against the studies
	@echo "check-validation: runs scenarios/validation and compares"
	@$(call build,release,paceline)
	@tools/validate.py build/release/paceline --check

check-trust: deps ## check docs/trust.md and its aims against the studies
	@echo "check-trust: runs scenarios/validation for intervals, and compares"
	@$(call build,release,paceline)
	@tools/trust.py build/release/paceline --check

check-claims: deps ## check docs/claims.md: whole rows where a study takes seconds, the fixed cells of all others
	@echo "check-claims: runs the quick studies of docs/claims.md and compares"
	@$(call build,release,paceline)
	@tools/claims.py build/release/paceline --check

check-fingerprints: deps ## check that all scenarios give the checked-in hashes, in every variant
	@echo "check-fingerprints: runs tests/fingerprints and scenarios, long ones shortened, and compares hashes"
	@$(call build,release,paceline)
	@python3 tools/fingerprints.py --self-test >/dev/null
	@python3 tools/fingerprints.py build/release/paceline --jobs $(jobs)

# For CI, where `make test` has already run the small scenarios.
check-fingerprints-shipped: deps
	@echo "check-fingerprints-shipped: runs scenarios, long ones shortened, and compares hashes"
	@$(call build,release,paceline)
	@python3 tools/fingerprints.py build/release/paceline --set shipped --jobs $(jobs)

check-instruction-sets: deps ## run the tests of nets and algorithms under every instruction set of this machine
	@echo "check-instruction-sets: runs the tests in tests/models and tests/algorithms under each PACELINE_ISA"
	@$(call build,release,all)
	@python3 tools/fingerprints.py build/release/paceline --instruction-sets | \
		xargs --max-procs=$(jobs) --replace={} bash -c 'export PACELINE_ISA={}; said=$$(build/release/tests/paceline_tests \
			--source-file="*/tests/models/*,*/tests/algorithms/*" 2>&1); code=$$?; echo "PACELINE_ISA={}: $$said"; exit $$code'

check-native: deps ## check that a build for this very CPU gives the same bytes (not in CI)
	@echo "check-native: compiles paceline with -march=native into build/native, and compares hashes"
	@cmake --preset release -B build/native -D PACELINE_ARCH=native -D PACELINE_WERROR=OFF -D PACELINE_TESTS=OFF \
		-D PACELINE_BENCH=OFF -D PACELINE_INSTALL=OFF --log-level=NOTICE && cmake --build build/native --target paceline
	@python3 tools/fingerprints.py build/native/paceline --set coverage --keep build/fingerprints/native --jobs $(jobs)

check-embedded: deps ## check that the libraries that need no threads and no files give the same bytes, compiled for this very CPU
	@echo "check-embedded: builds preset embedded, which has no oneTBB and -march=native, and compares results of scenarios in memory"
	@$(call build,release,paceline)
	@cmake --preset embedded -D PACELINE_ARCH=native $(werror) --log-level=NOTICE && cmake --build build/embedded --target all
	@ctest --preset embedded

check-cpus: deps ## check that an old CPU is refused in one line and that other CPUs give the same bytes (under qemu)
	@echo "check-cpus: runs paceline on an emulated Nehalem, Haswell and EPYC"
	@$(call build,release,paceline)
	@tools/check_cpus.sh build/release/paceline

check-aarch64: deps ## check that paceline compiles for aarch64 and gives the same bytes there (under qemu; not in CI)
	@echo "check-aarch64: fetches Debian's arm64 packages into build/aarch64-sysroot, compiles, and compares hashes"
	@tools/aarch64_sysroot.sh build/aarch64-sysroot
	@$(call build,aarch64,paceline)
	@python3 tools/fingerprints.py build/aarch64/paceline --set coverage --time-limit 1800 \
		--under "qemu-aarch64 -L build/aarch64-sysroot" --keep build/fingerprints/aarch64 --jobs $(jobs)

check-lint-core: deps # runs the checks of .ci/lint-checks over what the last 40 commits changed in the product, and a sixteenth of the rest
	@echo "check-lint-core: runs the checks of .ci/lint-checks over changed .cpp files, but for the tests, and over a sixteenth of the rest"
	@$(lint_database)
	@python3 tools/lint_batches.py build/lint --jobs $(jobs) --changed-in 40 --share 16

check-lint: deps ## check the product with clang-tidy
	@echo "check-lint: runs clang-tidy over every .cpp file but the tests"
	@$(lint_database)
	@run-clang-tidy-19 -p build/lint -quiet -j $(jobs) '^(?!.*/(build|tests)/).*\.cpp$$'

check-lint-tests: deps ## check the tests with clang-tidy (not in CI)
	@echo "check-lint-tests: runs clang-tidy over every .cpp file of the tests"
	@$(lint_database)
	@run-clang-tidy-19 -p build/lint -quiet -j $(jobs) '/tests/.*\.cpp$$'

check-sanitizers: deps ## run the tests under address and undefined-behavior sanitizers
	@echo "check-sanitizers: builds preset asan and runs every test but those of the longest studies and of Python"
	@cmake --preset asan --log-level=NOTICE -D PACELINE_TESTS=ON && cmake --build build/asan
	@$(call run_sanitized,build/asan)
	@build/asan/tests/paceline_tests -tc='checkpoints*' -tce="*Young's interval wastes*"

# The part that fits into CI: the machine, the readers, nets and data, coroutines, and whole runs of every algorithm. What is
# built has the patches of docs/adding, so that CI compiles once for these pages and for the sanitizers.
core := (sim|models|algorithms|app/(host|json|run|scenario|study|(failing_)?islands))
check-sanitizers-core: deps
	@echo "check-sanitizers-core: the same of the tests in tests/sim, tests/models, tests/algorithms and much of tests/app, and docs/adding"
	@python3 -B tools/check_adding.py --sanitizers '/tests/$(core)'
	@$(call run_sanitized,build/adding/sanitized/build/release,^$(core),|^app/run/rounding)
