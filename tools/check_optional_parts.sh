#!/usr/bin/env bash
# Checks that a configuration without any optional package builds what is left, and says what is off.
#
# Hides every package that cmake/OptionalParts.cmake looks for, and configures twice: as a user does who asks for the
# Python module, and with MPI required. tools/check_fresh.sh builds the program on a system where most of these packages
# are missing.
#
#   tools/check_optional_parts.sh [COMPILER]
set -euo pipefail

source=$(cd "$(dirname "$0")/.." && pwd)
compiler=${1:-clang++-19}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

hidden=(
    -D CMAKE_DISABLE_FIND_PACKAGE_MPI=ON -D CMAKE_DISABLE_FIND_PACKAGE_doctest=ON
    -D CMAKE_DISABLE_FIND_PACKAGE_benchmark=ON -D CMAKE_DISABLE_FIND_PACKAGE_SimGrid=ON
    -D CMAKE_DISABLE_FIND_PACKAGE_pybind11=ON -D CMAKE_DISABLE_FIND_PACKAGE_Httplib=ON
)

configure() { # configure NAME OPTION...: its output is in $folder/NAME.log
    local name=$1
    shift
    cmake -S "$source" -B "$folder/$name" -G Ninja -D CMAKE_CXX_COMPILER="$compiler" -D CMAKE_BUILD_TYPE=Release \
        -D PACELINE_UNITY=OFF -D PACELINE_PRECOMPILE=OFF "$@" >"$folder/$name.log" 2>&1
}

fail() {
    echo "check_optional_parts: $1" >&2
    cat "$2" >&2
    exit 1
}

says() { # says LOG TEXT
    grep -qF "$2" "$1" || fail "the configuration does not say '$2':" "$1"
}

log=$folder/without.log
configure without "${hidden[@]}" -D PACELINE_PYTHON_MODULE=ON || fail "the configuration without optional packages fails:" "$log"
says "$log" "Studies over MPI: off, MPI was not found (libopenmpi-dev, openmpi-bin)"
says "$log" "The server of paceline explore: off, cpp-httplib was not found (libcpp-httplib-dev)"
says "$log" "Tests: off, doctest, valijson or MPFR was not found (doctest-dev, libvalijson-dev, libmpfr-dev)"
says "$log" "Three of the benchmarks: off, Google Benchmark was not found (libbenchmark-dev)"
says "$log" "The comparison with SimGrid: off, SimGrid was not found (libsimgrid-dev)"
says "$log" "The Python module: off, pybind11, pybind11_json or Python's headers were not found"

log=$folder/required.log
! configure required "${hidden[@]}" -D PACELINE_MPI=ON || fail "PACELINE_MPI=ON is met where no MPI is:" "$log"
says "$log" "MPI"
echo "check_optional_parts: what is left builds, and what is off is said"
