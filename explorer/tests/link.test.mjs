// What the page makes of its address, without a browser: make test-explorer.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const pageFolder = fileURLToPath(new URL("../page", import.meta.url));
const bundled = await build({
  stdin: { contents: 'export * from "./link.ts"; export { firstState, views } from "./state.ts";', resolveDir: pageFolder },
  bundle: true, format: "esm", write: false,
});
const { fromAddress, toAddress, mostAddress, mostAlgorithms, firstState, views } =
  await import(`data:text/javascript;base64,${Buffer.from(bundled.outputFiles[0].text).toString("base64")}`);

const raw = (json) => `#${encodeURIComponent(json)}`;
const hashOf = (changes) => raw(JSON.stringify(changes));
const lists = (depth) => `${"[".repeat(depth)}${"]".repeat(depth)}`;
const isObject = (x) => typeof x === "object" && x !== null && !Array.isArray(x);
const isText = (most) => (x) => typeof x === "string" && x.length <= most && Buffer.from(x).toString() === x;
const isEntry = isText(255);
const isWhole = (x, levels) => (typeof x === "number" ? Number.isFinite(x) : typeof x === "string" ? isText(Infinity)(x)
  : x === null || typeof x !== "object" || (levels > 0 && Object.entries(x).every(([key, value]) => isWhole(key) && isWhole(value, levels - 1))));

// What a value must be, written anew; a key of the state that is missing here fails the tests.
const may = {
  view: (x) => views.includes(x), net: isEntry, device: isEntry, precision: isEntry, efficiency: isEntry, bus: isEntry, cards: isEntry, link: isEntry, wire: isEntry, target: isEntry,
  samples: isEntry, memory: isEntry, preset: isEntry,
  fabric: (x) => ["star", "leaf-spine", "fat-tree", "ring"].includes(x),
  batch: isEntry, stepTime: isEntry, bandwidth: isEntry, second: isEntry, latency: isEntry, nodes: isEntry, devices: isEntry, jitter: isEntry, intervals: (v) => ["", "yes", "no"].includes(v), straggler: isEntry, measuredOne: isEntry, measuredAll: isEntry,
  algorithms: (x) => Array.isArray(x) && x.length <= 32 && x.every((a) => isObject(a) && isEntry(a.label) && isWhole(a, 32)),
  file: (x) => x === null || (isObject(x) && Object.keys(x).sort().join() === "name,text" && isEntry(x.name) && isText(Infinity)(x.text)),
  files: (x) => isObject(x) && Object.values(x).every(isText(Infinity)),
};

const full = () => ({
  view: "table", net: "my net", device: "v100", batch: "32", stepTime: "80ms", fabric: "ring", bandwidth: "3Gbps", second: "", latency: "40us", nodes: "4",
  precision: "bf16", efficiency: "40", bus: "nvlink-1", cards: "2", link: "10GbE-tcp", wire: "bf16", target: "75", samples: "1e9", memory: "80", preset: "dgc-speedup",
  devices: "2", jitter: "0.2", intervals: "yes", straggler: "3", measuredOne: "0.5s", measuredAll: "4s", algorithms: [{ label: "a", kind: "sgd", codec: { kind: "qsgd", levels: 7 }, exact: true, mixing: [[1, 0.5], [null]] }],
  file: { name: "mine.json", text: "{}\n💥 \" # % \u0000" }, files: { "my-net.json": "{}", "__proto__": "a,b", constructor: "c" },
});

// As JSON texts.
const junk = [...[
  null, true, false, 0, 8, -1, 0.5, 1e308, -1e308, Number.MAX_SAFE_INTEGER + 2, "", " ", "8", "NaN", "1e999", "null", "[]", "__proto__", "constructor", "toString", "speedup", "star",
  "v100", "my net", "\u0000", "\n", "💥", "\ud800", "x".repeat(255), "x".repeat(256), "x".repeat(300_000), [], [null], [[]], [{}], [1], ["dense"], [{ label: null }], [{ label: 1 }],
  [{ label: "a" }], [{ label: "a", kind: null }], [{ label: "\udc00" }], [{ label: "x".repeat(256) }], [[{ label: "a" }]], Array(3000).fill({ label: "a" }), Array(33).fill({ label: "a" }),
  Array(32).fill({ label: "a" }), { length: 1 }, {}, { label: "a" }, { 0: { label: "a" } }, { name: "a" }, { text: "a" }, { name: "a", text: "b" }, { name: 1, text: 2 },
  { name: "a", text: null }, { name: "a", text: "\ud800" }, { name: "a", text: "b", more: 1 }, { name: ["a"], text: "b" }, { name: "x".repeat(256), text: "b" }, { name: "a", text: "b".repeat(300_000) },
  { toString: 1, valueOf: 1 }, { a: "b" }, { a: 1 }, { a: null }, { a: { name: "a", text: "b" } }, { constructor: {} },
].map((value) => JSON.stringify(value)), "1e999", "[1e999]", '{"__proto__": "a"}', '{"__proto__": 1}', '{"__proto__": null, "a": "b"}', '[{"label": "a", "__proto__": [1]}]',
  '[{"label": "a", "density": -1e999}]', '[{"label": "a", "\\ud800": 1}]', lists(10), lists(20_000), ...[31, 32, 5000].map((depth) => `[{"label": "a", "deep": ${lists(depth)}}]`)];

const short = (text) => text.slice(0, 80);

/// Returns the state that was read; null if a sentence's worth of reason came instead.
function judged(hash, name) {
  const read = fromAddress(hash);
  if (read.state === undefined) {
    assert.match(read.problem, /^[^\n]{5,300}$/, name);
    assert.doesNotMatch(read.problem, /undefined|Unexpected|Cannot|\[object|\.$/, name);
    return null;
  }
  assert.deepEqual(Object.keys(read.state).sort(), Object.keys(may).sort(), name);
  for (const [key, value] of Object.entries(read.state)) assert.ok(may[key](value), `${name}: ${key}`);
  assert.equal(Object.getPrototypeOf(read.state), Object.prototype);
  return read.state;
}

// Files stay out of an address, which has a bound.
function assertComesBack(state, name) {
  const address = toAddress(state);
  if (address === null) return assert.ok(JSON.stringify(state).length > mostAddress / 9, name);
  assert.ok(address.length <= mostAddress, name);
  assert.deepEqual(fromAddress(address), { state: { ...state, file: null, files: {} } }, name);
}

test("every key of the state has its check here", () => {
  assert.deepEqual(Object.keys(firstState()).sort(), Object.keys(may).sort());
  assert.deepEqual(Object.keys(full()).sort(), Object.keys(may).sort());
  assert.equal(mostAlgorithms, 32);
});

for (const key of Object.keys(firstState()))
  test(`${key} is read if it is what it should be, and refused if not, whatever it is`, () => {
    const taken = junk.filter((value) => {
      const name = `${key}: ${short(value)}`;
      const state = judged(raw(`{"straggler": "2", ${JSON.stringify(key)}: ${value}}`), name);
      assert.equal(state !== null, may[key](JSON.parse(value)), name);
      if (state === null) return false;
      assert.deepEqual(state, { ...firstState(), straggler: "2", [key]: JSON.parse(value) }, name);
      assertComesBack(state, name);
      return true;
    });
    assert.ok(taken.length > 0 && taken.length < junk.length, `${taken.length} taken`);
  });

test("a refusal names the key, what was looked for, and what is there", () => {
  for (const [hash, problem] of [
    [hashOf({ nodes: 8 }), 'nodes should be text, but is the number 8'],
    [hashOf({ view: "map" }), 'view should be one of speedup, bandwidth, step, timeline, math, diagnose, training, table, but is "map"'],
    [hashOf({ net: 5 }), 'net should be text, but is the number 5'],
    [hashOf({ algorithms: [null] }), 'algorithms[0] should be an object with a label, but is null'],
    [hashOf({ algorithms: [{ label: "a" }, { kind: "dense" }] }), 'algorithms[1].label should be text, but is missing'],
    [hashOf({ algorithms: Array(3000).fill({ label: "a" }) }), 'algorithms should be a list of at most 32 algorithms, but is a list of 3000'],
    [raw('{"algorithms": [{"label": "a", "x": [0, {"y": 1e999}]}]}'), 'algorithms[0].x[1].y should be a finite number, but is the number Infinity'],
    [hashOf({ file: { name: 1, text: 2 } }), 'file.name should be text, but is the number 1'],
    [hashOf({ file: { name: "a", text: "b", nmae: "c" } }), 'file has no key "nmae"'],
    [raw(`{"algorithms": [{"label": "a", "x": ${lists(99)}}]}`), `algorithms[0].x${"[0]".repeat(15)}... should be nested at most 32 levels deep, but is deeper`],
    [hashOf({ files: { "a b.csv": 1 } }), 'files["a b.csv"] should be text, but is the number 1'],
    [hashOf({ batch: "x".repeat(1000) }), 'batch should have at most 255 characters, but has 1000'],
    [hashOf({ batch: "\n" + "x".repeat(300) }), 'batch should have at most 255 characters, but has 301'],
    [hashOf({ fabric: "a\nb" }), 'fabric should be one of star, leaf-spine, fat-tree, ring, but is "a\\nb"'],
    [raw('{"batch": "\\ud800"}'), 'batch should be Unicode text, but has half a surrogate pair'],
    [hashOf({ nodez: "8" }), 'a link has no key "nodez"'],
    [raw("5"), 'what follows "#" should be a JSON object, but is the number 5'],
    ["#%", 'what follows "#" should be percent-encoded text, but has a "%" that starts no character'],
    [hashOf({ nodes: "8" }).slice(0, -3), 'what follows "#" should be a JSON object, but is not JSON or was cut off'],
  ])
    assert.deepEqual(fromAddress(hash), { problem });
});

test("a state comes back from its address", () => {
  assert.equal(toAddress(firstState()), "");
  for (const hash of ["", "#", "#{}", "#%7B%7D"]) assert.deepEqual(fromAddress(hash), { state: firstState() });
  assertComesBack(full(), "full");
  for (const [key, value] of Object.entries(full())) {
    const state = { ...firstState(), [key]: value };
    assertComesBack(state, key);
  }
  assert.equal(toAddress({ ...firstState(), algorithms: Array(32).fill({ label: "a", note: "x".repeat(1000) }) }), null);
  assert.equal({}.view, undefined);
});

test("an address that was cut off or changed anywhere is read or refused", () => {
  const whole = hashOf(full());
  for (let length = 2; length < whole.length; ++length) assert.equal(judged(whole.slice(0, length), `the first ${length}`), null);
  let seed = 1;
  const draw = (n) => { seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0; return (seed >>> 8) % n; };
  const text = JSON.stringify(full());
  const pieces = ['"', "{", "}", "[", "]", ",", ":", "null", "1e999", "-", "\\", "\\ud800", "__proto__", "%", "💥", '{"a":1}', "[null]", "0", "\u0000"];
  const counts = { read: 0, refused: 0 };
  for (let i = 0; i < 20_000; ++i) {
    let mutated = text;
    for (let k = 0; k <= draw(3); ++k) {
      const at = draw(mutated.length);
      mutated = mutated.slice(0, at) + (draw(3) === 0 ? "" : pieces[draw(pieces.length)]) + mutated.slice(at + draw(4));
    }
    const hash = draw(4) === 0 ? `#${mutated}` : raw(Buffer.from(mutated).toString());
    const state = judged(hash, hash);
    ++counts[state === null ? "refused" : "read"];
    if (state !== null) assertComesBack(state, hash);
  }
  console.log("mutated:", JSON.stringify(counts));
  assert.ok(counts.read > 500 && counts.refused > 500);
});
