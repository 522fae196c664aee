// What people come to the page for, and whether it asks the engine the right question: make test-explorer.
//
// The program is the oracle: whole periods of every method, the bandwidth that reaches an efficiency, and the commands
// that the page offers to copy.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { byCommandLine, csvOf, drop, folder, hashOf, idle, openPage, page, paceline, rowsOf, settled, shipped, show, text } from "./harness.mjs";

const names = JSON.parse(execFileSync(paceline, ["list", "--json"], { encoding: "utf8" }));
const kinds = names.algorithms.flatMap((family) => family.algorithms);
const number = (row, column) => Number(row[column]);

test("local SGD with a period of 8 has the speedup of whole periods, in all views", async () => {
  await show({ algorithms: [{ label: "local", kind: "local-sgd", period: 8 }], second: "" });
  const rows = rowsOf(await csvOf(page));
  const last = rows.find((row) => row.nodes === "64");
  assert.ok(Math.abs(number(last, "speedup") - 27.3) < 0.1, last.speedup);
  await page.click("#tab-step");
  await settled(page);
  const said = await text(page, "panel");
  const ms = Number(/local: ([\d.]+) ms/.exec(said)[1]);
  assert.ok(Math.abs(ms - number(last, "step_time_s") * 1000) < 0.01 * ms, `${ms} ms, ${last.step_time_s} s`);
});

// Many steps of a method cost on average what its whole periods do. Those that draw at random come near it.
test("every method of the schema has the step time of many steps", async () => {
  const files = { "my-net.json": JSON.stringify({ name: "n", source: "a test", layers: [1, 2, 3].map((i) => ({ name: `l${i}`, macs: 1e6, tensors: [{ name: "w", shape: [1000, 100] }] })) }) };
  await show({ nodes: "4", second: "", net: "my net", files, algorithms: [] });
  const warned = [];
  for (const { name } of kinds) {
    await page.selectOption("#add", `kind ${name}`);
    await settled(page);
    assert.match(await text(page, "status"), /points/, `${name}: ${await page.locator(".wrong").allTextContents()} ${await text(page, "message")}`);
    const rows = rowsOf(await csvOf(page));
    const scenario = JSON.parse(await page.evaluate(() => window.explorer.scenario()));
    const { zip, ...sweep } = scenario.sweep;
    const steps = zip?.["stop.iterations"][0] ?? scenario.stop.iterations;
    delete scenario.sweep;
    scenario.algorithm = (zip ?? sweep).algorithm[0];
    scenario.stop.iterations = steps * Math.ceil(300 / steps);
    const mine = rows.find((row) => row.nodes === "4");
    if (/warm-up/.test(await page.locator("#warnings").textContent())) warned.push(name); // later steps cost otherwise, and the page says so
    else {
      const [many] = rowsOf(byCommandLine(JSON.stringify(scenario), files));
      const ratio = number(mine, "step_time_s") / number(many, "step_time_s");
      const drawn = /^(swarm|ad-psgd|scaffold|fed)/.test(name);
      assert.ok(Math.abs(ratio - 1) <= (drawn ? 0.35 : 0.02), `${name}: ${mine.step_time_s} in ${steps} steps, ${many.step_time_s} in ${scenario.stop.iterations}`);
    }
    await page.locator("details.algorithm summary").first().click();
    await page.getByRole("button", { name: /^Remove/ }).click();
    await settled(page);
  }
  console.log(`within a warm-up, which the page says: ${warned.join(", ")}`);
  assert.ok(warned.length <= 8, warned.join());
});

test("warnings of the engine are shown, as paceline check prints them", async () => {
  await show({ nodes: "4", second: "", algorithms: [{ label: "1-bit", kind: "one-bit-adam" }] });
  const file = join(folder, "warned.json");
  writeFileSync(file, await page.evaluate(() => window.explorer.scenario()));
  const printed = execFileSync(paceline, ["check", file], { encoding: "utf8" });
  const warnings = [...printed.matchAll(/^warning: (.*)$/gm)].map((found) => found[1]);
  assert.ok(warnings.length > 0, printed);
  assert.deepEqual(await page.locator("#warnings li").allTextContents(), warnings);
});

test("the ideal line counts devices, and stands in the legend", async () => {
  await show({ devices: "4", nodes: "8", algorithms: [{ label: "dense", kind: "dense" }] });
  const ideal = await page.evaluate(() => window.explorer.charts()[0].ideal);
  assert.equal(ideal, 4);
  assert.match(await text(page, "panel"), /ideal/);
});

test("a second preset replaces the first, and a net that is loaded shows its numbers", async () => {
  await show({ nodes: "4" });
  for (const name of ["ring-allreduce", "collectives"]) {
    await page.selectOption("#preset", name);
    await settled(page);
    assert.deepEqual(JSON.parse(await page.inputValue("#text")), shipped(name));
  }
  await show({ nodes: "4" });
  const net = (p) => JSON.stringify({ name: "mine", source: "a test", layers: [{ name: "a", macs: 2e9, tensors: [{ name: "w", shape: [p, 1000] }] }] });
  for (const p of [7000, 9000]) {
    await drop("mine.json", net(p));
    assert.equal(await page.inputValue("#parameters"), String(p / 1000));
    assert.equal(await page.inputValue("#macs"), "2");
    assert.equal(await page.inputValue("#layers"), "1");
    assert.match(await text(page, "controls"), /My net: mine/);
  }
});

test("after an error the curves are marked as old, and nothing is exported", async () => {
  await show({ nodes: "4" });
  await page.fill("#bandwidth", "fast");
  await settled(page);
  assert.ok(await page.locator("#panel.old").count() === 1);
  await page.click("[data-download=svg]");
  assert.match(await text(page, "status"), /earlier entries/);
  await page.fill("#bandwidth", "1Gbps");
  await settled(page);
  assert.equal(await page.locator("#panel.old").count(), 0);
});

test("a step says which points of a file it shows", async () => {
  await drop("dgc-speedup.json", JSON.stringify(shipped("dgc-speedup")));
  await page.click("#tab-step");
  await settled(page);
  assert.match(await text(page, "status"), /one step of \d+ of the 84 points: .*those on 64 nodes/);
});

test("nets, devices and methods are those of the engine", async () => {
  await show({ nodes: "4" });
  const values = (id) => page.evaluate((i) => [...document.getElementById(i).options].map((o) => o.value), id);
  for (const { name } of names.profiles) assert.ok((await values("net")).includes(name), name);
  for (const { name } of kinds) assert.ok((await values("add")).includes(`kind ${name}`), name);
  const devices = await values("device");
  for (const { name } of names.devices) assert.ok(devices.includes(`${name} estimated`), name);
  // Whatever the list offers can be run.
  for (const device of devices.filter((one) => one !== "step time")) {
    await page.selectOption("#device", device);
    await settled(page);
    assert.match(await text(page, "status"), /12 points/, device);
  }
});

test("precision, an estimate, the wire, a bus and cards reach the scenario", async () => {
  await show({ nodes: "2", net: "llama-7b", device: "a100-80gb", precision: "bf16", efficiency: "40", batch: "1", wire: "bf16", devices: "8", bus: "nvlink-1", cards: "8", second: "",
    algorithms: [{ label: "dense", kind: "dense" }, { label: "FSDP", kind: "zero", stage: 3 }] });
  assert.equal(await text(page, "message"), "");
  const scenario = JSON.parse(await page.evaluate(() => window.explorer.scenario()));
  assert.deepEqual(scenario.workload, { profile: "llama-7b", device: "a100-80gb", batch: 1, precision: "bf16", efficiency: 0.4 });
  assert.equal(scenario.cluster.nics, 8);
  assert.deepEqual(scenario.cluster.bus, { kind: "switched", link: { preset: "nvlink-1" } });
  assert.equal(scenario.algorithm.wire, "bf16");
});

test("a preset of links has its own latency and payload, and its bandwidth goes into the control", async () => {
  await show({ nodes: "4" });
  for (const { name, bandwidth } of names.links.filter((link) => /GbE|infiniband|lte/.test(link.name))) {
    await page.selectOption("#link", name);
    await settled(page);
    assert.equal(await page.inputValue("#bandwidth"), bandwidth, name);
    assert.match(await text(page, "status"), /6 points/, name);
    assert.deepEqual(JSON.parse(await page.evaluate(() => window.explorer.scenario())).cluster.fabric.link, { preset: name, bandwidth });
  }
  assert.equal(await page.locator("#latency").count(), 0);
});

test("which bandwidth for an efficiency: the answers are those of paceline solve", async () => {
  await show({ view: "bandwidth", nodes: "8", target: "80", algorithms: [{ label: "dense", kind: "dense" }, { label: "local", kind: "local-sgd", period: 4 }] });
  const table = await page.evaluate(() => [...document.querySelectorAll("#reach tr")].map((row) => [...row.cells].map((cell) => cell.textContent)));
  assert.deepEqual(table[0].slice(1, 6), ["50 %", "75 %", "80 %", "90 %", "95 %"]);
  const scenario = JSON.parse(await page.evaluate(() => window.explorer.scenario()));
  const algorithms = (scenario.sweep.zip ?? scenario.sweep).algorithm;
  delete scenario.sweep;
  const bits = (shown) => { const [, value, unit] = /([\d.]+) ?([GMT]?)bps/.exec(shown); return value * { "": 1, M: 1e6, G: 1e9, T: 1e12 }[unit]; };
  const file = join(folder, "solve.json");
  writeFileSync(file, JSON.stringify(scenario));
  for (const [row, algorithm] of algorithms.entries())
    for (const [column, share] of [[1, 0.5], [3, 0.8], [5, 0.95]]) {
      const answer = JSON.parse(execFileSync(paceline, ["solve", file, "--vary", "cluster.fabric.link.bandwidth=1Mbps..10Tbps", "--find", "efficiency", "--equals", String(share),
        "--set", `algorithm=${JSON.stringify(algorithm)}`, "--json", "--quiet", "--cache", join(folder, "cache")], { encoding: "utf8" }));
      const at = answer.answers.at(-1).at.number;
      const mine = bits(table[row + 1][column]);
      assert.ok(Math.abs(mine - at) <= 0.01 * at, `${algorithm.label} at ${share}: ${table[row + 1][column]} against ${at}`);
    }
});

test("a copied command prints the page's numbers", async () => {
  await show({ nodes: "4", latency: "20us" });
  await page.evaluate(() => Object.defineProperty(navigator, "clipboard", { value: { writeText: async (t) => { window.copied = t; } } }));
  await page.click("#command");
  const command = await page.evaluate(() => window.copied);
  execFileSync("sh", ["-c", command.replace("paceline run", `"${paceline}" run`).replace(/\n$/, " --out copied --quiet --no-mpi\n")], { cwd: folder, stdio: "ignore" });
  assert.equal(readFileSync(join(folder, "copied/results.csv"), "utf8"), await csvOf(page));
  await page.click("#tab-step");
  await settled(page);
  await page.locator("#panel button", { hasText: "Copy command" }).nth(1).click();
  const explain = await page.evaluate(() => window.copied);
  assert.match(explain, /paceline explain scenario\.json --point 1\n$/);
  const printed = execFileSync("sh", ["-c", explain.replace("paceline explain", `"${paceline}" explain`)], { cwd: folder, encoding: "utf8" });
  assert.match(printed, /DGC/);
});

test("time for samples, and memory that fits or not", async () => {
  await show({ nodes: "4", samples: "1e6", memory: "0,2", algorithms: [{ label: "dense", kind: "dense" }], second: "" });
  const row = rowsOf(await csvOf(page)).find((one) => one.nodes === "4");
  const facts = await text(page, "facts");
  const minutes = 1e6 / number(row, "samples_per_s") / 60;
  assert.ok(Math.abs(Number(/samples in ([\d.]+) min/.exec(facts)[1]) - minutes) < 0.01 * minutes, facts);
  assert.match(facts, new RegExp(`take ${Number(number(row, "memory_gb").toPrecision(3))} GB .* does not fit 0\\.2 GB`));
});

test("quantities are read as people write them, or get a hint", async () => {
  await show({ nodes: "2" });
  for (const [id, written, meant] of [["bandwidth", "2,5 Gbps", "2.5Gbps"], ["bandwidth", "25 gbps", "25Gbps"], ["bandwidth", "25 Gb/s", "25Gbps"], ["bandwidth", "100 Mbit/s", "100Mbps"],
    ["latency", "5µs", "5us"], ["latency", "5 usec", "5us"]]) {
    await page.fill(`#${id}`, written);
    await settled(page);
    assert.equal(await text(page, `${id}-wrong`), "", written);
    assert.match(await page.evaluate(() => window.explorer.scenario()), new RegExp(`"${meant}"`), written);
  }
  for (const [id, written, hint] of [["bandwidth", "5 GB/s", /40Gbps/], ["bandwidth", "10", /10Gbps/], ["latency", "3", /3ms/]]) {
    await page.fill(`#${id}`, written);
    await settled(page);
    assert.match(await text(page, `${id}-wrong`), hint, written);
  }
});

test("arrow keys in the lists of algorithms and presets choose, and Enter acts", async () => {
  await show({ nodes: "2" });
  await page.focus("#add");
  for (let i = 0; i < 3; ++i) await page.keyboard.press("ArrowDown");
  await page.waitForTimeout(150);
  assert.equal(await page.locator("details.algorithm").count(), 2);
  await page.keyboard.press("Enter");
  await settled(page);
  assert.equal(await page.locator("details.algorithm").count(), 3);
  await page.focus("#preset");
  while (await page.inputValue("#preset") !== "ring-allreduce") await page.keyboard.press("ArrowDown");
  await page.waitForTimeout(150);
  assert.equal(await page.locator("#text").count(), 0);
  await page.keyboard.press("Enter");
  await settled(page);
  assert.equal(await page.locator("#text").count(), 1);
});

test("back undoes a step, and a file survives a reload though it is not in the address", async () => {
  await show({ nodes: "4" });
  await page.fill("#bandwidth", "2Gbps");
  await settled(page);
  await page.selectOption("#fabric", "ring");
  await settled(page);
  await page.goBack();
  await settled(page);
  assert.equal(await page.inputValue("#fabric"), "star");
  assert.equal(await page.inputValue("#bandwidth"), "2Gbps");
  await page.goBack();
  await settled(page);
  assert.equal(await page.inputValue("#bandwidth"), "1Gbps");
  const scenario = JSON.stringify({ ...shipped("ring-allreduce"), title: "x".repeat(50_000) });
  await drop("mine.json", scenario);
  assert.ok(page.url().length < 1000, page.url().slice(0, 100));
  await page.reload();
  await idle(page);
  assert.equal(await page.inputValue("#text"), scenario);
});

test("the theme is kept, a link skips to the result, and the status is announced once per run", async () => {
  await show({ nodes: "4" });
  const before = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await page.click("#theme");
  await settled(page);
  await page.reload();
  await idle(page);
  assert.notEqual(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), before);
  await page.click("#theme");
  await page.focus("#skip");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "panel");
  await settled(page);
  await page.evaluate(() => { window.said = []; new MutationObserver(() => window.said.push(document.getElementById("announced").textContent)).observe(document.getElementById("announced"), { childList: true, characterData: true, subtree: true }); });
  await page.fill("#bandwidth", "3Gbps");
  await settled(page);
  assert.equal((await page.evaluate(() => window.said)).filter((said) => said !== "").length, 1);
});

test("intervals are those of the program: bands, tables, and which method is faster", async () => {
  await show({ nodes: "8", second: "", intervals: "yes" });
  const scenario = await page.evaluate(() => window.explorer.scenario());
  assert.equal(JSON.parse(scenario).measure.interval, true);
  const csv = await csvOf(page);
  assert.equal(csv, byCommandLine(scenario));
  const charts = await page.evaluate(() => window.explorer.charts());
  for (const [chart, column, factor] of [[0, "speedup", 1], [1, "efficiency", 100]])
    for (const line of charts[chart].lines) {
      const mine = rowsOf(csv).filter((row) => row.algorithm === line.label.split(",")[0]);
      assert.deepEqual(line.band, mine.map((row) => ["_low", "_high"].map((end) => number(row, column + end) * factor)), line.label);
    }
  // The command's folder has the comparison of the two methods on the most nodes.
  const file = join(folder, "sure.json");
  writeFileSync(file, scenario);
  execFileSync(paceline, ["run", file, "--out", join(folder, "sure"), "--quiet"], { stdio: "ignore" });
  const most = rowsOf(csv).filter((row) => row.nodes === "8").map((row) => row.point);
  const [one] = rowsOf(readFileSync(join(folder, "sure/comparisons.csv"), "utf8")).filter((row) => most.includes(row.point));
  const three = (name) => String(Number(number(one, name).toPrecision(3)));
  const ends = `${three("times_as_fast")} times as fast as ${one.against_algorithm} (${three("times_as_fast_low")} to ${three("times_as_fast_high")})`;
  assert.ok((await text(page, "facts")).includes(`8 nodes: ${one.algorithm} is ${ends}`), `${await text(page, "facts")}: ${ends}`);
  await page.click("#tab-table");
  await settled(page);
  assert.match(await text(page, "panel"), /[\d.]+ \([\d.]+ to [\d.]+\)/);
});

test("with intervals, a bandwidth that reaches an efficiency has the answers at both ends", async () => {
  await show({ view: "bandwidth", nodes: "4", second: "", target: "50", intervals: "yes", algorithms: [{ label: "dense", kind: "dense" }] });
  const file = join(folder, "reach.json");
  writeFileSync(file, JSON.stringify({ ...JSON.parse(await page.evaluate(() => window.explorer.scenario())), sweep: undefined, algorithm: { label: "dense", kind: "dense" } }));
  const told = execFileSync(paceline, ["solve", file, "--vary", "cluster.fabric.link.bandwidth=1Mbps..10Tbps", "--find", "efficiency", "--equals", "0.5", "--grid", "15", "--tolerance", "1e-3", "--json", "--quiet"], { encoding: "utf8", cwd: folder });
  const { answers, at_low: low, at_high: high } = JSON.parse(told);
  const cell = await page.locator("#reach tbody tr").first().locator("td").nth(1).textContent();
  const gbps = [...cell.matchAll(/([\d.]+)([GMT])bps/g)].map(([, value, unit]) => Number(value) * { M: 1e-3, G: 1, T: 1e3 }[unit]);
  const bits = (found) => found[0].at.number;
  assert.equal(gbps.length, 3, cell);
  [answers, high, low].forEach((found, i) => assert.ok(Math.abs(gbps[i] * 1e9 / bits(found) - 1) < 0.01, `${cell}: ${JSON.stringify(found)}`));
});

test("a run can be cancelled", async () => {
  await show({ nodes: "4" });
  await page.fill("#nodes", "4096");
  await page.waitForTimeout(400);
  await page.click("#cancel");
  assert.match(await text(page, "status"), /Cancelled/);
  assert.equal(await page.evaluate(() => document.body.dataset.busy), "no");
});

test("on a phone the chart stays in sight of the sliders", async () => {
  const phone = await openPage(hashOf({ nodes: "4" }), { viewport: { width: 390, height: 800 } });
  await phone.locator("#straggler").scrollIntoViewIfNeeded();
  const box = await phone.locator("canvas").first().boundingBox();
  assert.ok(box !== null && box.y < 400 && box.y + box.height > 100, JSON.stringify(box));
  await phone.close();
});
