#!/usr/bin/env bash
# Installs and uses the packages on bare systems of Debian 12 and 13 without a compiler (tools/use_packages.sh).
#
# build/packages has those for this machine's release and build/explorer the page (make package); those for the other
# release are made on a bare system, too. Needs root, as tools/check_fresh.sh does.
set -euo pipefail
cd "$(dirname "$0")/.."

here=$(. /etc/os-release && echo "$VERSION_CODENAME")
cp -rT build/explorer build/packages/explorer
for release in bookworm trixie; do
    if [[ $release != "$here" ]]; then
        RELEASE=$release tools/check_fresh.sh --packages \
            "cp -r build/packages/explorer build/ && tools/deps.sh --package && tools/make_packages.sh"
    fi
done
for release in bookworm trixie; do
    RELEASE=$release tools/check_fresh.sh --packages tools/use_packages.sh
done
