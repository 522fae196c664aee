// What the page shows, and the scenario that this means. The address holds the state but for files (link.ts).
import { keysOf } from "./names.js";
import { hasLatency, onTestbed, type Testbed, testbedFile, testbedOf, timeKeyOf } from "./testbed.js";
import { bitsPerSecond, numberOf, type Spelled, spelledBandwidth, spelledDuration } from "./units.js";

export type View = "speedup" | "bandwidth" | "step" | "timeline" | "math" | "diagnose" | "training" | "table";
export const views: readonly View[] = ["speedup", "bandwidth", "step", "timeline", "math", "diagnose", "training", "table"];

export type Fabric = "star" | "leaf-spine" | "fat-tree" | "ring";
export const fabrics: readonly Fabric[] = ["star", "leaf-spine", "fat-tree", "ring"];

export type Json = { [key: string]: unknown };

export interface State {
  view: View;
  net: string; // a profile, or "my net"
  device: string; // a device, or "step time"
  precision: string; // of a device
  efficiency: string; // percent of the device's peak, for an estimate; empty: as measured with the net
  batch: string;
  stepTime: string; // where the device is "step time"
  fabric: Fabric;
  link: string; // a preset of links, whose latency and efficiency hold; empty: none
  bandwidth: string;
  second: string; // the second bandwidth; empty: none
  latency: string;
  nodes: string; // the most
  devices: string; // of a machine
  bus: string; // of a machine of several devices: a preset of links, or a bandwidth
  cards: string; // network cards of a machine
  wire: string; // how numbers travel where the algorithm does not say; empty: its default
  target: string; // efficiency in percent
  samples: string; // to train; empty: no matter
  memory: string; // GB of a device; empty: no matter
  jitter: string; // log-normal sigma of gradients; 0: none
  intervals: string; // of times: "yes", "no"; empty: on a testbed
  straggler: string; // a slow node takes so many times as long; 1: none
  measuredOne: string; // a step on one node took so long; empty: not measured
  measuredAll: string; // and one on all nodes
  algorithms: Json[];
  preset: string; // the shipped scenario that the file is, unchanged; empty: none
  file: { name: string; text: string } | null; // a scenario instead of the controls
  files: Record<string, string>; // texts that scenarios name
}

export const dense: Json = { label: "dense", kind: "dense", aggregation: { kind: "all-reduce", plan: "ring" } };
export const dgc: Json = { label: "DGC", kind: "dgc", codec: { kind: "dgc", density: 0.001 } };

export function firstState(): State {
  return {
    view: "speedup", net: "resnet-50", device: "step time", precision: "fp32", efficiency: "", batch: "64", stepTime: "150ms",
    fabric: "star", link: "", bandwidth: "1Gbps", second: "10Gbps", latency: "0s", nodes: "64", devices: "1", bus: "pcie-3.0-x16", cards: "1",
    wire: "", target: "90", samples: "", memory: "", jitter: "0", intervals: "", straggler: "1", measuredOne: "", measuredAll: "", algorithms: [dense, dgc], preset: "", file: null, files: {},
  };
}

/// An entry of a control is not what it should be. `control` is the control's id.
export class EntryError extends Error {
  constructor(readonly control: string, problem: string) {
    super(problem);
  }
}

function wholeNumber(text: string, control: string, least: number, most: number): number {
  const value = numberOf(text);
  if (!Number.isInteger(value) || value < least || value > most)
    throw new EntryError(control, `Enter a whole number from ${least} to ${most}.`);
  return value;
}

function number(text: string, control: string, least: number, most: number): number {
  const value = numberOf(text);
  if (!(value >= least && value <= most))
    throw new EntryError(control, `Enter a number from ${least} to ${most}.`);
  return value;
}

/// Returns the most nodes. Throws EntryError.
export const nodesOf = (state: State): number => wholeNumber(state.nodes, "nodes", 2, 4096);

function spelledAs(found: Spelled, control: string, example: string): string {
  if (found !== null && "text" in found) return found.text;
  throw new EntryError(control, found?.hint ?? example);
}
function bandwidthOf(text: string, control: string): string {
  const found = spelledAs(spelledBandwidth(text), control, "Enter a bandwidth with its unit, such as 1Gbps or 250Mbps.");
  if (bitsPerSecond(found)! < 1e3) throw new EntryError(control, "Enter a bandwidth of 1kbps or more.");
  return found;
}
const durationOf = (text: string, control: string): string =>
  spelledAs(spelledDuration(text), control, "Enter a duration with its unit, such as 50us or 0.3ms.");

/// Returns the efficiency to reach, as a share. Throws EntryError.
export const targetOf = (state: State): number => number(state.target, "target", 0.1, 100) / 100;
/// Returns how many samples there are to train; null if none are given. Throws EntryError.
export const samplesOf = (state: State): number | null => (state.samples.trim() === "" ? null : number(state.samples, "samples", 1, 1e18));
/// Returns the memory of a device in GB; null if it is not given. Throws EntryError.
export const memoryOf = (state: State): number | null => (state.memory.trim() === "" ? null : number(state.memory, "memory", 1e-3, 1e6));

/// Returns 1, 2, 4, ... up to `most`, which is the last.
export function nodeCounts(most: number): number[] {
  const counts: number[] = [];
  for (let n = 1; n < most; n *= 2) counts.push(n);
  return [...counts, most];
}

function fabricOf(state: State, bandwidth: string): Json {
  const link = state.link === "" ? { bandwidth, latency: durationOf(state.latency, "latency") } : { preset: state.link, bandwidth };
  if (state.fabric === "leaf-spine") return { kind: "leaf-spine", link, hosts_per_leaf: 8, spines: 2, oversubscription: 2 };
  return { kind: state.fabric, link };
}

// What the sliders say of a testbed's cluster: the engine takes the rest from the file.
function clusterOnTestbed(state: State, testbed: Testbed, nodes: number): Json {
  const latency = hasLatency(testbed) ? { latency: durationOf(state.latency, "latency") } : {};
  return { testbed: testbedFile, nodes, fabric: { link: { bandwidth: bandwidthOf(state.bandwidth, "bandwidth"), ...latency } } };
}

function workloadOf(state: State): Json {
  const profile = state.net === "my net" ? "my-net.json" : state.net;
  const batch = wholeNumber(state.batch, "batch", 1, 1_000_000);
  const testbed = testbedOf(state);
  // A step's time would include the bus, which is simulated.
  const key = testbed !== null && timeKeyOf(testbed) !== undefined ? timeKeyOf(testbed)! : numberOf(state.devices) > 1 ? "gradient_time" : "step_time";
  if (state.device === "step time") return { profile, batch, [key]: durationOf(state.stepTime, "stepTime") };
  return {
    profile, device: state.device, batch, ...(state.precision === "fp32" ? {} : { precision: state.precision }),
    ...(state.efficiency.trim() === "" ? {} : { efficiency: number(state.efficiency, "efficiency", 0.1, 100) / 100 }),
  };
}

// A bus is a preset of links, or has a bandwidth of its own.
const busOf = (bus: string): Json => ({ kind: "switched", link: bitsPerSecond(bus) === null ? { preset: bus.trim() } : { bandwidth: bandwidthOf(bus, "bus"), latency: "0s" } });

// The algorithm, with the page's wire where it has none of its own and takes one.
function onWire(algorithm: Json, wire: string): Json {
  return wire === "" || "wire" in algorithm || !keysOf(algorithm["kind"]).includes("wire") ? algorithm : { ...algorithm, wire };
}
/// Returns the algorithms as the scenario has them.
export const algorithmsOf = (state: State): Json[] => state.algorithms.map((one) => onWire(one, state.wire));

/// Returns whether values have intervals, in a second run, which takes several times as long as the first.
export const hasIntervals = (state: State): boolean =>
  state.file === null && (state.intervals === "yes" || (state.intervals === "" && testbedOf(state) !== null));
/// Returns the scenario with intervals.
export function surely(scenario: string): string {
  const read = JSON.parse(scenario) as Json;
  return JSON.stringify({ ...read, measure: { ...(read["measure"] as Json), interval: true } }, null, 2);
}

const isRandom = (state: State): boolean => numberOf(state.jitter) > 0 || numberOf(state.straggler) > 1;

/// Returns the steps of a point: more where they differ.
export const stepsOf = (state: State): number => (isRandom(state) ? 20 : 3);

function clusterOf(state: State, nodes: number): Json {
  const devices = wholeNumber(state.devices, "devices", 1, 16);
  const cluster: Json = { nodes };
  if (devices > 1) {
    cluster["devices_per_node"] = devices;
    cluster["bus"] = busOf(state.bus);
    const cards = wholeNumber(state.cards, "cards", 1, devices);
    if (cards > 1) cluster["nics"] = cards;
  }
  cluster["fabric"] = fabricOf(state, bandwidthOf(state.bandwidth, "bandwidth"));
  return cluster;
}

/// Returns the scenario of the controls, swept as a view needs it. `steps` are those of each algorithm; rates leave out
/// the first `skip`. Throws EntryError.
export function scenarioOf(state: State, sweep: Json, steps: number[] = [], skip = 0): Json {
  if (state.algorithms.length === 0) throw new EntryError("algorithms", "Add an algorithm.");
  const nodes = nodesOf(state);
  const testbed = testbedOf(state);
  const jitter = number(state.jitter, "jitter", 0, 2);
  const straggler = number(state.straggler, "straggler", 1, 100);
  targetOf(state), samplesOf(state), memoryOf(state);
  const cluster = testbed === null ? clusterOf(state, nodes) : clusterOnTestbed(state, testbed, nodes);
  const workload = testbed === null ? workloadOf(state) : onTestbed(testbed, workloadOf(state));
  if (jitter > 0) cluster["compute_jitter"] = { kind: "log-normal", sigma: jitter };
  if (straggler > 1) cluster["stragglers"] = { factor: straggler, one_node: true };
  return {
    title: `${state.net} by the explorer`, seed: 1, cluster, workload,
    algorithm: algorithmsOf(state)[0], stop: { iterations: skip + stepsOf(state) }, measure: { resources: true, ...(testbed === null ? {} : { interval: false }), ...(skip > 0 ? { skip } : {}) }, sweep: withSteps(sweep, steps, skip + stepsOf(state)),
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
  return {
    algorithm: algorithmsOf(state), "cluster.fabric.link.bandwidth": bandwidthsOf(state),
    "cluster.nodes": nodeCounts(nodesOf(state)),
  };
}

/// Returns what was measured, as `paceline diagnose --measured` takes it. Throws EntryError.
export function measuredOf(state: State): string[] {
  return [
    ...(state.measuredOne.trim() === "" ? [] : [`nodes=1:step=${durationOf(state.measuredOne, "measuredOne")}`]),
    ...(state.measuredAll.trim() === "" ? [] : [`step=${durationOf(state.measuredAll, "measuredAll")}`]),
  ];
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

const sweptBandwidths = ["100Mbps", "200Mbps", "500Mbps", "1Gbps", "2Gbps", "5Gbps", "10Gbps", "20Gbps", "50Gbps", "100Gbps", "200Gbps", "400Gbps"];
/// Returns the bandwidths of both controls.
export function bandwidthsOf(state: State): string[] {
  const both = [bandwidthOf(state.bandwidth, "bandwidth"), ...(state.second.trim() === "" ? [] : [bandwidthOf(state.second, "second")])];
  return [...new Set(both)];
}
/// Returns the sweep of the bandwidth view: round bandwidths, and those of both controls.
export function overBandwidth(state: State): Json {
  const all = new Map([...sweptBandwidths, ...bandwidthsOf(state)].map((text) => [bitsPerSecond(text)!, text]));
  return { algorithm: algorithmsOf(state), "cluster.fabric.link.bandwidth": [...all].sort((a, b) => a[0] - b[0]).map(([, text]) => text) };
}

/// Returns the control that a path of the engine concerns; the algorithms' for what is inside them.
export function controlOf(path: string): string | null {
  const rules: [RegExp, string][] = [
    [/cluster\.fabric.*preset/, "link"], [/cluster\.fabric.*bandwidth/, "bandwidth"], [/cluster\.bus/, "bus"], [/latency/, "latency"], [/cluster\.nics/, "cards"], [/nodes_per|devices_per_node/, "devices"],
    [/cluster\.fabric/, "fabric"], [/cluster\.nodes/, "nodes"], [/compute_jitter/, "jitter"], [/stragglers/, "straggler"],
    [/workload\.batch/, "batch"], [/workload\.device/, "device"], [/workload\.precision/, "precision"], [/workload\.efficiency/, "efficiency"], [/step_time|gradient_time/, "stepTime"], [/workload/, "net"],
    [/algorithm/, "algorithms"],
  ];
  return rules.find(([pattern]) => pattern.test(path))?.[1] ?? null;
}
