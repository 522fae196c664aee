#!/usr/bin/env bash
# Runs paceline on CPUs that this machine does not have, which qemu-user emulates.
#
# - Nehalem has neither AVX2 nor FMA: the program prints one line that names them, and exits with 2.
# - Of Haswell (Intel) and EPYC (AMD), which have both, the one of the other maker than this machine: small scenarios give
#   the bytes on record, as they do on this machine in the tests.
#   qemu computes every instruction exactly as the manuals say, except for approximations such as rsqrtps, whose bits
#   differ between makers: code that uses one fails here or on the machine itself.
#
#   tools/check_cpus.sh PROGRAM [NAME,NAME]    the scenarios (default: small-nets,algorithms,draws)
set -euo pipefail
cd "$(dirname "$0")/.."

if (($# < 1 || $# > 2)) || [[ $1 == -* ]]; then
    echo "usage: tools/check_cpus.sh PROGRAM [NAME,NAME]" >&2
    exit 2
fi
program=$1
scenarios=${2:-small-nets,algorithms,draws}
if ! command -v qemu-x86_64 >/dev/null; then
    echo "tools/check_cpus.sh: qemu-x86_64 is not installed (Debian's qemu-user)" >&2
    exit 1
fi

# An old CPU is refused before the program does anything else.
ulimit -c 0 # an illegal instruction, the usual fault here, would leave a core file
code=0
said=$(qemu-x86_64 -cpu Nehalem "$program" --version 2>&1) || code=$?
said=$(grep -v '^qemu-x86_64: warning:' <<<"$said") || true # features that qemu does not emulate
if ((code != 2)) || (($(wc -l <<<"$said") != 1)) || [[ $said != *AVX2* || $said != *FMA* ]]; then
    echo "check_cpus: on a Nehalem the program ended with $code instead of 2 and one line about AVX2 and FMA; it said:" >&2
    echo "$said" >&2
    exit 1
fi
echo "Nehalem: $said"

cpu=EPYC
if grep -q AuthenticAMD /proc/cpuinfo; then cpu=Haswell; fi
echo "$cpu:"
python3 -B tools/fingerprints.py "$program" --set coverage --only "$scenarios" --under "qemu-x86_64 -cpu $cpu" \
    --keep "build/fingerprints/$cpu" --time-limit 900 --jobs "$(nproc)"
