#!/usr/bin/env bash
# Checks that C++ files are formatted, that their lines have at most 100 columns, and that scripts may be executed.
# `make format` formats.
set -euo pipefail
cd "$(dirname "$0")/.."

mapfile -t sources < <(git ls-files --cached --others --exclude-standard -- '*.cpp' '*.hpp' | while read -r file; do
    if [[ -f $file ]]; then echo "$file"; fi
done)
printf '%s\0' "${sources[@]}" | xargs -0 -n 128 -P "$(nproc)" clang-format-19 --dry-run -Werror

# Tests may have longer texts between quotes.
wide=$(awk 'length($0) > 100 && !(FILENAME ~ /^tests\// && /"/) { print FILENAME ":" FNR ": " $0 }' "${sources[@]}")
scripts=$(find .ci bench examples tests tools -name '*.py' ! -perm -u=x -exec sh -c 'head -c 2 "$1" | grep -q "^#!"' _ {} \; -print)
if [[ -n $wide ]]; then printf 'check_format: these lines have more than 100 columns:\n%s\n' "$wide" >&2; fi
if [[ -n $scripts ]]; then printf 'check_format: these scripts begin with #! and may not be executed:\n%s\n' "$scripts" >&2; fi
[[ -z $wide$scripts ]]
