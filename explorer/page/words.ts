// Algorithms in words that the page looks into. The engine reads words of earlier scenarios for ever
// (app/scenario/algorithms/words.hpp), so saved links keep theirs. The page needs no more of them than this.
import type { Json } from "./state.js";

const isObject = (x: unknown): x is Json => typeof x === "object" && x !== null && !Array.isArray(x);

/// Earlier words for the aggregation. The engine refuses them beside "aggregation".
export const earlierAggregation = ["transport", "exchange", "all_reduce"];

// An earlier "exchange" was a way to gather, or the merging of sparse messages.
function exchanged(exchange: unknown): unknown {
  if (typeof exchange !== "string") return exchange;
  if (exchange === "recursive-doubling") return "sparse-all-reduce";
  return { kind: "all-gather", how: exchange.replace(/^all-gather-/, "") };
}

/// Returns the aggregation that an algorithm names, as an object with a "kind", or without one where it cannot be read.
/// Returns null if it names none. `usual` is what the algorithm uses by itself.
export function aggregationOf(algorithm: Json, usual = ""): Json | null {
  const named = algorithm["aggregation"] ?? algorithm["transport"] ?? exchanged(algorithm["exchange"]) ?? null;
  const plan = algorithm["all_reduce"] ?? null;
  if (named === null && plan === null) return null;
  const aggregation = typeof named === "string" ? { kind: named } : named ?? { kind: usual };
  if (!isObject(aggregation)) return {};
  return plan === null ? aggregation : { ...aggregation, plan };
}
