// The algorithms that the page offers by name. "sgd" with a codec, an aggregation and a schedule is put together by hand.
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

export const codecs = ["none", "fp16", "top-k", "random-k", "qsgd", "terngrad", "sign", "scaled-sign", "natural", "8-bit", "power-sgd", "one-bit"];
export const aggregations = ["", "all-reduce", "all-gather", "two-phase", "sparse-all-reduce"];
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

export const devices = ["k80", "m40", "titan-x-maxwell", "gtx-1080", "p100", "titan-x-pascal", "gtx-1080-ti", "titan-xp", "rtx-2080-ti", "v100"];
export const nets = ["alexnet", "bert-base", "bert-large", "deepspeech", "googlenet", "gpt2", "gpt2-large", "gpt2-medium", "gpt2-xl", "inception-v3", "llama-7b", "ptb-lstm", "resnet-110", "resnet-152", "resnet-50", "tinyllama-1.1b", "transformer", "vgg-16", "vgg-a", "vit-b-16"];

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
