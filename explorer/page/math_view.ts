// The closed form of a step on a star, with its numbers filled in:
//
//   T = t_compute + t_coding + V / B + k · L
//
// V is what a node sends, k the number of its messages that wait for each other, and L the latency of a message, which
// crosses two links. A form is shown only if it gives the engine's closed form.
import { short } from "./lines.js";
import { el } from "./dom.js";
import type { Json } from "./state.js";
import { milliseconds } from "./step_view.js";
import { aggregationOf } from "./words.js";

export interface Facts {
  algorithm: Json;
  nodes: number;
  sent: number; // bytes of a node per step
  bitsPerSecond: number;
  latency: number; // of a link, in seconds
  compute: number;
  coding: number;
  model: number;
  simulated: number;
}

interface Pattern {
  name: string;
  sends: string;
  messages: string;
  count: (n: number) => number;
}

const log2 = (n: number): number => Math.ceil(Math.log2(n));
const patterns: Record<string, Pattern> = {
  ring: { name: "ring all-reduce of M bytes", sends: "2 (n - 1) / n · M", messages: "2 (n - 1)", count: (n) => 2 * (n - 1) },
  "halving-doubling": { name: "halving-doubling of M bytes", sends: "2 (n - 1) / n · M", messages: "2 log2 n", count: (n) => 2 * log2(n) },
  "recursive-doubling": { name: "recursive doubling of M bytes", sends: "M log2 n", messages: "log2 n", count: log2 },
  "all-gather-ring": { name: "ring all-gather of messages of m bytes", sends: "(n - 1) m", messages: "n - 1", count: (n) => n - 1 },
  "all-gather-bruck": { name: "Bruck all-gather of messages of m bytes", sends: "(n - 1) m", messages: "log2 n, rounded up", count: log2 },
  sparse: { name: "sparse all-reduce by recursive doubling", sends: "unions of log2 n rounds", messages: "log2 n", count: log2 },
};

// How the messages of these algorithms travel where a scenario does not say it.
const usual = new Map<unknown, string>([
  ["dense", "all-reduce"], ["sgd", "all-reduce"], ["dgc", "sparse-all-reduce"], ["sign-sgd", "all-gather"], ["ef-sign-sgd", "all-gather"],
]);
const called = (name: unknown, prefix = ""): Pattern | null =>
  typeof name === "string" && Object.hasOwn(patterns, prefix + name) ? patterns[prefix + name]! : null;

// Returns how an algorithm's messages travel; null where no form here is known to be its own. Without latency most forms are
// compute + V / B, so that the check against the closed form alone would not tell them apart.
function patternOf(algorithm: Json): Pattern | null {
  const byDefault = usual.get(algorithm["kind"]);
  if (byDefault === undefined || (algorithm["schedule"] ?? "whole") !== "whole") return null;
  const aggregation = aggregationOf(algorithm, byDefault) ?? { kind: byDefault };
  if ((aggregation["machines"] ?? "flat") !== "flat") return null;
  switch (aggregation["kind"]) {
    case "all-reduce":
      return isSummedWhole(algorithm) ? called(aggregation["plan"] ?? "ring") : null;
    case "all-gather":
      return called(aggregation["how"] ?? "ring", "all-gather-");
    case "sparse-all-reduce":
      return patterns["sparse"]!;
    default:
      return null;
  }
}

// Returns whether a gradient is sent as it is, or in half precision. Other codecs may send several messages of a step, or
// choose another aggregation by themselves.
function isSummedWhole(algorithm: Json): boolean {
  const codec = algorithm["codec"] ?? undefined;
  const kind = typeof codec === "object" ? (codec as Json)["kind"] : codec;
  return kind === undefined || kind === "none" || kind === "fp16";
}

/// Returns the form with its numbers; null if none of these forms is the algorithm's.
export function stepMath(f: Facts): HTMLElement | null {
  const n = f.nodes;
  const transfer = (f.sent * 8) / f.bitsPerSecond;
  const sum = (p: Pattern) => f.compute + f.coding + transfer + p.count(n) * 2 * f.latency;
  const pattern = patternOf(f.algorithm);
  if (pattern === null || Math.abs(sum(pattern) - f.model) > 1e-5 * f.model) return null;
  const wait = pattern.count(n) * 2 * f.latency;
  const coding = f.coding > 0;
  const lines = [
    `T = t_compute ${coding ? "+ t_coding " : ""}+ V / B + k · L`,
    "",
    `${pattern.name}: V = ${pattern.sends}, k = ${pattern.messages}`,
    "",
    `n          = ${n} nodes`,
    `V          = ${short(f.sent / 2 ** 20)} MiB that a node sends`,
    `k          = ${pattern.count(n)} messages that wait for each other`,
    `B          = ${short(f.bitsPerSecond / 1e9)} Gbps`,
    `L          = 2 · ${short(f.latency * 1e6)} us, since a message crosses two links`,
    `t_compute  = ${milliseconds(f.compute)}`,
    ...(coding ? [`t_coding   = ${milliseconds(f.coding)}`] : []),
    "",
    `T = ${[f.compute, ...(coding ? [f.coding] : []), transfer, wait].map(milliseconds).join(" + ")} = ${(sum(pattern) * 1000).toFixed(3)} ms`,
    `paceline's closed form, which rounds messages to bytes: ${(f.model * 1000).toFixed(3)} ms; simulated: ${(f.simulated * 1000).toFixed(3)} ms`,
  ];
  return el("pre", { tabindex: "0", "aria-label": `closed form: ${pattern.name}` }, lines.join("\n"));
}
