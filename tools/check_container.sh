#!/usr/bin/env bash
# Builds the Containerfile of a clone of HEAD with buildah, and runs the demo's scenario in a container: the same bytes.
# The base image is made by debootstrap, so that no registry is needed; Debian's own is Debian's minbase, too. Needs root.
set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export STORAGE_DRIVER=vfs BUILDAH_ISOLATION=chroot
image() { buildah --root "$folder/root" --runroot "$folder/run" "$@"; }

base=$(sed -n 's/^FROM //p' "$top/Containerfile")
release=${base##*:}
debootstrap --variant=minbase "${release%-slim}" "$folder/system" >"$folder/log" 2>&1 || { cat "$folder/log" && exit 1; }
tar -C "$folder/system" -cf "$folder/system.tar" .
container=$(image from scratch)
image add --quiet "$container" "$folder/system.tar" /
image commit --quiet --rm "$container" "$base"

git clone --quiet --no-hardlinks "$top" "$folder/clone"
image build --quiet --pull-never --network host --tag paceline "$folder/clone"
container=$(image from --pull-never paceline)
image run "$container" -- /paceline/build/release/paceline run scenarios/dgc-speedup.json --quiet --out /tmp/results
image run "$container" -- sha256sum /tmp/results/results.csv | cut -c -16 >"$folder/hash"
grep -q "^$(cat "$folder/hash")  results.csv$" "$top/tests/fingerprints/hashes/scenarios/dgc-speedup.txt" || {
    echo "check_container: the main study has other bytes" >&2
    exit 1
}
echo "check_container: the image builds, and the main study has the same bytes"
