// The algorithms that the page offers first, with settings; the engine lists all others.
import { keysOf } from "./names.js";
import { dense, dgc, type Json } from "./state.js";

export const offered: Json[] = [
  dense,
  { label: "dense, overlapped", kind: "sgd", schedule: "25MiB" },
  dgc,
  { label: "PowerSGD, rank 2", kind: "sgd", codec: { kind: "power-sgd", rank: 2 } },
  { label: "QSGD, 4 bits", kind: "sgd", codec: { kind: "qsgd", levels: 7 }, aggregation: { kind: "all-gather" } },
  { label: "TernGrad, two-phase", kind: "sgd", codec: { kind: "terngrad" }, aggregation: { kind: "two-phase" } },
  { label: "fp16", kind: "sgd", codec: { kind: "fp16" } },
  { label: "local SGD, 8 steps", kind: "local-sgd", period: 8 },
  { label: "D-PSGD on a ring", kind: "dsgd", mixing: { kind: "ring" } },
  { label: "AD-PSGD", kind: "ad-psgd" },
  { label: "SGD by hand", kind: "sgd" },
];

/// Returns an algorithm by its kind alone, with the settings that it cannot do without.
export function byKind(kind: string): Json {
  const needs: Record<string, Json> = { "post-local-sgd": { switch_step: 50 }, collective: { operation: "all-to-all" }, "choco-sgd": { codec: { kind: "top-k" } }, noloco: { mixing: { kind: "random-matching" } } };
  const keys = keysOf(kind);
  return { label: kind, kind, ...(keys.includes("mixing") && !keys.includes("period") ? { mixing: { kind: "ring" } } : {}), ...needs[kind] };
}

export const schedules = ["", "whole", "tensors", "merged", "25MiB"];

export const trained: Json[] = [
  { label: "PmSGD", kind: "pmsgd" },
  { label: "DmSGD", kind: "dmsgd", mixing: { kind: "ring" } },
  { label: "DecentLaM", kind: "decentlam", mixing: { kind: "ring" } },
  { label: "DGC", kind: "dgc", codec: { kind: "dgc", density: 0.01 } },
];

/// The small training study: eight machines with two classes of digits each.
export function trainingScenario(): Json {
  return {
    title: "Eight machines with two classes of digits each, by the explorer", seed: 1,
    cluster: { nodes: 8, fabric: { kind: "star", link: { preset: "1GbE-tcp" } } },
    workload: {
      model: { kind: "mlp", hidden: [16] }, batch: 16, step_time: "2ms",
      data: { kind: "digits", train: 320, test: 128, partition: { kind: "label-sorted" } },
    },
    optimizer: { learning_rate: 0.05, momentum: 0.9 }, algorithm: trained[0],
    stop: { iterations: 120 }, measure: { every: "10 iterations" }, sweep: { algorithm: trained },
  };
}

/// A net by its numbers: layers of equal size.
export function myNet(parameters: number, macs: number, layers: number): Json {
  const each = Math.max(1, Math.round(parameters / layers));
  return {
    name: "my-net", source: "entered in the explorer",
    layers: Array.from({ length: layers }, (_, i) => ({
      name: `layer${i}`, macs: Math.round(macs / layers), tensors: [{ name: "weight", shape: [each, 1] }],
    })),
  };
}

/// What a net's profile holds; null if the text is none.
export function netOf(text: string): { name: string; parameters: number; macs: number; layers: number } | null {
  try {
    const { name, layers } = JSON.parse(text) as { name?: string; layers: { macs: number; tensors: { shape: number[] }[] }[] };
    const parameters = layers.flatMap((layer) => layer.tensors).reduce((sum, tensor) => sum + tensor.shape.reduce((a, b) => a * b, 1), 0);
    return { name: name ?? "my net", parameters, macs: layers.reduce((sum, layer) => sum + layer.macs, 0), layers: layers.length };
  } catch {
    return null;
  }
}
