#!/usr/bin/env bash
# Installs a build into a temporary folder, runs the installed program, and builds tests/consumer
# and examples/cpp_method against it, with the compiler's default instruction set (the installation may use a wider one).
# Finally, configures paceline as a part of another project.
#
# Usage: tools/check_install.sh BUILD_FOLDER
set -euo pipefail

build=$(realpath "${1:?usage: tools/check_install.sh BUILD_FOLDER}")
source=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
compiler=$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")
prefix=$folder/prefix

quietly() { # quietly COMMAND...: shows the output only if the command fails
    "$@" >"$folder/log" 2>&1 || {
        cat "$folder/log"
        echo "check-install: failed: $*"
        exit 1
    }
}

quietly cmake --install "$build" --prefix "$prefix"
scenarios=$prefix/share/paceline/scenarios

cd "$folder" # any folder but the source's
quietly "$prefix/bin/paceline" list algorithms
quietly "$prefix/bin/paceline" check "$scenarios/first-training.json"
quietly "$prefix/bin/paceline" run --quiet "$scenarios/ring-allreduce.json" --out results
test -s results/results.csv
test -f "$prefix/share/paceline/plots/__main__.py"
grep -q 'id="cluster.nodes"' "$prefix/share/doc/paceline/docs/reference.md"
grep -q '^## Codecs and aggregations' "$prefix/share/doc/paceline/docs/combinations.md"

if grep -rlF "$source" "$prefix/lib/cmake" "$prefix/include"; then
    echo "check-install: these files name the source's folder"
    exit 1
fi

quietly cmake -S "$source/tests/consumer" -B consumer -G Ninja -DCMAKE_CXX_COMPILER="$compiler" \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$prefix"
quietly cmake --build consumer
consumer/consumer "$scenarios/ring-allreduce.json"

# A method of one's own in C++. Averaging in every step, it is DmSGD.
quietly cmake -S "$source/examples/cpp_method" -B method -G Ninja -DCMAKE_CXX_COMPILER="$compiler" \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$prefix"
quietly cmake --build method
quietly method/my_method "$source/examples/cpp_method/seldom.json" seldom
test "$(grep -c ',finished,' seldom/results.csv)" = 4
losses() { awk -F, -v of="$1" '$3 == of { print $2, $5, $8, $9, $11 }' seldom/timeline.csv; }
test "$(losses DmSGD | wc -l)" = 10
diff <(losses "every step") <(losses DmSGD)
quietly "$prefix/bin/paceline" plot seldom convergence --format svg

# The Python module, if this build has it: it must be where Debian's Python looks if the prefix is /usr/local.
if compgen -G "$prefix/lib/python3*/*/paceline/_engine*.so" >/dev/null; then
    package=$(dirname "$(dirname "$(compgen -G "$prefix/lib/python3*/*/paceline/_engine*.so")")")
    found=$(/usr/bin/python3 -c 'import site; print(*site.getsitepackages(), sep="\n")')
    grep -qxF "/usr/local/${package#"$prefix/"}" <<<"$found" || {
        echo "check-install: Python does not look into /usr/local/${package#"$prefix/"}"
        exit 1
    }
    export PYTHONPATH=$package
    quietly /usr/bin/python3 -B -m paceline run --quiet "$scenarios/ring-allreduce.json" --out from-python
    cmp results/results.csv from-python/results.csv
    quietly /usr/bin/python3 -B -c "
import paceline
study = paceline.run('$scenarios/dgc-speedup.json', progress=False)
assert study.plot('speedup').get_axes()"
    quietly /usr/bin/python3 -B -m paceline plot from-python breakdown --format svg
    unset PYTHONPATH
    echo "check-install: python3 finds the module, which runs and draws"
fi

mkdir part
cat >part/CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.25)
project(part LANGUAGES CXX)
add_subdirectory("$source" paceline)
add_executable(consumer "$source/tests/consumer/main.cpp")
target_link_libraries(consumer PRIVATE paceline::app)
END
quietly cmake -S part -B part/build -G Ninja -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=Release
echo "check-install: what was installed runs, is found by find_package, and paceline is a part of another project"
