#!/usr/bin/env bash
# Installs the Debian 12 packages that paceline is built and checked with, if any is missing.
# With --bench, also what only the benchmarks against other programs need; with --qemu, also the emulator that runs
# paceline on CPUs that this machine does not have.
set -euo pipefail

packages=(
    clang-19 lld-19 g++ # g++ for the headers of the standard library
    libclang-rt-19-dev llvm-19 # the sanitizers, and the symbolizer that names lines in their reports
    clang-format-19 clang-tidy-19
    cmake ninja-build make git python3
    libboost-dev libboost-graph-dev libboost-random-dev libeigen3-dev libspectra-dev libfmt-dev libtbb-dev
    zlib1g-dev libxxhash-dev
    libopenmpi-dev openmpi-bin # studies over several machines
    nlohmann-json3-dev libcli11-dev libvalijson-dev
    doctest-dev libbenchmark-dev
    python3-matplotlib # figures
)
packages_bench=(libsimgrid-dev python3-torch libopenblas0-openmp time) # the BLAS that PyTorch needs to be fast

case "$*" in
    "") ;;
    --bench) packages+=("${packages_bench[@]}") ;;
    --qemu) packages+=(qemu-user) ;;
    *) echo "usage: tools/deps.sh [--bench | --qemu]" >&2 && exit 2 ;;
esac

find_missing() { # sets `missing` to the packages that are not installed
    local installed package
    installed=" $(dpkg-query -W -f '${db:Status-Status}:${Package} ' "${packages[@]}" 2>/dev/null || true) "
    missing=()
    for package in "${packages[@]}"; do
        [[ $installed == *" installed:$package "* ]] || missing+=("$package")
    done
}

as_root=() # what a command needs before it to run as root
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

# The lists of packages are renewed only when the ones at hand do not lead to every package.
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
