// What the page's controls read of an algorithm, without a browser: make test-explorer.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const pageFolder = fileURLToPath(new URL("../page", import.meta.url));
const bundled = await build({
  stdin: { contents: 'export * from "./words.ts"; export { firstState } from "./state.ts"; export { offered, trained } from "./algorithms.ts";', resolveDir: pageFolder },
  bundle: true, format: "esm", write: false,
});
const { aggregationOf, offered, trained, firstState } =
  await import(`data:text/javascript;base64,${Buffer.from(bundled.outputFiles[0].text).toString("base64")}`);

test("an aggregation is read in today's words and in those of saved links", () => {
  for (const [algorithm, expected] of [
    [{}, null],
    [{ aggregation: null }, null],
    [{ aggregation: "two-phase" }, { kind: "two-phase" }],
    [{ aggregation: { kind: "all-gather", how: "bruck" } }, { kind: "all-gather", how: "bruck" }],
    [{ transport: "all-gather" }, { kind: "all-gather" }],
    [{ transport: { kind: "all-reduce", plan: "tree" } }, { kind: "all-reduce", plan: "tree" }],
    [{ exchange: "all-gather-bruck" }, { kind: "all-gather", how: "bruck" }],
    [{ exchange: "recursive-doubling" }, { kind: "sparse-all-reduce" }],
    [{ exchange: "all-gather-ring", all_reduce: "tree" }, { kind: "all-gather", how: "ring", plan: "tree" }],
    [{ all_reduce: "ring" }, { kind: "usual", plan: "ring" }],
  ])
    assert.deepEqual(aggregationOf(algorithm, "usual"), expected, JSON.stringify(algorithm));
});

test("an aggregation that cannot be read has no kind", () => {
  for (const junk of [true, 7, [], ["all-gather"], {}])
    for (const key of ["aggregation", "transport", "exchange"])
      for (const beside of [{}, { all_reduce: "ring" }]) assert.equal(aggregationOf({ [key]: junk, ...beside }, "usual").kind, undefined);
});

test("the page itself writes no earlier word", () => {
  const earlier = new Set(["transport", "exchange", "all_reduce", "bucket", "compressor", "error_feedback", "density", "rank", "selection"]);
  for (const algorithm of [...offered, ...trained, ...firstState().algorithms]) {
    assert.deepEqual(Object.keys(algorithm).filter((key) => earlier.has(key)), [], algorithm.label);
    assert.ok(!["dense-overlapped", "compressed-sgd", "ps-sync"].includes(algorithm.kind), algorithm.label);
  }
});
