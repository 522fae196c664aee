#!/usr/bin/env bash
# Installs the packages that paceline is built and checked with, if any is missing: on Debian 12 and 13, and on Ubuntu from
# 24.04 on. On other systems it installs nothing, and names the packages that are known to be equivalent.
#
#   tools/deps.sh            everything that the build, the tests and the checks need
#   tools/deps.sh --demo     only what is needed to build the program and to draw its figures
#   tools/deps.sh --page     also what the page of the explorer is built with; Node.js and npm too, if there is no Node.js
#   tools/deps.sh --explorer the same, and the browser in which it is tested
#   tools/deps.sh --firefox  only the other browser in which it can be tested
#   tools/deps.sh --bench    also what the benchmarks against other programs need
#   tools/deps.sh --python   only what is needed to build the Python module and to test it
#   tools/deps.sh --package  only what is needed to make packages of a page that is there
#   tools/deps.sh --fresh    only what tools/check_fresh.sh needs
#   tools/deps.sh --container only what tools/check_container.sh needs
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
packages_page=(libc++-19-dev-wasm32 libc++abi-19-dev-wasm32 wasi-libc libclang-rt-19-dev-wasm32) # clang-19 for WebAssembly
command -v node >/dev/null && command -v npm >/dev/null || packages_page+=(nodejs npm)
packages_browser=(chromium fonts-dejavu-core)
packages_python=(
    python3-dev pybind11-dev pybind11-json-dev
    python3-numpy python3-pandas python3-tqdm # what the module uses if it is there, besides matplotlib
    python3-pytest mypy
)
packages_package=(
    libopenmpi-dev python3-dev pybind11-dev pybind11-json-dev
    dpkg-dev file patchelf python3-wheel
)
packages_bench=(libsimgrid-dev python3-torch libopenblas0-openmp time) # the BLAS that PyTorch needs to be fast

case "$*" in
    --demo) ;;
    "") packages+=("${packages_checks[@]}") ;;
    --page) packages+=("${packages_page[@]}") ;;
    --explorer) packages+=("${packages_page[@]}" "${packages_browser[@]}") ;;
    --package) packages+=("${packages_package[@]}") ;;
    --bench) packages+=("${packages_checks[@]}" "${packages_bench[@]}") ;;
    --python) packages+=("${packages_python[@]}") ;;
    --firefox) packages=(firefox-esr) ;;
    --fresh) packages=(debootstrap util-linux git) ;;
    --container) packages=(debootstrap git buildah) ;;
    *) echo "usage: tools/deps.sh [--demo | --page | --explorer | --firefox | --bench | --python | --package | --fresh | --container]" >&2 && exit 2 ;;
esac

# Debian's name, Fedora's, conda-forge's. "-" is in another package of the list; "?" is not known. The names are from the
# pages of these distributions; nobody has built paceline with them yet.
equivalents='
clang-19             clang             clangxx=19
lld-19               lld               lld
g++                  gcc-c++           gxx
cmake                cmake             cmake
ninja-build          ninja-build       ninja
make                 make              make
git                  git               git
python3              python3           python
libboost-dev         boost-devel       libboost-devel
libboost-graph-dev   -                 -
libboost-random-dev  -                 -
libeigen3-dev        eigen3-devel      eigen=3.4
libspectra-dev       ?                 spectra-cpp
libfmt-dev           fmt-devel         fmt
libtbb-dev           tbb-devel         tbb-devel
zlib1g-dev           zlib-devel        zlib
libxxhash-dev        xxhash-devel      xxhash
nlohmann-json3-dev   json-devel        nlohmann_json
libcli11-dev         cli11-devel       cli11
libcpp-httplib-dev   cpp-httplib-devel cpp-httplib
python3-matplotlib   python3-matplotlib matplotlib
libopenmpi-dev       openmpi-devel     openmpi
openmpi-bin          -                 -
doctest-dev          doctest-devel     doctest
libbenchmark-dev     google-benchmark-devel benchmark
libmpfr-dev          mpfr-devel        mpfr
clang-format-19      clang-tools-extra clang-tools=19
clang-tidy-19        -                 -
python3-pandas       python3-pandas    pandas
python3-dev          python3-devel     -
pybind11-dev         pybind11-devel    pybind11
python3-numpy        python3-numpy     numpy
python3-tqdm         python3-tqdm      tqdm
python3-pytest       python3-pytest    pytest
mypy                 python3-mypy      mypy
nodejs               nodejs            nodejs
npm                  nodejs-npm        -
chromium             chromium          ?
firefox-esr          firefox           firefox
'

# equivalents_in COLUMN: names of that column for `packages`; then, if any, Debian's names of those that are not known.
equivalents_in() {
    local package name known=() unknown=()
    for package in "${packages[@]}"; do
        name=$(awk -v package="$package" -v column="$1" '$1 == package { print $column }' <<<"$equivalents")
        case $name in
            "" | "?") unknown+=("$package") ;;
            -) ;;
            *) known+=("$name") ;;
        esac
    done
    echo "    ${known[*]}"
    if ((${#unknown[@]} > 0)); then echo "  and the equivalents of Debian's: ${unknown[*]}"; fi
}

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    {
        echo "tools/deps.sh: this system has no apt, so nothing was installed. paceline is tested on Debian 12 and 13;"
        echo "on what follows nobody has tried it. It needs Clang 16 or later, and with another name than clang++-19:"
        echo "    cmake --preset release -D CMAKE_CXX_COMPILER=clang++ && cmake --build build/release"
        if command -v dnf >/dev/null || [[ -f /etc/fedora-release ]]; then
            echo "Fedora's packages, as far as they are known (dnf install ...):"
            equivalents_in 2
        else
            echo "conda-forge's packages, as far as they are known (conda install -c conda-forge ...):"
            equivalents_in 3
        fi
        echo "Debian's packages, for any other system:"
        echo "    ${packages[*]}"
    } >&2
    exit 1
fi

find_missing() { # sets `missing` to the packages that are not installed
    local installed package
    installed=" $(dpkg-query -W -f '${db:Status-Status}:${Package} ' "${packages[@]}" 2>/dev/null || true) "
    missing=()
    for package in "${packages[@]}"; do
        [[ $installed == *" installed:$package "* ]] || missing+=("$package")
    done
}

as_root=() # prefix that runs a command as root
reason=""  # what apt-get wrote to its standard error
waited=0
# Runs apt-get quietly. While another program holds one of apt's locks, it tries again, for up to 15 minutes in all; apt's
# own option for this (DPkg::Lock::Timeout) covers neither `update` nor the lock of the downloaded packages.
apt_get() {
    local lock
    until reason=$("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive DEBCONF_NOWARNINGS=yes LC_ALL=C \
        apt-get --yes -qq -o Dpkg::Use-Pty=0 "$@" </dev/null 2>&1 >/dev/null); do
        [[ $reason == *"Could not get lock "* ]] && ((waited < 900)) || return 1
        lock=${reason#*Could not get lock }
        ((waited > 0)) || echo "waiting for up to 15 minutes for the lock ${lock%%$'\n'*}"
        sleep 1
        waited=$((waited + 1))
    done
}

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
if ! apt_get --simulate "${install[@]}" || ! apt_get "${install[@]}"; then
    apt_get update || true
    reason_of_update=$reason
    apt_get "${install[@]}" || true
fi

find_missing
if ((${#missing[@]} > 0)); then
    printf '%s\n' ${reason_of_update:+"$reason_of_update"} "$reason" >&2
    exit 1
fi
echo "installed"
