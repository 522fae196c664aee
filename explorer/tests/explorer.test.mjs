// The explorer as a person uses it, in headless Chromium: make test-explorer.
//
// PACELINE names the program, which serves the page and is the oracle of every number.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { address, axe, browser, byCommandLine, complaints, csvOf, drop, fewerNodes, folder, hashOf, idle, openPage, paceline, page, settled, shipped, show, text } from "./harness.mjs";

test("the first view is drawn from the numbers of the command line", async () => {
  assert.match(await text(page, "status"), /28 points/);
  assert.equal(await csvOf(page), byCommandLine(await page.evaluate(() => window.explorer.scenario())));
  assert.equal(await page.locator("canvas").count(), 2);
  const first = await page.evaluate(() => window.explorer.measured.first_ms);
  console.log(`first view: ${first.toFixed(0)} ms after the page began to load`);
  assert.deepEqual(complaints, []);
});

for (const name of ["dgc-speedup", "ring-allreduce", "collectives", "decentralized-throughput", "dgc-refined", "one-bit-lamb",
  "per-tensor-on-machines", "bandwidth-what-if", "shared-network", "stragglers", "swarm-step-time", "ways-to-travel"])
  test(`${name} gives the command line's results.csv byte for byte`, async () => {
    const scenario = JSON.stringify(shipped(name));
    await drop(`${name}.json`, scenario);
    assert.equal(await text(page, "message"), "");
    assert.equal(await csvOf(page), byCommandLine(scenario));
  });

// A few steps of every net: what a study trains is cut down, and its net is put in.
function training(name, model = {}) {
  const scenario = shipped(name);
  scenario.stop = { iterations: 12 };
  scenario.measure = { every: "4 iterations" };
  if (scenario.sweep["optimizer.learning_rate"]) scenario.sweep["optimizer.learning_rate"] = [0.05];
  if (model.kind) {
    scenario.workload.model = model;
    delete scenario.sweep;
    delete scenario.workload.stand_in_for;
    Object.assign(scenario, { stop: { iterations: 2 }, measure: { every: "1 iterations" }, algorithm: { kind: "dense" } });
    Object.assign(scenario.workload.data, { train: 256, test: 64 });
    Object.assign(scenario.workload, { batch: 8, step_time: "1ms" });
    scenario.cluster.nodes = 2;
  }
  return JSON.stringify(scenario);
}
const nets = [["first-training", { kind: "cnn" }], ["first-training", { kind: "resnet", width: 8, blocks: 1, groups: 2 }],
  ["language-models", { kind: "lstm", hidden: 32 }], ["language-models", { kind: "transformer", layers: 1, width: 32, heads: 2 }]];
const trainings = [["first-training"], ["momentum-bias"], ["gossip-training"], ...nets];

for (const [name, model] of trainings)
  test(`${name} ${model?.kind ?? ""} trains to the same bytes`, async () => {
    const scenario = training(name, model);
    await drop(`${name}.json`, scenario);
    assert.equal(await text(page, "message"), "");
    assert.equal(await csvOf(page), byCommandLine(scenario));
  });

test("a browser without fused multiply-adds of vectors takes the other engine, and gets the same bytes", async () => {
  const asked = [];
  const other = await browser.newPage();
  other.on("request", (r) => { if (r.url().endsWith(".wasm")) asked.push(r.url().split("/").at(-1)); });
  await other.addInitScript(() => { WebAssembly.validate = () => false; });
  await other.goto(address);
  await idle(other);
  for (const [name, model] of [["first-training", { kind: "mlp", hidden: [32] }], ...nets]) {
    const scenario = training(name, model);
    await other.setInputFiles("#open", { name: `${name}.json`, mimeType: "text/plain", buffer: Buffer.from(scenario) });
    await settled(other);
    assert.equal(await csvOf(other), byCommandLine(scenario), `${name} ${model?.kind}`);
  }
  await other.close();
  assert.deepEqual(asked, ["paceline.wasm"]);
  const used = await page.evaluate(() => performance.getEntriesByType("resource").map((one) => one.name).filter((name) => name.endsWith(".wasm")));
  assert.deepEqual(used.map((name) => name.split("/").at(-1)), ["paceline_fused.wasm"]);
});

test("every control changes the scenario, and the numbers stay those of the command line", async () => {
  await show({ nodes: "8" });
  const seen = new Set([await csvOf(page)]);
  const changes = { batch: "32", stepTime: "80ms", bandwidth: "3Gbps", second: "20Gbps", latency: "40us", nodes: "4", devices: "2", jitter: "0.2", straggler: "3" };
  for (const [id, value] of Object.entries(changes)) {
    await page.fill(`#${id}`, value);
    await page.waitForTimeout(80);
    await idle(page);
    const csv = await csvOf(page);
    assert.ok(!seen.has(csv), `${id} changed nothing`);
    seen.add(csv);
  }
  for (const [id, value] of [["net", "alexnet"], ["device", "v100"], ["fabric", "leaf-spine"], ["add", "PowerSGD, rank 2"], ["net", "my net"]]) {
    await page.selectOption(`#${id}`, value);
    await page.waitForTimeout(80);
    await idle(page);
    assert.ok(await page.locator(".wrong:not(:empty)").count() > 0 || !seen.has(await csvOf(page)), `${id} changed nothing`);
  }
  assert.deepEqual(complaints, []);
});

test("an entry that is refused ends the run: the status says so", async () => {
  await show({ batch: "-3", nodes: "4" });
  assert.equal(await text(page, "status"), "This cannot be run.");
  await page.fill("#batch", "64");
  await page.waitForTimeout(80);
  await idle(page);
  assert.match(await text(page, "status"), /12 points/);
  await page.fill("#nodes", "many");
  await page.waitForTimeout(80);
  await idle(page);
  assert.equal(await text(page, "status"), "This cannot be run.");
  await page.click("#tab-timeline");
  await page.waitForTimeout(80);
  await idle(page);
  assert.match(await text(page, "nodes-wrong"), /whole number/);
  await show({ algorithms: [] });
  assert.equal(await text(page, "status"), "This cannot be run.");
  assert.match(await text(page, "algorithms-wrong"), /Add an algorithm/);
});

test("nonsense is answered beside its control, and the page goes on", async () => {
  await show({ nodes: "4" });
  for (const [id, value, answer] of [["bandwidth", "fast", /unit/], ["batch", "-3", /whole number/], ["nodes", "1e99", /whole number/],
    ["latency", "", /duration/], ["jitter", "NaN", /number/], ["stepTime", "💥", /duration/]]) {
    const before = await page.inputValue(`#${id}`);
    await page.fill(`#${id}`, value);
    await page.waitForTimeout(80);
    await idle(page);
    assert.match(await text(page, `${id}-wrong`), answer);
    await page.fill(`#${id}`, before);
    await page.waitForTimeout(80);
    await idle(page);
    assert.equal(await text(page, `${id}-wrong`), "");
  }
  assert.notEqual(await csvOf(page), "");
});

test("each of several mistakes stands beside its control", async () => {
  await show({ nodes: "4", bandwidth: "fast", latency: "near", batch: "-3", stepTime: "now" });
  for (const [id, answer] of [["bandwidth", /unit/], ["latency", /duration/], ["batch", /whole number/], ["stepTime", /duration/]])
    assert.match(await text(page, `${id}-wrong`), answer, id);
  assert.equal(await text(page, "nodes-wrong"), "");
  assert.equal(await text(page, "message"), "");
});

test("all mistakes of a file are told", async () => {
  const scenario = shipped("ring-allreduce");
  await drop("three.json", JSON.stringify({ ...scenario, strange: 1, stop: { iterations: 0 }, workload: { ...scenario.workload, step_time: 5 } }));
  const told = (await text(page, "message")).split("\n");
  assert.equal(told.length, 3, told.join("\n"));
  [/strange/, /workload\.step_time/, /stop\.iterations/].forEach((place, i) => assert.match(told[i], place));
});

test("a broken file is told with its place", async () => {
  await drop("broken.json", "{\"cluster\": {\"nodes\": 4,,}}");
  assert.match(await text(page, "message"), /line|column|1:/);
  await drop("unknown.json", JSON.stringify({ ...shipped("ring-allreduce"), clutser: {} }));
  assert.match(await text(page, "message"), /clutser/);
});

test("a results.csv is shown as a table", async () => {
  await drop("results.csv", byCommandLine(fewerNodes(shipped("dgc-speedup"), 4)));
  assert.ok(await page.locator("tbody tr").count() > 1);
});

test("memory, tokens, energy and money are columns of the table", async () => {
  await drop("results.csv", byCommandLine(JSON.stringify({
    cluster: { nodes: 2, fabric: { kind: "star", link: { bandwidth: "10Gbps" } } },
    workload: { profile: "gpt2", device: "a100-80gb", precision: "bf16", efficiency: 0.4, batch: 2, recompute: "full" },
    algorithm: { kind: "adam", wire: "bf16" }, measure: { resources: true }, price: { per_device_hour: "list" }, power: {}, stop: { iterations: 2 },
  })));
  const header = await page.locator("thead").first().innerText();
  for (const column of ["memory (% of a device)", "tokens/s", "MFU (%)", "device-hours", "energy (kWh)", "cost"])
    assert.ok(header.includes(column), `${column} in ${header}`);
});

test("a link holds the whole state", async () => {
  await show({ nodes: "8" });
  await page.fill("#bandwidth", "2Gbps");
  await page.waitForTimeout(80);
  await idle(page);
  const link = page.url();
  const csv = await csvOf(page);
  const other = await openPage(new URL(link).hash);
  assert.equal(await csvOf(other), csv);
  await other.close();
});

// The first view, complete and usable, and one sentence about the link.
async function assertFirstView(p, problem, name) {
  const said = await text(p, "message");
  assert.match(said, /^The link could not be read, so this is the first view: [^\n]+\.$/, name);
  assert.match(said, problem, name);
  assert.ok(said.length < 400, said);
  assert.match(await text(p, "status"), /^28 points$/, name);
  assert.equal(await p.locator("canvas").count(), 2, name);
  assert.equal(await p.inputValue("#bandwidth"), "1Gbps", name);
  assert.deepEqual(await p.locator("details.algorithm summary").allTextContents(), ["dense", "DGC"], name);
  assert.equal(await p.locator(".wrong:not(:empty)").count(), 0, name);
  assert.deepEqual(complaints, [], name);
}

const raw = (json) => `#${encodeURIComponent(json)}`;
const lists = (depth) => `${"[".repeat(depth)}${"]".repeat(depth)}`;
const manyAlgorithms = (count) => Array.from({ length: count }, (_, i) => ({ label: `dense ${i}`, kind: "dense" }));
const unreadable = [
  ["text", "#nonsense", /JSON/],
  ["half an escape", "#%E0%A4%A", /percent/],
  ["JSON that was cut off", hashOf({ nodes: "8" }).slice(0, -3), /JSON.*cut off/],
  ["null", raw("null"), /null/],
  ["a list", raw("[]"), /a list/],
  ["an algorithm that is null", hashOf({ algorithms: [null] }), /algorithms\[0\].*null/],
  ["thousands of algorithms", hashOf({ algorithms: manyAlgorithms(3000) }), /at most 32.*3000/],
  ["a file of numbers", hashOf({ file: { name: 1, text: 2 } }), /file\.name.*number/],
  ["a number where a text belongs", hashOf({ nodes: 8 }), /nodes.*text.*8/],
  ["a number that is none", raw('{"algorithms": [{"label": "DGC", "kind": "dgc", "density": 1e999}]}'), /algorithms\[0\]\.density.*finite/],
  ["deep lists", raw(`{"algorithms": [{"label": "a", "deep": ${lists(50_000)}}]}`), /32 levels/],
  ["half a character", raw('{"algorithms": [{"label": "\\ud800", "kind": "dense"}]}'), /algorithms\[0\]\.label/],
  ["300,000 digits", hashOf({ bandwidth: "1".repeat(300_000) }), /bandwidth.*300000/],
  ["a view that is none", hashOf({ view: "constructor" }), /view.*speedup.*constructor/],
  ["a prototype", raw('{"__proto__": {"view": "table"}}'), /__proto__/],
  ["an unknown key", hashOf({ nodez: "8" }), /nodez/],
  ["an unknown preset", hashOf({ preset: "__proto__" }), /preset.*__proto__/],
  ["a file's text that is a list", hashOf({ files: { "a.csv": [] } }), /files\["a\.csv"\]/],
];

for (const [name, hash, problem] of unreadable)
  test(`a link of ${name} gives the first view, and one sentence that says why`, async () => {
    await page.goto("about:blank");
    complaints.length = 0;
    await page.goto(address + hash, { timeout: 15_000 });
    await idle(page, 15_000);
    await assertFirstView(page, problem, name);
    // So does the address when it is changed by hand.
    await show({ nodes: "4", bandwidth: "2Gbps", algorithms: manyAlgorithms(1) });
    await page.evaluate((h) => { location.hash = h; }, hash);
    await page.waitForTimeout(80);
    await idle(page, 15_000);
    await assertFirstView(page, problem, name);
  });

test("after a link that could not be read, the page goes on, and its own link is that of what it shows", async () => {
  await page.goto("about:blank");
  await page.goto(`${address}#nonsense`);
  await idle(page);
  await page.evaluate(() => Object.defineProperty(navigator, "clipboard", { value: { writeText: async (link) => { window.copied = link; } } }));
  await page.click("#share");
  assert.equal(await page.evaluate(() => window.copied), address);
  assert.match(await text(page, "message"), /could not be read/);
  await page.fill("#nodes", "4");
  await page.waitForTimeout(80);
  await idle(page);
  assert.equal(await text(page, "message"), "");
  assert.match(await text(page, "status"), /12 points/);
});

test("every key of a link may hold junk", async () => {
  const junk = [null, true, 7, -1e308, [], [null], {}, { toString: 1 }, "__proto__", "x".repeat(5000), [[[]]], { name: 1 }];
  await show({ nodes: "4" });
  const keys = ["view", "net", "device", "precision", "efficiency", "batch", "stepTime", "fabric", "link", "bandwidth", "second", "latency", "nodes", "devices", "bus", "cards", "wire", "target", "samples", "memory", "jitter", "intervals", "straggler", "algorithms", "preset", "file", "files"];
  let i = 0;
  for (const key of keys)
    for (let k = 0; k < 3; ++k, i = (i + 5) % junk.length) {
      const changes = { nodes: "4", [key]: junk[i] };
      const name = JSON.stringify(changes).slice(0, 100);
      await page.evaluate((h) => { location.hash = h; }, hashOf(changes));
      await page.waitForTimeout(80);
      await idle(page, 15_000);
      // Read, and run or refused; or not read.
      const said = await text(page, "message");
      assert.match(await text(page, "status"), said === "" ? /^(12 points|28 points|This cannot be run\.)$/ : /^28 points$/, name);
      assert.match(said, /^(The link could not be read, so this is the first view: .*\.)?$/, name);
      assert.doesNotMatch(await text(page, "controls"), /undefined|TypeError|\[object|json\.exception/, name);
      assert.deepEqual(complaints, [], name);
    }
});

for (const settings of [{ codec: null }, { codec: "fp16" }, { codec: { kind: null } }, { codec: [] }, { codec: { kind: { toString: 1 } } }, { aggregation: null },
  { aggregation: { toString: 1, valueOf: 1 } }, { aggregation: { kind: "all-gather", how: { toString: 1 } } }, { aggregation: { kind: "all-reduce", plan: [] } },
  { transport: null }, { transport: { toString: 1, valueOf: 1 } }, { all_reduce: { toString: 1 } }, { schedule: { toString: null } }, { kind: null }, { kind: ["sgd"] }, JSON.parse('{"__proto__": 1}')])
  test(`an algorithm with ${JSON.stringify(settings)} is shown, and the engine judges it`, async () => {
    for (const view of ["speedup", "math"]) {
      await page.goto("about:blank");
      complaints.length = 0;
      await page.goto(address + hashOf({ view, nodes: "4", algorithms: [{ label: "x", kind: "sgd", ...settings }] }));
      await idle(page, 15_000);
      assert.doesNotMatch(await text(page, "status"), /running/);
      assert.deepEqual(await page.locator("details.algorithm summary").allTextContents(), ["x"]);
      assert.doesNotMatch(`${await text(page, "message")}${await text(page, "controls")}`, /undefined|TypeError|Cannot|json\.exception/);
      assert.deepEqual(complaints, []);
    }
  });

// What the page wrote into links before scenarios had one vocabulary, and what it writes now.
const savedWords = [
  [{ label: "a", kind: "dense", all_reduce: "ring" }, { label: "a", kind: "dense", aggregation: { kind: "all-reduce", plan: "ring" } }],
  [{ label: "b", kind: "dense-overlapped", bucket: "25MiB" }, { label: "b", kind: "sgd", schedule: "25MiB" }],
  [{ label: "c", kind: "dgc", density: 0.001 }, { label: "c", kind: "dgc", codec: { kind: "dgc", density: 0.001 } }],
  [{ label: "d", kind: "sgd", codec: { kind: "qsgd", levels: 7 }, transport: "all-gather" }, { label: "d", kind: "sgd", codec: { kind: "qsgd", levels: 7 }, aggregation: { kind: "all-gather" } }],
];
test("a link in earlier words gives the numbers of today's, and its controls go on from there", async () => {
  await show({ nodes: "4", algorithms: savedWords.map(([, today]) => today) });
  const expected = await csvOf(page);
  await show({ nodes: "4", algorithms: savedWords.map(([earlier]) => earlier) });
  assert.equal(await csvOf(page), expected);
  assert.equal(await page.inputValue("#aggregation-3"), "all-gather");
  await page.locator("details.algorithm summary").nth(3).click();
  await page.selectOption("#aggregation-3", "two-phase");
  await page.waitForTimeout(80);
  await idle(page);
  assert.equal(await text(page, "message"), "");
  assert.deepEqual(JSON.parse(await page.inputValue("#json-3")), { label: "d", kind: "sgd", codec: { kind: "qsgd", levels: 7 }, aggregation: { kind: "two-phase" } });
  assert.deepEqual(complaints, []);
});

const faults = {
  "while the controls are made": () => {
    const own = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value");
    Object.defineProperty(HTMLTextAreaElement.prototype, "value", { ...own, set(text) { if (/"fault"/.test(text)) throw new TypeError("a fault"); own.set.call(this, text); } });
  },
  "while charts are drawn": () => {
    const own = Element.prototype.setAttribute;
    Element.prototype.setAttribute = function (name, value) { if (name === "aria-label" && /over nodes.*fault/.test(value)) throw new TypeError("a fault"); own.call(this, name, value); };
  },
  "in a callback": () => {
    const own = CanvasRenderingContext2D.prototype.stroke;
    CanvasRenderingContext2D.prototype.stroke = function (...path) { if (document.querySelector("summary")?.textContent === "fault") throw new TypeError("a fault"); own.apply(this, path); };
  },
  "in a promise": () => {
    const observer = new MutationObserver(() => { if (document.querySelector("summary")?.textContent === "fault") { observer.disconnect(); void Promise.reject(new TypeError("a fault")); } });
    observer.observe(document, { childList: true, subtree: true });
  },
};
for (const [name, fault] of Object.entries(faults))
  test(`a fault ${name} of a link gives the first view`, async () => {
    const one = await browser.newPage();
    await one.addInitScript(fault);
    await one.goto(address + hashOf({ nodes: "4", algorithms: [{ label: "fault", kind: "dense" }] }));
    await idle(one, 15_000);
    await one.waitForTimeout(200);
    await idle(one, 15_000);
    complaints.length = 0;
    await assertFirstView(one, /a fault/, name);
    await one.close();
  });

test("a link to a scenario that is refused shows the scenario and why", async () => {
  for (const [content, problem] of [["hello", /not JSON at line 1, column 1/], ["", /not JSON/], ["null", /object/], ['{"clutser": 1}', /clutser/], [lists(100_000), /32 levels/],
    ['{"title": "\\ud800"}', /surrogate/]]) {
    await show({ file: { name: "mine.json", text: content } });
    assert.equal(await text(page, "status"), "This cannot be run.", content.slice(0, 50));
    assert.match(await text(page, "message"), problem);
    assert.match(await text(page, "text-wrong"), problem);
    assert.equal(await page.inputValue("#text"), content);
    assert.deepEqual(complaints, []);
  }
});

test("what a control takes, a link takes", async () => {
  await show({ nodes: "4", algorithms: manyAlgorithms(32) });
  assert.match(await text(page, "status"), /192 points/);
  await page.selectOption("#add", "DGC");
  assert.match(await text(page, "algorithms-wrong"), /at most 32/i);
  assert.equal(await page.locator("details.algorithm").count(), 32);
  await show({ nodes: "4" });
  await page.locator("details.algorithm summary").first().click();
  for (const [entered, problem] of [["null", /null/], ["[]", /list/], ["{}", /label/], ["{", /JSON/], ['{"label": 1}', /label.*1/], ['{"label": "\\ud800"}', /label/], ['{"label": "a", "x": 1e999}', /x.*finite/]]) {
    await page.fill("#json-0", entered);
    await page.locator("#json-0").blur();
    const said = await text(page, "json-0-wrong");
    assert.match(said, problem, entered);
    assert.doesNotMatch(said, /undefined|Cannot/, entered);
  }
  // More than fits into an entry is not entered.
  await page.fill("#bandwidth", "1".repeat(300_000));
  assert.ok((await page.inputValue("#bandwidth")).length <= 255);
});

test("downloads are the results, the charts, and a scenario that the command line runs to the same bytes", async () => {
  await show({ nodes: "8" });
  const contents = {};
  for (const kind of ["csv", "json", "svg", "png"]) {
    const [download] = await Promise.all([page.waitForEvent("download"), page.click(`[data-download=${kind}]`)]);
    contents[kind] = readFileSync(await download.path());
  }
  assert.equal(contents.csv.toString(), byCommandLine(contents.json.toString()));
  assert.match(contents.svg.toString(), /^<svg[\s\S]*<\/svg>\n$/);
  assert.equal(contents.png.subarray(1, 4).toString(), "PNG");
});

test("the bandwidth view marks the crossing that paceline solve finds", async () => {
  const exact = { label: "DGC", kind: "dgc", codec: { kind: "dgc", density: 0.001, selection: "exact" } };
  await show({ view: "bandwidth", nodes: "8", algorithms: [{ label: "dense", kind: "dense" }, exact] });
  const fact = await page.evaluate(() => document.getElementById("facts").textContent);
  const scenario = JSON.parse(await page.evaluate(() => window.explorer.scenario()));
  const [first, other] = scenario.sweep.algorithm;
  delete scenario.sweep;
  const file = join(folder, "solve.json");
  writeFileSync(file, JSON.stringify(scenario));
  const solved = execFileSync(paceline, ["solve", file, "--vary", "cluster.fabric.link.bandwidth=100Mbps..100Gbps", "--find", "step_time_s",
    "--set", `algorithm=${JSON.stringify(other)}`, "--against", `algorithm=${JSON.stringify(first)}`, "--cache", join(folder, "cache"), "--quiet"], { encoding: "utf8" });
  const shown = /stops paying at ([\d.]+) ?([GM]bps)/.exec(fact);
  assert.ok(shown, fact);
  const theirs = [...solved.matchAll(/([\d.]+) ?([GM]bps)/g)].map((m) => Number(m[1]) * (m[2] === "Gbps" ? 1e9 : 1e6));
  const mine = Number(shown[1]) * (shown[2] === "Gbps" ? 1e9 : 1e6);
  assert.ok(theirs.some((t) => Math.abs(t - mine) <= 0.01 * mine), `${fact} against ${solved}`);
});

test("the closed form has its numbers filled in, and is the engine's", async () => {
  const forms = [
    { label: "ring", kind: "dense", aggregation: { kind: "all-reduce", plan: "ring" } },
    { label: "halves", kind: "dense", aggregation: { kind: "all-reduce", plan: "halving-doubling" } },
    { label: "gathered", kind: "sgd", codec: { kind: "qsgd", levels: 7 }, aggregation: "all-gather" },
    { label: "Bruck", kind: "sign-sgd", aggregation: { kind: "all-gather", how: "bruck" } },
  ];
  const inEarlierWords = [
    { label: "ring", kind: "dense", all_reduce: "ring" }, { label: "halves", kind: "dense", all_reduce: "halving-doubling" },
    { label: "gathered", kind: "sgd", codec: { kind: "qsgd", levels: 7 }, transport: "all-gather" }, { label: "Bruck", kind: "sign-sgd", exchange: "all-gather-bruck" },
  ];
  await show({ view: "math", nodes: "8", latency: "40us", algorithms: [...inEarlierWords, { label: "beside", kind: "dense-overlapped", bucket: "25MiB" }] });
  const earlier = await page.locator("#panel > pre").allTextContents();
  await show({ view: "math", nodes: "8", latency: "40us", algorithms: [...forms, { label: "beside", kind: "sgd", schedule: "25MiB" }] });
  const shown = await page.locator("#panel > pre").allTextContents();
  assert.deepEqual(earlier, shown);
  assert.equal(shown.length, forms.length, shown.join("\n\n"));
  [14, 6, 7, 3].forEach((k, i) => assert.match(shown[i], new RegExp(`k +=  *${k} messages`)));
  for (const one of shown) {
    const sum = Number(/^T = .* = ([\d.]+) ms$/m.exec(one)[1]);
    const [form, simulated] = /bytes: ([\d.]+) ms; simulated: ([\d.]+) ms/.exec(one).slice(1).map(Number);
    assert.ok(Math.abs(sum - form) <= 1e-5 * form && Math.abs(simulated - form) <= 1e-5 * form, one);
  }
  assert.match(await text(page, "panel"), /more terms than fit here/);
  // Without latency their times are compute + V / B as well, but they are no all-reduces of a gradient.
  await show({ view: "math", nodes: "8", algorithms: [{ label: "neighbors", kind: "dsgd", mixing: { kind: "ring" } }, { label: "blocks", kind: "local-sgd", period: 1 }] });
  assert.equal(await page.locator("#panel > pre").count(), 0);
});

test("no view has a violation that axe finds, in light and dark, wide and narrow", async () => {
  for (const view of ["speedup", "bandwidth", "step", "timeline", "math", "diagnose", "training", "table"])
    for (const [colorScheme, width] of [["light", 1280], ["dark", 390]]) {
      const one = await openPage(hashOf({ view, nodes: "4" }), { colorScheme, viewport: { width, height: 860 } });
      await one.evaluate(axe);
      const found = await one.evaluate(async () => (await window.axe.run()).violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html).join(" | ").slice(0, 300)}`));
      assert.deepEqual(found, [], `${view}, ${colorScheme}`);
      const wide = await one.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.equal(wide, 0, `${view} at ${width} is ${wide} px too wide`);
      assert.deepEqual(complaints, [], view);
      await one.close();
    }
});

test("views are chosen by the keyboard", async () => {
  await show({ nodes: "4" });
  await page.focus("#tab-speedup");
  await page.keyboard.press("ArrowRight");
  await idle(page);
  assert.equal(await page.evaluate(() => document.activeElement.id), "tab-bandwidth");
});

test("the curves of the first view follow the slider", async () => {
  await show({});
  await page.focus("#bandwidth-range");
  const times = [];
  for (let i = 0; i < 21; ++i) {
    await page.keyboard.press(i % 2 === 0 ? "ArrowRight" : "ArrowLeft");
    await page.waitForTimeout(30);
    await idle(page);
    times.push(await page.evaluate(() => window.explorer.measured.redraw_ms));
  }
  times.sort((a, b) => a - b);
  console.log(`slider to the first view's 28 points, up to 64 nodes: median ${times[10].toFixed(0)} ms, longest ${times[20].toFixed(0)} ms`);
  assert.match(await text(page, "status"), /28 points/);
  assert.equal(await csvOf(page), byCommandLine(await page.evaluate(() => window.explorer.scenario())));
});

test("500 moves of a slider leave the page alive, its memory bounded", async () => {
  await show({ nodes: "8" });
  await page.focus("#bandwidth-range");
  const times = [];
  for (let i = 0; i < 500; ++i) {
    await page.keyboard.press(i % 100 < 50 ? "ArrowRight" : "ArrowLeft");
    if (i % 50 === 49) {
      await idle(page);
      times.push(await page.evaluate(() => window.explorer.measured.redraw_ms));
    }
  }
  await idle(page);
  const heap = await page.evaluate(() => performance.memory?.usedJSHeapSize ?? 0);
  times.sort((a, b) => a - b);
  console.log(`slider to chart: median ${times[5].toFixed(0)} ms; JavaScript heap after 500 moves: ${(heap / 2 ** 20).toFixed(0)} MiB`);
  assert.ok(heap < 200 * 2 ** 20);
  assert.match(await text(page, "status"), /points/);
  assert.equal(await csvOf(page), byCommandLine(await page.evaluate(() => window.explorer.scenario())));
});

test("a long run is stopped by the next one, and the page never waits for it", async () => {
  await show({ nodes: "4" });
  await page.fill("#nodes", "1024");
  await page.waitForTimeout(400);
  const started = Date.now();
  await page.fill("#nodes", "4");
  await page.waitForTimeout(80);
  await idle(page, 20_000);
  console.log(`from a run of 1024 nodes back to 4: ${Date.now() - started} ms`);
  assert.match(await text(page, "status"), /12 points/);
});

test("a run that needs more memory than there is says so", async () => {
  const scenario = shipped("first-training");
  scenario.cluster.nodes = 64;
  scenario.workload.model.hidden = [9000, 9000];
  await drop("large.json", JSON.stringify(scenario));
  assert.match(await text(page, "message"), /memory|GiB|MiB/);
  await show({ nodes: "4" });
  assert.match(await text(page, "status"), /12 points/);
});

test("an engine that runs out of memory says so, and another one takes its place", async () => {
  await show({ nodes: "4" });
  const scenario = { cluster: { nodes: 4096, fabric: { kind: "star", link: { bandwidth: "1Gbps" } } },
    workload: { step_time: "1ms", gradient: "97MB" }, algorithm: { kind: "dense", aggregation: { kind: "all-reduce", plan: "ring" } }, stop: { iterations: 1 } };
  const told = await page.evaluate(async (text) => {
    try {
      await window.explorer.pool.group().ask({ do: "trace", scenario: text, limit: 1e15 });
      return "no error";
    } catch (error) { return error.message; }
  }, JSON.stringify(scenario));
  console.log(`out of memory: ${told}`);
  assert.match(told, /memory/);
  await page.fill("#bandwidth", "2Gbps");
  await page.waitForTimeout(80);
  await idle(page);
  assert.match(await text(page, "status"), /12 points/);
});

test("1000 mutated scenarios are run or refused, and the engine goes on", async () => {
  await show({ nodes: "4" });
  const base = await page.evaluate(() => window.explorer.scenario());
  const counts = await page.evaluate(async (original) => {
    let seed = 12345;
    const draw = (n) => { seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0; return seed % n; };
    const { pool } = window.explorer;
    const counts = { ran: 0, refused: 0, ended: 0 };
    const one = async () => {
      let t = original;
      for (let k = 0; k <= draw(3); ++k) {
        const at = draw(t.length);
        const how = draw(4);
        const piece = ["\"", "-", "1e308", "null", "[", "0", "{}", "é", "99999999999999999999"][draw(9)];
        t = how === 0 ? t.slice(0, at) + t.slice(at + 1 + draw(6)) : how === 1 ? t.slice(0, at) + piece + t.slice(at)
          : how === 2 ? t.slice(0, at) + piece + t.slice(at + 1) : t.slice(0, at) + t.slice(at).replace(/\d+/, piece);
      }
      const group = pool.group();
      const stop = setTimeout(() => group.cancel(), 3000);
      try {
        await group.ask({ do: "study", scenario: t });
        await group.ask({ do: "run", scenario: t, points: [0] });
        ++counts.ran;
      } catch (error) {
        if (error.refusal && error.refusal.text) ++counts.refused;
        else { ++counts.ended; counts.why = `${error.message} ${t}`; }
      } finally { clearTimeout(stop); }
    };
    for (let i = 0; i < 250; ++i) await Promise.all([one(), one(), one(), one()]);
    return counts;
  }, base);
  console.log("mutated:", JSON.stringify({ ...counts, why: (counts.why ?? "").slice(0, 200) }));
  assert.equal(counts.ran + counts.refused + counts.ended, 1000);
  assert.ok(counts.ended <= 10, counts.why);
  await page.fill("#bandwidth", "2Gbps");
  await page.waitForTimeout(80);
  await idle(page);
  assert.match(await text(page, "status"), /12 points/);
});
