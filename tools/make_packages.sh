#!/usr/bin/env bash
# Makes the packages of this checkout for this system, Debian 12 or 13, in build/packages:
#
#   paceline_VERSION+debN_amd64.deb            program and Python module; its libraries are Debian's
#   paceline-VERSION-glibcN-x86_64.tar.gz      the program with its libraries, for any system with that glibc or a later one
#   paceline-VERSION-cpN-cpN-linux_x86_64.whl  the Python module with its libraries, for Debian's Python
#
# The page of `paceline explore` is taken from build/explorer (make explorer).
set -euo pipefail
cd "$(dirname "$0")/.."
out=$PWD/build/packages build=$PWD/build/package stage=$PWD/build/package/stage
python=/usr/bin/python3

test -e build/explorer/index.html || { echo "make_packages: no page in build/explorer (make explorer)" >&2 && exit 1; }
cmake --preset release -B "$build" -D PACELINE_TESTS=OFF -D PACELINE_BENCH=OFF -D PACELINE_MPI=ON \
    -D PACELINE_PYTHON_MODULE=ON -D PACELINE_PYTHON_FOLDER=lib/python3/dist-packages -D PACELINE_SOURCE_TREE= \
    -D CMAKE_CXX_FLAGS="-fmacro-prefix-map=$PWD/=" --log-level=NOTICE
cmake --build "$build" --target paceline paceline_python
rm -rf "$stage"
mkdir -p "$stage/debian" "$out"
cmake --install "$build" --strip --component program --prefix "$stage/program" >/dev/null
cmake --install "$build" --strip --component python --prefix "$stage/python" >/dev/null
version=$(sed -n 's/^CMAKE_PROJECT_VERSION:STATIC=//p' "$build/CMakeCache.txt")
machine=$(uname -m)
module=$stage/python/lib/python3/dist-packages/paceline

# carry EXCEPT FILE FOLDER: copies the libraries of FILE into FOLDER and makes FILE find them there. Those of glibc stay the
# system's, and those that match EXCEPT. Licenses are those of these libraries and of what is compiled in.
carry() {
    local library package packages=(libeigen3-dev libspectra-dev nlohmann-json3-dev libcli11-dev libxxhash-dev pybind11-dev
        pybind11-json-dev "$(basename /usr/share/doc/libboost1.*-dev)")
    mkdir -p "$3/licenses"
    while read -r library; do
        install -m 644 "$library" "$3/"
        packages+=("$(dpkg -S "*/$machine-linux-gnu/$(basename "$(realpath "$library")")" | cut -d : -f 1)")
        patchelf --set-rpath "\$ORIGIN" --force-rpath "$3/$(basename "$library")"
    done < <(ldd "$2" | awk '$2 == "=>" { print $3 }' | grep -vE "/(lib(c|m|dl|rt|pthread)|$1)\.so")
    for package in "${packages[@]}"; do cp "/usr/share/doc/$package/copyright" "$3/licenses/$package"; done
    # Debian's texts name the common licenses by their file.
    grep -oh '/usr/share/common-licenses/[A-Za-z0-9.-]*[A-Za-z0-9]' "$3"/licenses/* | sort -u |
        xargs -I{} cp -n {} "$3/licenses/" || true
    patchelf --set-rpath "\$ORIGIN/$(realpath --relative-to="$(dirname "$2")" "$3")" --force-rpath "$2"
}

make_debian_package() {
    local depends release next
    touch "$stage/debian/control"
    depends=$(cd "$stage" && dpkg-shlibdeps -O -e program/bin/paceline -e program/lib/paceline/paceline_explore.so \
        -e program/lib/paceline/paceline_tbb.so \
        -e "$(echo "$module"/_engine*.so)" 2>/dev/null)
    release=+deb$(cut -d . -f 1 /etc/debian_version)
    next=$("$python" -c 'import sys; print(f"python3 (>= 3.{sys.version_info[1]}), python3 (<< 3.{sys.version_info[1] + 1})")')
    (cd "$build" && cpack -D CPACK_PACKAGE_VERSION="$version$release" \
        -D CPACK_DEBIAN_FILE_NAME="paceline_$version${release}_$(dpkg --print-architecture).deb" \
        -D CPACK_DEBIAN_PACKAGE_DEPENDS="${depends#*=}, $next" -B "$out" >cpack.log) || { cat "$build/cpack.log" && exit 1; }
    rm -rf "$out/_CPack_Packages"
}

make_archive() {
    local glibc name
    carry - "$stage/program/bin/paceline" "$stage/program/lib/paceline"
    carry - "$stage/program/lib/paceline/paceline_explore.so" "$stage/program/lib/paceline"
    carry - "$stage/program/lib/paceline/paceline_tbb.so" "$stage/program/lib/paceline"
    glibc=$(grep -aohE -d skip 'GLIBC_2\.[0-9]+' "$stage"/program/{bin,lib/paceline}/* | sort -uV | tail -n 1)
    name=paceline-$version-${glibc/GLIBC_/glibc}-$machine
    tar -C "$stage" --transform "s,^program,$name," --owner=0 --group=0 --sort=name -czf "$out/$name.tar.gz" program
}

# The libraries get names of their own, as another module may load others of the same names.
make_wheel() {
    local tag wheel=$stage/wheel library own
    tag=$("$python" -c 'import sys; print("cp{0}{1}-cp{0}{1}".format(*sys.version_info))')-linux_$machine
    mkdir -p "$wheel/paceline-$version.dist-info"
    cp -r "$module" "$wheel/paceline"
    find "$wheel" -name __pycache__ -exec rm -r {} +
    for own in "$wheel"/paceline/*.so; do carry 'lib(stdc\+\+|gcc_s)' "$own" "$wheel/paceline/lib"; done
    for library in "$wheel"/paceline/lib/*.so*; do
        own=$(basename "$library" | sed 's/\.so/-paceline.so/')
        patchelf --replace-needed "$(basename "$library")" "$own" "$wheel"/paceline/{lib/,}*.so*
        patchelf --set-soname "$own" "$library"
        mv "$library" "$wheel/paceline/lib/$own"
    done
    # All in the module's folder: pip would leave folders of other places behind.
    cp -r "$stage"/program/share/paceline/{explorer,scenarios} "$stage"/program/share/{man,bash-completion,zsh,fish} "$wheel/paceline/"
    cd "$wheel/paceline-$version.dist-info"
    cp ../../../../../LICENSE .
    printf '[console_scripts]\npaceline = paceline.__main__:main\n' >entry_points.txt
    printf 'Wheel-Version: 1.0\nGenerator: tools/make_packages.sh\nRoot-Is-Purelib: false\nTag: %s\n' "$tag" >WHEEL
    printf '%s\n' 'Metadata-Version: 2.1' 'Name: paceline' "Version: $version" 'License: MIT' \
        'Summary: a discrete-event simulator of distributed training' \
        "$("$python" -c 'import sys; print("Requires-Python: =={0}.{1}.*".format(*sys.version_info))')" \
        'Provides-Extra: all' 'Requires-Dist: matplotlib; extra == "all"' 'Requires-Dist: pandas; extra == "all"' \
        'Requires-Dist: tqdm; extra == "all"' >METADATA
    cd - >/dev/null
    "$python" -m wheel pack --dest-dir "$out" "$wheel" >/dev/null
}

make_debian_package
make_archive
make_wheel
echo "make_packages: in build/packages:"
(cd "$out" && ls -sh1 -- paceline*)
