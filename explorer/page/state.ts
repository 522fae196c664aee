// What the page shows, and the scenario that this means. The whole state is in the address (link.ts).

export type View = "speedup" | "bandwidth" | "step" | "timeline" | "math" | "training" | "table";
export const views: readonly View[] = ["speedup", "bandwidth", "step", "timeline", "math", "training", "table"];

export type Fabric = "star" | "leaf-spine" | "fat-tree" | "ring";
export const fabrics: readonly Fabric[] = ["star", "leaf-spine", "fat-tree", "ring"];

export type Json = { [key: string]: unknown };

export interface State {
  view: View;
  net: string; // a profile, or "my net"
  device: string; // a device, or "step time"
  batch: string;
  stepTime: string; // where the device is "step time"
  fabric: Fabric;
  bandwidth: string;
  second: string; // the second bandwidth; empty: none
  latency: string;
  nodes: string; // the most
  devices: string; // of a machine
  jitter: string; // log-normal sigma of gradients; 0: none
  straggler: string; // a slow node takes so many times as long; 1: none
  algorithms: Json[];
  file: { name: string; text: string } | null; // a scenario instead of the controls
  files: Record<string, string>; // texts that scenarios name
}

export const dense: Json = { label: "dense", kind: "dense", aggregation: { kind: "all-reduce", plan: "ring" } };
export const dgc: Json = { label: "DGC", kind: "dgc", codec: { kind: "dgc", density: 0.001 } };

export function firstState(): State {
  return {
    view: "speedup", net: "resnet-50", device: "step time", batch: "64", stepTime: "150ms",
    fabric: "star", bandwidth: "1Gbps", second: "10Gbps", latency: "0s", nodes: "64", devices: "1",
    jitter: "0", straggler: "1", algorithms: [dense, dgc], file: null, files: {},
  };
}

/// An entry of a control is not what it should be. `control` is the control's id.
export class EntryError extends Error {
  constructor(readonly control: string, problem: string) {
    super(problem);
  }
}

function wholeNumber(text: string, control: string, least: number, most: number): number {
  const value = Number(text.trim());
  if (text.trim() === "" || !Number.isInteger(value) || value < least || value > most)
    throw new EntryError(control, `Enter a whole number from ${least} to ${most}.`);
  return value;
}

function number(text: string, control: string, least: number, most: number): number {
  const value = Number(text.trim());
  if (text.trim() === "" || !(value >= least && value <= most))
    throw new EntryError(control, `Enter a number from ${least} to ${most}.`);
  return value;
}

/// Returns the most nodes. Throws EntryError.
export const nodesOf = (state: State): number => wholeNumber(state.nodes, "nodes", 2, 4096);

const quantity = /^\s*((?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:e[+-]?[0-9]+)?)\s*([a-zA-Z]+)\s*$/;
const rates: Record<string, number> = { bps: 1, kbps: 1e3, Mbps: 1e6, Gbps: 1e9, Tbps: 1e12 };
const durations: Record<string, number> = { ps: 1e-12, ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1 };

function parsed(text: string, units: Record<string, number>): number | null {
  const match = quantity.exec(text);
  return match === null || !Object.hasOwn(units, match[2]!) ? null : Number(match[1]) * units[match[2]!]!;
}

/// Returns bits per second; null if the text is no bandwidth.
export const bitsPerSecond = (text: string): number | null => parsed(text, rates);
/// Returns seconds; null if the text is no duration.
export const seconds = (text: string): number | null => parsed(text, durations);

function inUnits(value: number, units: Record<string, number>): string {
  const names = Object.keys(units);
  const name = [...names].reverse().find((n) => value >= units[n]! * 0.9995) ?? names[0]!;
  return `${Number((value / units[name]!).toPrecision(3))}${name}`;
}
export const bandwidthText = (bps: number): string => inUnits(bps, rates);
export const durationText = (s: number): string => (s === 0 ? "0s" : inUnits(s, durations));

function bandwidthOf(text: string, control: string): string {
  const bps = bitsPerSecond(text);
  if (bps === null || bps < 1e3) throw new EntryError(control, "Enter a bandwidth with its unit, such as 1Gbps or 250Mbps.");
  return text.replace(/\s/g, "");
}

function durationOf(text: string, control: string): string {
  if (seconds(text) === null) throw new EntryError(control, "Enter a duration with its unit, such as 50us or 0.3ms.");
  return text.replace(/\s/g, "");
}

/// Returns 1, 2, 4, ... up to `most`, which is the last.
export function nodeCounts(most: number): number[] {
  const counts: number[] = [];
  for (let n = 1; n < most; n *= 2) counts.push(n);
  return [...counts, most];
}

function fabricOf(state: State, bandwidth: string): Json {
  const link = { bandwidth, latency: durationOf(state.latency, "latency") };
  if (state.fabric === "leaf-spine") return { kind: "leaf-spine", link, hosts_per_leaf: 8, spines: 2, oversubscription: 2 };
  return { kind: state.fabric, link };
}

function workloadOf(state: State): Json {
  const profile = state.net === "my net" ? "my-net.json" : state.net;
  const batch = wholeNumber(state.batch, "batch", 1, 1_000_000);
  // A step's time would include the bus, which is simulated.
  const key = Number(state.devices) > 1 ? "gradient_time" : "step_time";
  if (state.device === "step time") return { profile, batch, [key]: durationOf(state.stepTime, "stepTime") };
  return { profile, device: state.device, batch };
}

const isRandom = (state: State): boolean => Number(state.jitter) > 0 || Number(state.straggler) > 1;

/// Returns the steps of a point: more where they differ.
export const stepsOf = (state: State): number => (isRandom(state) ? 20 : 3);

/// Returns the scenario of the controls, swept as a view needs it; `steps` are those of each algorithm. Throws EntryError.
export function scenarioOf(state: State, sweep: Json, steps: number[] = []): Json {
  if (state.algorithms.length === 0) throw new EntryError("algorithms", "Add an algorithm.");
  const nodes = nodesOf(state);
  const devices = wholeNumber(state.devices, "devices", 1, 16);
  const jitter = number(state.jitter, "jitter", 0, 2);
  const straggler = number(state.straggler, "straggler", 1, 100);
  const cluster: Json = { nodes };
  if (devices > 1) {
    cluster["devices_per_node"] = devices;
    cluster["bus"] = { kind: "switched", link: { preset: "pcie-3.0-x16" } };
  }
  cluster["fabric"] = fabricOf(state, bandwidthOf(state.bandwidth, "bandwidth"));
  if (jitter > 0) cluster["compute_jitter"] = { kind: "log-normal", sigma: jitter };
  if (straggler > 1) cluster["stragglers"] = { factor: straggler, one_node: true };
  return {
    title: `${state.net} by the explorer`, seed: 1, cluster, workload: workloadOf(state),
    algorithm: state.algorithms[0], stop: { iterations: stepsOf(state) }, sweep: withSteps(sweep, steps, stepsOf(state)),
  };
}

// Algorithms take their own numbers of steps where one takes more than the usual.
function withSteps(sweep: Json, steps: number[], usual: number): Json {
  if (steps.every((own) => own === usual)) return sweep;
  const { algorithm, ...others } = sweep;
  return { zip: { algorithm, "stop.iterations": steps }, ...others };
}

/// Returns the sweep of the first view: algorithms x bandwidths x nodes.
export function overNodes(state: State): Json {
  const bandwidths = [bandwidthOf(state.bandwidth, "bandwidth")];
  if (state.second !== "") bandwidths.push(bandwidthOf(state.second, "second"));
  return {
    algorithm: state.algorithms, "cluster.fabric.link.bandwidth": [...new Set(bandwidths)],
    "cluster.nodes": nodeCounts(nodesOf(state)),
  };
}

/// Returns the errors of all entries, the first one among them: each wrong entry is put at its first value, and the
/// rest is read again.
export function entryErrors(state: State, first: EntryError): EntryError[] {
  const errors = [first];
  const usual = firstState();
  let mended = state;
  for (let error = first; error.control in usual;) {
    mended = { ...mended, [error.control]: usual[error.control as keyof State] };
    try {
      scenarioOf(mended, overNodes(mended));
      return errors;
    } catch (next) {
      if (!(next instanceof EntryError) || errors.some(({ control }) => control === next.control)) return errors;
      errors.push(error = next);
    }
  }
  return errors;
}

export const sweptBandwidths = ["100Mbps", "200Mbps", "500Mbps", "1Gbps", "2Gbps", "5Gbps", "10Gbps", "20Gbps", "50Gbps", "100Gbps"];
export function overBandwidth(state: State): Json {
  return { algorithm: state.algorithms, "cluster.fabric.link.bandwidth": sweptBandwidths };
}

/// Returns what a control the engine's path concerns; the algorithms' for what is inside them.
export function controlOf(path: string): string | null {
  const rules: [RegExp, string][] = [
    [/bandwidth/, "bandwidth"], [/latency/, "latency"], [/nodes_per|devices_per_node|bus/, "devices"],
    [/cluster\.fabric/, "fabric"], [/cluster\.nodes/, "nodes"], [/compute_jitter/, "jitter"], [/stragglers/, "straggler"],
    [/workload\.batch/, "batch"], [/workload\.device/, "device"], [/step_time|gradient_time/, "stepTime"], [/workload/, "net"],
    [/algorithm/, "algorithms"],
  ];
  return rules.find(([pattern]) => pattern.test(path))?.[1] ?? null;
}
