#!/usr/bin/env bash
# Draws the figures of the documentation into docs/figures; `make figures` runs it. Reruns the studies
# (two minutes). The same program and the same matplotlib give the same bytes.
set -euo pipefail

paceline=${1:?usage: tools/draw_figures.sh PACELINE}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p docs/figures "$work/claims"

draw() { # draw SCENARIO KIND NAME [OPTIONS...]: docs/figures/NAME.svg
    local scenario=$1 kind=$2 name=$3
    shift 3
    [[ -d $work/$scenario ]] || "$paceline" run "scenarios/$scenario.json" --out "$work/$scenario" --quiet
    "$paceline" plot "$work/$scenario" "$kind" --format svg --out "$work" "$@" >/dev/null
    mv "$work/$kind.svg" "docs/figures/$name.svg"
    echo "docs/figures/$name.svg"
}

draw dgc-speedup speedup dgc-speedup
draw first-training convergence first-training
draw claims/dgc-curves convergence dgc-curves --value test_accuracy
draw bandwidth-what-if bandwidth bandwidth-what-if
draw bandwidth-what-if heatmap bandwidth-what-if-ratio --ratio "DGC, by machine" "dense, overlapped"
draw language-models convergence language-models --where cluster.fabric.link.bandwidth=10Gbps --value train_loss
draw language-models convergence language-models-iterations --where cluster.fabric.link.bandwidth=1Gbps --value train_loss --x iteration
draw diloco bandwidth diloco --value efficiency
draw sharding bandwidth sharding --value efficiency --target 0.9 --where "workload=Llama 7B"
draw money frontier money --where cluster.fabric.link.bandwidth=25Gbps
draw stragglers breakdown stragglers --where nodes=64

# The notebooks write their figures into the current folder.
root=$PWD
for file in examples/*.py; do
    name=$(basename "$file" .py)
    (cd "$work" && PYTHONPATH=$root/build/release/python /usr/bin/python3 -B "$root/$file" >/dev/null)
    mv "$work/$name.svg" "docs/figures/$name.svg"
    echo "docs/figures/$name.svg"
done
