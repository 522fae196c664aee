#!/usr/bin/env bash
# Installs each package of build/packages that is for this system, uses it as a user would, and removes it. For a bare
# system of tools/check_fresh.sh alone (tools/check_packages.sh): it installs Debian's packages and removes its own clone.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8

fail() {
    echo "use_packages: $*" >&2
    exit 1
}

apt_get() { # quietly
    apt-get -qq --yes --no-install-recommends -o Dpkg::Use-Pty=0 "$@" >/tmp/apt.log 2>&1 || { cat /tmp/apt.log && fail "apt-get $*"; }
}

same_bytes() { # same_bytes FOLDER: of results, those of tests/fingerprints
    [[ $(sha256sum <"$1/results.csv" | cut -c -16) == "$expected" ]] || fail "$1/results.csv has other bytes"
}

nothing_left() {
    local left
    left=$(find / -xdev -ipath '*paceline*' -not -path '/tmp/*')
    [[ -z $left ]] || fail "what is left of $1:"$'\n'"$left"
    echo "use_packages: $1: all of it works, and nothing is left when it is removed"
}

run_study() { # run_study NAME PROGRAM SCENARIOS
    "$2" --version
    "$2" run --quiet "$3/dgc-speedup.json" --out "/tmp/$1"
    same_bytes "/tmp/$1"
}

draw_and_serve() { # draw_and_serve NAME PROGRAM
    local server
    "$2" plot "/tmp/$1" speedup --format svg >/dev/null
    grep -q '</svg>' "/tmp/$1/speedup.svg" || fail "$1: no figure"
    "$2" explore --no-browser --port 8123 >/dev/null &
    server=$!
    python3 - <<'END' || fail "$1: the page is not served"
import time, urllib.request

def get(name):
    for _ in range(50):
        try:
            return urllib.request.urlopen(f"http://127.0.0.1:8123/{name}").read()
        except urllib.error.URLError:
            time.sleep(0.1)
    return b""

assert b"<html" in get("index.html")
for engine in ("paceline.wasm", "paceline_fused.wasm"):
    assert get(engine).startswith(b"\0asm")
END
    kill "$server"
    wait "$server" || true
}

import_it() { # import_it NAME PYTHON SCENARIOS
    "$2" -c "import paceline; paceline.run('$3/dgc-speedup.json', out='/tmp/$1-python', progress=False)"
    same_bytes "/tmp/$1-python"
}

use_archive() {
    local prefix=/opt/anywhere program
    mkdir /opt/anywhere
    tar -C $prefix --strip-components=1 -xf "$1"
    program=$prefix/bin/paceline
    run_study archive "$program" $prefix/share/paceline/scenarios
    ! ldconfig -p | grep -q 'libmpi\.so' || fail "there is MPI"
    apt_get install python3-matplotlib openmpi-bin
    draw_and_serve archive "$program"
    OMPI_MCA_plm=isolated mpirun --allow-run-as-root --oversubscribe -np 2 "$program" run --quiet \
        $prefix/share/paceline/scenarios/dgc-speedup.json --out /tmp/ranks
    same_bytes /tmp/ranks
    rm -r $prefix
    nothing_left archive
}

use_wheel() {
    local venv=/tmp/venv before module
    apt_get install python3-venv
    python3 -m venv $venv
    before=$(find $venv | sort)
    $venv/bin/pip --quiet --disable-pip-version-check install --no-index "$1"
    module=$(echo $venv/lib/python3*/site-packages/paceline)
    run_study wheel $venv/bin/paceline "$module/scenarios"
    draw_and_serve wheel $venv/bin/paceline
    import_it wheel $venv/bin/python "$module/scenarios"
    $venv/bin/pip --quiet uninstall --yes paceline
    [[ $(find $venv | sort) == "$before" ]] || fail "left of the wheel: $(find $venv | sort | comm -13 <(echo "$before") -)"
    nothing_left wheel
}

use_debian_package() {
    apt_get install "$1" python3-pandas fish zsh
    run_study debian paceline /usr/share/paceline/scenarios
    draw_and_serve debian paceline
    import_it debian python3 /usr/share/paceline/scenarios
    test -s /usr/share/man/man1/paceline.1 || fail "no manual page"
    bash -c '. /usr/share/bash-completion/completions/paceline && complete -p paceline' >/dev/null || fail "bash completes nothing"
    [[ $(fish -c 'complete -C "paceline plot --wi"' | cut -f 1) == --width ]] || fail "fish does not complete"
    [[ $(zsh -fc 'autoload -Uz compinit && compinit -D && echo $_comps[paceline]') == _paceline ]] || fail "zsh does not complete"
    apt_get purge paceline
    nothing_left "the Debian package"
}

cd "$(dirname "$0")/.."
for compiler in cc gcc g++ c++ clang clang++-19; do
    if command -v $compiler; then fail "this system has a compiler"; fi
done
expected=$(sed -n 's,  results.csv$,,p' tests/fingerprints/hashes/scenarios/dgc-speedup.txt)
clone=$PWD
cp -r build/packages /tmp/packages
cd /tmp/packages
umount "$clone/build/packages"
rm -r "$clone"

use_archive "$(printf '%s\n' paceline-*.tar.gz | sort -V | head -n 1)"
use_debian_package "$(echo "$PWD"/paceline_*+deb"$(cut -d . -f 1 /etc/debian_version)"_*.deb)"
use_wheel "$(echo paceline-*-"$(python3 -c 'import sys; print("cp{0}{1}".format(*sys.version_info))')"-*.whl)"
