#!/usr/bin/env bash
# Runs the benchmarks of preset release and prints what docs/performance.md records: CPU seconds and peak memory of
# whole processes, as medians of several runs, and their ratios to SimGrid in the same run if it is installed.
# Usage: tools/bench.sh [--large]   (--large: also SimGrid at 4096 nodes, which takes some minutes)
set -euo pipefail
cd "$(dirname "$0")/.."
bench=build/release/bench
paceline=build/release/paceline
job=(97e6 1e9 50e-6) # bytes, bits per second, seconds of latency per link

# measure RUNS COMMAND...: "<median CPU seconds> <peak KiB>". The peak is that of one more run, under GNU time: a process
# inherits the peak of the process it was forked from, and Python's is 14 MiB.
measure() {
    python3 - "$@" <<'PYTHON'
import os, statistics, subprocess, sys, tempfile
def cpu_of(command):
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if status != 0:
        sys.exit(f"{' '.join(command)} failed")
    return usage.ru_utime + usage.ru_stime
command = sys.argv[2:]
cpu = statistics.median(cpu_of(command) for _ in range(int(sys.argv[1])))
with tempfile.NamedTemporaryFile(mode="r") as kib:
    cpu_of(["/usr/bin/time", "-f", "%M", "-o", kib.name, *command])
    print(f"{cpu:.4f} {int(kib.read())}")
PYTHON
}

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
typed() { # typed RUNS LABEL COMMAND...
    read -r ours ours_kib < <(measure "$1" "${@:3}")
    printf '%-44s %8.4f s %6.1f MiB' "$2" "$ours" "$(python3 -c "print($ours_kib / 1024)")"
}
run() { # run RUNS LABEL SCENARIO OPTION...
    typed "$1" "$2" "$paceline" run "$3" --quiet --force --jobs 1 --out "$out/results" "${@:4}"
}
printf 'what a user types: CPU s and peak memory of whole processes\n'
typed 5 'paceline --version' "$paceline" --version && echo
run 5 'two nodes, one step' bench/two_nodes.json && echo
run 5 'ring of 97 MB, 1024 nodes' bench/ring.json
if [[ -x $bench/simgrid_ring_all_reduce ]]; then
    read -r theirs theirs_kib < <(measure 3 "$bench/simgrid_ring_all_reduce" 1024 "${job[@]}")
    printf '   SimGrid %8.3f s %6.1f MiB   ratio %sx' "$theirs" "$((theirs_kib / 1024))" \
        "$(python3 -c "print(f'{$theirs / $ours:.0f}')")"
fi
echo
run 3 'the same, 65,536 nodes' bench/ring.json --set cluster.nodes=65536 && echo
run 5 'bandwidth-what-if, 80 points' scenarios/bandwidth-what-if.json && echo
run 3 '10,000 points of timing alone' bench/many_points.json && echo
run 5 'hierarchical, 1024 devices, 8 to a card' bench/shared_cards.json && echo
run 3 '1,000 steps in buckets, 1024 nodes, jitter' bench/thousand_steps.json && echo
typed 3 'explain, ring of 4096 nodes' "$paceline" explain bench/explain_4096.json && echo

printf '\nring all-reduce of 97 MB on a star, ahead of the queue, and message by message: CPU s, peak MiB\n'
for nodes in 64 256 1024 4096 16384 65536; do
    runs=5
    if ((nodes > 4096)); then runs=3; fi
    read -r ours ours_kib < <(measure "$runs" "$bench/ring_all_reduce" "$nodes" "${job[@]}")
    line=$(printf 'N=%-5s ahead %8.4f s %6.1f MiB' "$nodes" "$ours" "$((ours_kib / 1024))")
    if ((nodes <= 4096)); then
        read -r events events_kib < <(measure 3 env PACELINE_EVENTS=1 "$bench/ring_all_reduce" "$nodes" "${job[@]}")
        line+=$(printf '   events %8.3f s %6.1f MiB' "$events" "$((events_kib / 1024))")
    fi
    if [[ -x $bench/simgrid_ring_all_reduce ]] && { ((nodes < 4096)) || { ((nodes == 4096)) && [[ ${1:-} == --large ]]; }; }; then
        runs=3
        if ((nodes >= 4096)); then runs=1; fi
        read -r theirs theirs_kib < <(measure "$runs" "$bench/simgrid_ring_all_reduce" "$nodes" "${job[@]}")
        ratio=$(python3 -c "print(f'{$theirs / $ours:.1f}')")
        line+=$(printf '   SimGrid %8.3f s %6.1f MiB   ratio %sx, by events %sx' "$theirs" "$((theirs_kib / 1024))" "$ratio" \
            "$(python3 -c "print(f'{$theirs / $events:.1f}')")")
    fi
    echo "$line"
done

printf '\npipelined ring all-reduce of 97 MB on 256 nodes, by size of a slice: CPU s, peak MiB\n'
for slice in 400000 50000 6250; do
    read -r ours ours_kib < <(measure 3 "$bench/ring_all_reduce" 256 "${job[@]}" "$slice")
    printf 'slice=%-7s paceline %8.3f s %6.1f MiB\n' "$slice" "$ours" "$((ours_kib / 1024))"
done

# compare RUNS PROGRAM LABEL BUILD WORK ARGUMENTS...: a line that compares PROGRAM with simgrid_PROGRAM. BUILD and WORK are
# the last argument of a run that only builds and of the whole run. The cost of building is subtracted: only our benchmarks give
# SimGrid its network as a table of routes.
compare() {
    local runs=$1 program=$2 label=$3 build=$4 work=$5 building whole kib ours theirs line
    shift 5
    read -r building _ < <(measure "$runs" "$bench/$program" "$@" "$build")
    read -r whole kib < <(measure "$runs" "$bench/$program" "$@" "$work")
    ours=$(python3 -c "print(f'{max($whole - $building, 1e-3):.3f}')")
    line=$(printf '%-28s paceline %7.3f s (building: %.3f s) %6.1f MiB' "$label" "$ours" "$building" "$((kib / 1024))")
    if [[ -x $bench/simgrid_$program ]]; then
        read -r building _ < <(measure "$runs" "$bench/simgrid_$program" "$@" "$build")
        read -r whole kib < <(measure "$runs" "$bench/simgrid_$program" "$@" "$work")
        theirs=$(python3 -c "print(f'{max($whole - $building, 1e-3):.3f}')")
        line+=$(printf '   SimGrid %7.3f s (building: %.3f s) %6.1f MiB   ratio %sx' "$theirs" "$building" \
            "$((kib / 1024))" "$(python3 -c "print(f'{$theirs / $ours:.1f}')")")
    fi
    echo "$line"
}

printf '\nall-to-all of 1 MB blocks on a fat tree, 10 Gbps, message by message: CPU s without building, peak MiB\n'
for job in "64 rounds" "128 rounds" "256 rounds" "64 flood" "128 flood"; do
    read -r hosts mode <<<"$job"
    compare 5 all_to_all "$mode N=$hosts" nothing "$mode" "$hosts" 1e6 10e9 0
done

printf '\nneighbor exchange of 1 MB blocks, 1024 nodes, 10 Gbps, message by message: CPU s without building, peak MiB\n'
for job in "star ring 40" "star torus 20" "star exponential 4" "fat-tree ring 40" "fat-tree torus 4" \
    "fat-tree exponential 1"; do
    read -r fabric graph steps <<<"$job"
    compare 3 neighbor_exchange "$graph on $fabric, $steps steps" 0 "$steps" 1024 1e6 10e9 0 "$fabric" "$graph"
done

printf '\nthe DGC study, 84 points: wall-clock s, median of 5\n'
for jobs in 1 2; do
    python3 - "$jobs" "$out" <<'PYTHON'
import statistics, subprocess, sys, time
walls = []
for _ in range(5):
    begin = time.monotonic()
    subprocess.run(["build/release/paceline", "run", "scenarios/dgc-speedup.json", "--quiet",
                    "--jobs", sys.argv[1], "--out", sys.argv[2]], check=True)
    walls.append(time.monotonic() - begin)
print(f"--jobs {sys.argv[1]}: {statistics.median(walls):.3f} s")
PYTHON
done

echo
tools/bench_jobs.sh 5

if [[ -x $bench/engine_bench ]]; then
    printf '\nlayers of the engine\n'
    "$bench/engine_bench" --benchmark_min_time=0.3
fi

if [[ -x $bench/read_points ]]; then
    printf '\nreading a point of a study, and parsing its text alone\n'
    "$bench/read_points" --benchmark_min_time=0.3
fi

if /usr/bin/python3 -c 'import torch' 2>/dev/null; then
    echo
    tools/bench_training.sh
fi
