#!/usr/bin/env bash
# Installs what a part of paceline is built with, if it is missing, and builds the part: with preset release, as a user
# does, or with the preset named. The Makefile and tools/checks.py build with nothing else.
#
#   tools/build.sh program            build/release/paceline
#   tools/build.sh all                everything but the next four
#   tools/build.sh papers             build/release/tests/papers/paceline_papers, which lists the papers that tests follow
#   tools/build.sh module             the Python module, build/release/python
#   tools/build.sh page               the page of `paceline explore`, build/explorer
#   tools/build.sh fuzz               build/asan/tests/fuzz/paceline_fuzz
#   tools/build.sh PRESET TARGET...   targets of CMake
#
# PACELINE_WERROR=ON turns warnings into errors, which a user's build never does.
set -euo pipefail
cd "$(dirname "$0")/.."

options=()
build() { # build PRESET TARGET...
    if [[ $1 == release ]]; then options+=(-D PACELINE_TESTS=ON); fi # whoever writes one part configures some tests
    if [[ -n ${PACELINE_WERROR:-} ]]; then options+=(-D "PACELINE_WERROR=$PACELINE_WERROR"); fi
    cmake --preset "$1" "${options[@]}" --log-level=NOTICE
    cmake --build "build/$1" --target "${@:2}"
}

case "$*" in
    program) tools/deps.sh --demo && build release paceline ;;
    all) tools/deps.sh && build release all ;;
    papers) tools/deps.sh && build release paceline_papers ;;
    module)
        tools/deps.sh --python
        options+=(-D PACELINE_PYTHON_MODULE=ON)
        build release paceline paceline_python paceline_programs
        ;;
    page)
        tools/deps.sh "${PACELINE_PAGE_DEPS:---explorer}"
        build wasm paceline_engine
        (cd explorer && npm ci --no-audit --no-fund --ignore-scripts --loglevel=error && npx tsc --project .)
        node explorer/build.mjs build/wasm/explorer/engine build/explorer
        ;;
    fuzz) tools/deps.sh && build asan paceline_fuzz ;;
    *" "*) build "$@" ;;
    *) sed -n '5,12s/^# //p' "$0" >&2 && exit 2 ;;
esac
