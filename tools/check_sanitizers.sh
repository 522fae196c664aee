#!/usr/bin/env bash
# Runs tests under the address and undefined-behavior sanitizers, and the main study, whose results must have the bytes of
# the optimized program.
#
#   tools/check_sanitizers.sh          the part that fits into CI: the machine, the readers, nets and data, coroutines, and
#                                      whole runs of every algorithm
#   tools/check_sanitizers.sh --all    every test but those of the longest studies and of Python
set -euo pipefail
cd "$(dirname "$0")/.."

tests=ON rooms='' except='^app/studies/(mobile|failures)_figures'
if [[ ${1:-} != --all ]]; then
    rooms='(sim|models|algorithms|app/(host|json|run|scenario|study|(failing_)?islands))'
    except+='|^app/run/rounding'
    tests="/tests/$rooms"
fi
cmake --preset asan -D PACELINE_TESTS="$tests" -D PACELINE_BENCH=OFF -D PACELINE_INSTALL=OFF --log-level=WARNING
cmake --build build/asan --target paceline paceline_tests adding_tests
ctest --test-dir build/asan --output-on-failure --no-tests=error --parallel "$(nproc)" \
    --tests-regex "^$rooms.*_test\.cpp\$|^examples/adding\$" --exclude-regex "$except"
if [[ ${1:-} == --all ]]; then build/asan/tests/paceline_tests -tc='checkpoints*' -tce="*Young's interval wastes*"; fi
python3 -B tools/fingerprints.py build/asan/paceline --set shipped --once --only dgc-speedup --keep build/fingerprints/asan
