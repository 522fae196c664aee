#!/usr/bin/env bash
# Installs the Debian 12 packages that paceline is built and checked with, if any is missing.
#
#   tools/deps.sh            everything that the build, the tests and the checks need
#   tools/deps.sh --demo     only what is needed to build the program and to draw its figures
#   tools/deps.sh --explorer also what the explorer is built and tested with; Node.js 20 with npm, not from Debian, too
#   tools/deps.sh --bench    also what the benchmarks against other programs need
#   tools/deps.sh --python   only what is needed to build the Python module and to test it
set -euo pipefail

packages=(
    clang-19 lld-19 g++ # g++ for the headers of the standard library
    cmake ninja-build make git python3
    libboost-dev libboost-graph-dev libboost-random-dev libeigen3-dev libspectra-dev libfmt-dev libtbb-dev
    zlib1g-dev libxxhash-dev
    nlohmann-json3-dev libcli11-dev libcpp-httplib-dev
    python3-matplotlib # figures
)
packages_checks=(
    libopenmpi-dev openmpi-bin # optional: studies on several machines
    libvalijson-dev doctest-dev libbenchmark-dev
    libmpfr-dev # the tests' reference for elementary functions
    qemu-user # runs the program on CPUs that this machine does not have
    libclang-rt-19-dev llvm-19 # the sanitizers, and the symbolizer that names lines in their reports
    clang-format-19 clang-tidy-19
    python3-pandas # docs/how-to/read-results.md
)
packages_explorer=(
    libc++-19-dev-wasm32 libc++abi-19-dev-wasm32 wasi-libc libclang-rt-19-dev-wasm32 # clang-19 for WebAssembly
    chromium fonts-dejavu-core
)
packages_python=(
    python3-dev pybind11-dev pybind11-json-dev
    python3-numpy python3-pandas python3-tqdm # what the module uses if it is there, besides matplotlib
    python3-pytest mypy
)
packages_bench=(libsimgrid-dev python3-torch libopenblas0-openmp time) # the BLAS that PyTorch needs to be fast

case "$*" in
    --demo) ;;
    "") packages+=("${packages_checks[@]}") ;;
    --explorer) packages+=("${packages_explorer[@]}") ;;
    --bench) packages+=("${packages_checks[@]}" "${packages_bench[@]}") ;;
    --python) packages+=("${packages_python[@]}") ;;
    *) echo "usage: tools/deps.sh [--demo | --explorer | --bench | --python]" >&2 && exit 2 ;;
esac

find_missing() { # sets `missing` to the packages that are not installed
    local installed package
    installed=" $(dpkg-query -W -f '${db:Status-Status}:${Package} ' "${packages[@]}" 2>/dev/null || true) "
    missing=()
    for package in "${packages[@]}"; do
        [[ $installed == *" installed:$package "* ]] || missing+=("$package")
    done
}

as_root=() # prefix that runs a command as root
apt_get() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get --yes -qq -o Dpkg::Use-Pty=0 "$@" </dev/null
}

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "tools/deps.sh knows Debian and Ubuntu only. Install the equivalents of: ${packages[*]}" >&2
    exit 1
fi
find_missing
if ((${#missing[@]} == 0)); then
    echo "everything is installed"
    exit 0
fi

echo "installing: ${missing[*]}"
if ((EUID != 0)); then
    if ! command -v sudo >/dev/null; then
        echo "tools/deps.sh: run it as root, or install sudo" >&2
        exit 1
    fi
    as_root=(sudo)
fi

# The package lists are updated only if the present ones do not have every package.
install=(install --no-install-recommends "${missing[@]}")
if ! apt_get --simulate "${install[@]}" >/dev/null 2>&1 || ! apt_get "${install[@]}"; then
    apt_get update || echo "tools/deps.sh: apt-get update failed; trying with the lists at hand" >&2
    apt_get "${install[@]}" || true
fi

find_missing
if ((${#missing[@]} == 0)); then
    echo "installed"
    exit 0
fi
for package in "${missing[@]}"; do
    if apt_get --simulate install --no-install-recommends "$package" >/dev/null 2>&1; then
        echo "tools/deps.sh: not installed: $package" >&2
    else
        echo "tools/deps.sh: apt cannot install $package; paceline is built on Debian 12" >&2
    fi
done
exit 1
