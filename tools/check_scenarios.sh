#!/usr/bin/env bash
# Checks that `paceline check` accepts every shipped scenario: all of its points, with their data.
#
#   tools/check_scenarios.sh PACELINE
set -euo pipefail
cd "$(dirname "$0")/.."

files=()
for file in scenarios/*.json scenarios/*/*.json; do
    case $file in
        *.schema.json | */published.json) ;;         # no scenarios
        */dgc-cifar-10.json | */dgc-ptb.json) ;;     # of data sets that do not ship
        *) files+=("$file") ;;
    esac
done
printf '%s\0' "${files[@]}" | xargs -0 -n 1 "$1" check >/dev/null
echo "check_scenarios: ${#files[@]} scenarios are accepted"
