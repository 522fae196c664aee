#!/usr/bin/env bash
# Unpacks the Debian 12 packages for arm64 that paceline needs into a folder, for cmake/aarch64-linux-gnu.cmake.
# Installs nothing on this machine: apt keeps its arm64 package lists inside the folder, and dpkg only unpacks.
#
#   tools/aarch64_sysroot.sh FOLDER
set -euo pipefail

packages=(
    libc6 libc6-dev linux-libc-dev libcrypt1 libgcc-s1 libgcc-12-dev libstdc++6 libstdc++-12-dev
    libfmt-dev libfmt9 libtbb-dev libtbb12 libtbbmalloc2 libtbbbind-2-5 zlib1g zlib1g-dev libxxhash-dev
    libboost1.74-dev libeigen3-dev libspectra-dev nlohmann-json3-dev libcli11-dev doctest-dev
)

if (($# != 1)) || [[ $1 == -* ]]; then
    echo "usage: tools/aarch64_sysroot.sh FOLDER" >&2
    exit 2
fi
mkdir -p "$1"
folder=$(cd "$1" && pwd)
if [[ -e $folder/.complete && $(cat "$folder/.complete") == "${packages[*]}" ]]; then
    echo "everything is unpacked in $folder"
    exit 0
fi

apt=$folder/.apt
mkdir -p "$apt"/state/lists/partial "$apt"/cache/archives/partial "$apt"/debs
: >"$apt/status"
options=(-qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State="$apt/state"
    -o Dir::State::status="$apt/status" -o Dir::Cache="$apt/cache" -o APT::Sandbox::User=)
echo "fetching ${#packages[@]} arm64 packages into $folder"
apt-get "${options[@]}" update
(cd "$apt/debs" && rm -f ./*.deb && apt-get "${options[@]}" download "${packages[@]}")
for deb in "$apt"/debs/*.deb; do
    dpkg -x "$deb" "$folder"
done
rm -rf "$apt"

# Debian's packages contain links that point outside the folder, such as /lib/aarch64-linux-gnu/libz.so.1.
find "$folder" -type l -lname '/*' -print0 | while IFS= read -r -d '' link; do
    ln -sfn "$folder$(readlink "$link")" "$link"
done
echo "${packages[*]}" >"$folder/.complete"
echo "unpacked $(du -sh "$folder" | cut -f1)"
