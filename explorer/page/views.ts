// The views over results: what each draws from a study's rows.
import { type Chart, type Line, paletteSize, short } from "./lines.js";
import { type Evaluation, type Results, type Row, rowsOf, type Study } from "./results.js";
import { bandwidthText, bitsPerSecond, timeText } from "./units.js";

const nodesPath = "cluster.nodes";
const bandwidthPath = "cluster.fabric.link.bandwidth";

function axisOf(study: Study, path: string): number {
  return study.axes.findIndex((axis) => axis.path === path);
}

interface Series {
  label: string;
  algorithm: number; // its place on the axis of algorithms
  variant: number; // of the other axes
  points: { x: number; row: Row }[];
}

// Returns whether an axis advances with the one of algorithms, so that it tells nothing more.
const isZipped = (study: Study, axis: number, algorithms: number): boolean =>
  algorithms >= 0 && study.points.every(({ choice }) => choice[axis] === choice[algorithms]);

// Groups points by all axes but one.
function seriesOf(results: Results, x: number, valueOf: (name: string) => number): Series[] {
  const { axes, points } = results.study;
  const algorithmAxis = axisOf(results.study, "algorithm");
  const unsaid = new Set(axes.map((_, a) => a).filter((a) => isZipped(results.study, a, algorithmAxis)));
  const made = new Map<string, Series>();
  const variants = new Map<string, number>();
  points.forEach((point, i) => {
    const row = results.row(i);
    const others = axes.map((axis, a) => (a === x || unsaid.has(a) ? "" : axis.names[point.choice[a]!]!)).filter((n) => n !== "");
    const variant = others.join(", ");
    if (!variants.has(variant)) variants.set(variant, variants.size);
    const algorithm = algorithmAxis >= 0 ? axes[algorithmAxis]!.names[point.choice[algorithmAxis]!]! : point.algorithm;
    const label = [algorithm, ...others].join(", ");
    const series = made.get(label) ?? { label, algorithm: algorithmAxis >= 0 ? point.choice[algorithmAxis]! : 0, variant: variants.get(variant)!, points: [] };
    made.set(label, series);
    if (row !== undefined) series.points.push({ x: valueOf(axes[x]!.names[point.choice[x]!]!), row });
  });
  return [...made.values()];
}

// Returns the ends of a column's interval; null if it has none.
function endsOf(row: Row, column: string, factor: number): [number, number] | null {
  const [low, high] = [row[`${column}_low`] ?? "", row[`${column}_high`] ?? ""];
  return low === "" || high === "" ? null : [Number(low) * factor, Number(high) * factor];
}

// Colors tell algorithms apart, dashes and markers the rest. Where there is one algorithm, colors tell the rest as well;
// where there are more algorithms than colors, dashes and markers tell those of one color apart.
function lines(series: Series[], column: string, factor = 1): Line[] {
  const variants = Math.max(0, ...series.map((one) => one.variant)) + 1;
  const alone = series.every((one) => one.algorithm === series[0]!.algorithm);
  return series.map((one) => {
    const there = one.points.filter((p) => p.row[column] !== "" && p.row[column] !== undefined).sort((a, b) => a.x - b.x);
    const ends = there.map(({ row }) => endsOf(row, column, factor));
    return {
      label: one.label, color: alone ? one.variant : one.algorithm, variant: one.variant + variants * Math.floor(one.algorithm / paletteSize),
      points: there.map((p): [number, number] => [p.x, Number(p.row[column]) * factor]),
      ...(ends.every((one) => one !== null) ? { band: ends } : {}),
    };
  });
}

// Speedup is over one device: the ideal grows with the devices of all nodes.
function devicesPerNode(series: Series[]): number {
  const row = series.flatMap((one) => one.points)[0]?.row;
  return row === undefined ? 1 : Number(row["devices"]) / Number(row["nodes"]);
}

// Few counts of nodes have a tick each; between many, powers of two are easier to read.
const nodeTicks = (counts: number[]): { xBase: 2; ticks?: number[] } => (counts.length <= 12 ? { xBase: 2, ticks: counts } : { xBase: 2 });

const targetLabel = (target: number): string => `${short(target * 100)} %`;

/// Speedup and efficiency over nodes. `target` is the efficiency to reach.
export function speedupCharts(results: Results, target: number): Chart[] {
  const x = axisOf(results.study, nodesPath);
  if (x < 0) return genericCharts(results);
  const series = seriesOf(results, x, Number);
  const common = { x: "nodes", logX: true, xText: (v: number) => String(v), ...nodeTicks(results.study.axes[x]!.names.map(Number)) };
  const ideal = devicesPerNode(series);
  const label = targetLabel(target);
  return [
    { ...common, title: "Speedup over one device", lines: lines(series, "speedup"), logY: true, ideal, targets: [{ label, at: (n) => target * ideal * n }] },
    { ...common, title: "Efficiency (%)", lines: lines(series, "efficiency", 100), targets: [{ label, at: () => target * 100 }] },
  ];
}

/// Throughput, step time and efficiency over bandwidth.
export function bandwidthCharts(results: Results, marks: { x: number; label: string }[], target: number): Chart[] {
  const x = axisOf(results.study, bandwidthPath);
  const series = seriesOf(results, x, (name) => bitsPerSecond(name) ?? Number.NaN);
  const common = { x: "bandwidth of a link", logX: true, xText: bandwidthText, marks };
  const row = series.flatMap((one) => one.points).find((point) => Number(point.row["efficiency"]) > 0)?.row;
  // What one row has at its efficiency, at the target's.
  const at = (column: string, power: number): { targets?: NonNullable<Chart["targets"]> } => {
    if (row === undefined) return {};
    const value = Number(row[column]) * (target / Number(row["efficiency"])) ** power;
    return { targets: [{ label: targetLabel(target), at: () => value }] };
  };
  const inMs = at("step_time_s", -1).targets?.map((one) => ({ ...one, at: (v: number) => one.at(v) * 1000 }));
  return [
    { ...common, title: "Throughput (samples/s)", lines: lines(series, "samples_per_s"), logY: true, ...at("samples_per_s", 1) },
    { ...common, title: "Time per step (ms)", lines: lines(series, "step_time_s", 1000), logY: true, ...(inMs ? { targets: inMs } : {}) },
    { ...common, title: "Efficiency (%)", lines: lines(series, "efficiency", 100), targets: [{ label: targetLabel(target), at: () => target * 100 }] },
  ];
}

/// What each line comes to at its last point: the time for so many samples, and whether a device's memory (GB) holds it.
export function lastFacts(results: Results, samples: number | null, memory: number | null): string[] {
  const x = axisOf(results.study, nodesPath);
  if (x < 0 || (samples === null && memory === null)) return [];
  return seriesOf(results, x, Number).flatMap(({ label, points }) => {
    const last = points.sort((a, b) => a.x - b.x).at(-1)?.row;
    if (last === undefined) return [];
    const rate = Number(last["samples_per_s"]);
    const kept = last["memory_gb"] ?? "";
    const time = samples !== null && rate > 0 ? [`${samples.toLocaleString("en")} samples in ${timeText(samples / rate)}`] : [];
    const fit = memory === null ? [] : [kept === "" ? "its memory is not known"
      : `parameters, gradients and optimizer take ${short(Number(kept))} GB per device, which ${Number(kept) <= memory ? "fits" : "does not fit"} ${short(memory)} GB`];
    return [`${label}, on ${last["nodes"]} nodes: ${[...time, ...fit].join("; ")}.`];
  });
}

/// Says of comparisons.csv which methods are faster, and where that is not sure.
export function orderFacts(study: Study, comparisons: string): string[] {
  return rowsOf(comparisons).map((row) => {
    const point = study.points[Number(row["point"])]!;
    const where = study.axes.flatMap((axis, a) => (axis.path === "algorithm" || isZipped(study, a, axisOf(study, "algorithm")) ? [] : [axis.path === nodesPath ? `${point.nodes} nodes` : axis.names[point.choice[a]!]!]));
    const [ratio, low, high] = ["", "_low", "_high"].map((end) => Number(row[`times_as_fast${end}`])) as [number, number, number];
    const range = `${short(ratio)} times as fast as ${row["against_algorithm"]} (${short(low)} to ${short(high)})`;
    return `${where.length === 0 ? "" : `${where.join(", ")}: `}${row["algorithm"]} is ${range}${low > 1 || high < 1 ? "" : ", which is too close to call"}.`;
  });
}

// A study of another shape: step time over its longest numeric axis.
function genericCharts(results: Results): Chart[] {
  const { axes } = results.study;
  const numeric = (name: string) => bitsPerSecond(name) ?? Number(name);
  const candidates = axes.map((axis, i) => ({ i, axis })).filter(({ axis }) => axis.names.every((n) => Number.isFinite(numeric(n))));
  candidates.sort((a, b) => b.axis.names.length - a.axis.names.length);
  const best = candidates[0];
  if (best === undefined || best.axis.names.length < 2) return [];
  const values = best.axis.names.map(numeric);
  const log = Math.min(...values) > 0 && Math.max(...values) / Math.min(...values) > 20;
  const series = seriesOf(results, best.i, numeric);
  const isBandwidth = bitsPerSecond(best.axis.names[0]!) !== null;
  return [{ title: "Time per step (ms)", x: best.axis.path, logX: log, ...(isBandwidth ? { xText: bandwidthText } : {}), lines: lines(series, "step_time_s", 1000) }];
}

/// Loss against simulated time and against steps, while points train.
export function trainingCharts(study: Study, evaluations: Evaluation[]): Chart[] {
  const nameOf = (i: number) => {
    const point = study.points[i]!;
    return study.axes.map((axis, a) => axis.names[point.choice[a]!]!).join(", ") || point.algorithm;
  };
  const make = (x: (e: Evaluation) => number, y: (e: Evaluation) => number | undefined): Line[] =>
    study.points.map((_, i) => ({
      label: nameOf(i), color: i, variant: Math.floor(i / paletteSize),
      points: evaluations.filter((e) => e.point === i && y(e) !== undefined).map((e): [number, number] => [x(e), y(e)!]),
    }));
  return [
    { title: "Training loss over simulated time", x: "simulated time (s)", logX: false, lines: make((e) => e.sim_time_s, (e) => e.train_loss) },
    { title: "Training loss over steps", x: "steps of each worker", logX: false, lines: make((e) => e.iteration, (e) => e.train_loss) },
    { title: "Test accuracy over simulated time (%)", x: "simulated time (s)", logX: false, lines: make((e) => e.sim_time_s, (e) => (e.test_accuracy === undefined ? undefined : e.test_accuracy * 100)) },
  ];
}

export const tableColumns: [string, string, number][] = [
  ["algorithm", "algorithm", 0], ["nodes", "nodes", 0], ["step_time_s", "step (ms)", 1000], ["model_step_time_s", "closed form (ms)", 1000],
  ["speedup", "speedup", 1], ["efficiency", "efficiency", 1], ["samples_per_s", "samples/s", 1], ["memory_gb", "memory (GB)", 1],
  ["memory_share", "memory (% of a device)", 100], ["tokens_per_s", "tokens/s", 1], ["mfu", "MFU (%)", 100], ["device_hours", "device-hours", 1],
  ["energy_kwh", "energy (kWh)", 1], ["cost", "cost", 1], ["energy_to_target_kwh", "energy to the target (kWh)", 1], ["cost_to_target", "cost to the target", 1],
  ["outcome", "outcome", 0],
];

export function tableRows(study: Study, rows: Row[]): { header: string[]; rows: string[][] } {
  const columns = tableColumns.filter(([column]) => rows.some((row) => (row[column] ?? "") !== ""));
  const axes = study.axes.map((axis) => axis.path).filter((path) => rows[0]?.[path] !== undefined);
  return {
    header: ["point", ...axes, ...columns.map(([, title]) => title)],
    rows: rows.map((row) => [row["point"] ?? "", ...axes.map((path) => row[path]!), ...columns.map(([column, , factor]) => {
      const value = row[column] ?? "";
      if (factor === 0 || value === "") return value;
      const ends = endsOf(row, column, factor);
      return short(Number(value) * factor) + (ends === null || ends[0] === ends[1] ? "" : ` (${short(ends[0])} to ${short(ends[1])})`);
    })]),
  };
}
