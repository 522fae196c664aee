// A file of paceline calibrate on the page: its cluster, what is known of its constants, and sliders on top of it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { axe, byCommandLine, complaints, csvOf, drop, page, settled, show, text } from "./harness.mjs";

const constant = (path, value, low, high, open, range) => ({ path, value, low, high, low_is_open: open, high_is_open: open, range });
const testbed = JSON.stringify({
  title: "my machines", date: "2026-11-27", level: 0.9, noise: { share: 0.05, assumed: true },
  constants: [constant("cluster.fabric.link.bandwidth", "6.76595Gbps", "5.1257Gbps", "9.32415Gbps", false, ["1Gbps", "40Gbps"]),
    constant("cluster.fabric.link.latency", "20us", "1us", "1ms", true, ["1us", "1ms"]),
    constant("workload.gradient_time", "47ms", "40ms", "55ms", false, ["1ms", "1s"])],
  open: [{ constants: [{ path: "cluster.fabric.link.latency", factor: 1.1 }], most_change: 1e-5, measure: { what: "a message of 8B to another machine", seconds: 2e-6, device_seconds: 4e-6 } }],
  rows: [{ row: "two", column: "step_time_s", measured: 0.1, before: 0.08, fitted: 0.11, error: 0.1, misfit: false },
    { row: "odd", column: "step_time_s", measured: 0.2, before: 0.1, fitted: 0.1, error: -0.5, misfit: true }],
  cluster: { nodes: 8, library: { occupies: 0.1 }, fabric: { kind: "star", link: { bandwidth: "6.76595Gbps", latency: "20us", efficiency: 0.9 } } },
  workload: { gradient_time: "47ms" },
});
const scenarioOf = () => page.evaluate(() => window.explorer.scenario());

test("a testbed becomes the cluster of the page, with what is known of it, and sliders work on top of it", async () => {
  await show({ second: "20Gbps" });
  await drop("mine.json", testbed);
  assert.equal(await text(page, "message"), "");
  assert.deepEqual(JSON.parse(await scenarioOf()).cluster, { testbed: "testbed.json", nodes: 8, fabric: { link: { bandwidth: "6.76595Gbps", latency: "20us" } } });
  assert.equal(JSON.parse(await scenarioOf()).workload.gradient_time, "47ms");
  assert.equal(await csvOf(page), byCommandLine(await scenarioOf(), { "testbed.json": testbed }));
  const panel = await text(page, "testbed");
  for (const told of ["Testbed, my machines", "link bandwidth 6.77Gbps, 90 %: 5.13Gbps to 9.32Gbps", "link latency 20us, left open by the rows",
    "The rows do not tell link latency. A message of 8B to another machine would.", "2 rows of 2026-11-27: median error 35\u00a0% before, 30\u00a0% fitted", "odd (nothing explains it)"])
    assert.ok(panel.includes(told), `${told}: ${panel}`);
  assert.equal(await page.locator("#fabric, #link, #devices").count(), 0);
  await page.evaluate(axe);
  assert.deepEqual(await page.evaluate(async () => (await window.axe.run("#controls")).violations.map((v) => v.id)), []);

  const before = await csvOf(page);
  for (const [id, value] of Object.entries({ bandwidth: "3Gbps", latency: "1ms" })) {
    await page.fill(`#${id}`, value);
    await settled(page);
  }
  assert.notEqual(await csvOf(page), before);
  assert.equal(await csvOf(page), byCommandLine(await scenarioOf(), { "testbed.json": testbed }));

  await page.selectOption("#device", "v100"); // which has a time of its own
  await settled(page);
  assert.equal(JSON.parse(await scenarioOf()).workload.gradient_time, null);
  assert.equal(await csvOf(page), byCommandLine(await scenarioOf(), { "testbed.json": testbed }));

  await page.click("#no-testbed");
  await settled(page);
  assert.equal(JSON.parse(await scenarioOf()).cluster.testbed, undefined);
  assert.equal(await page.locator("#fabric").count(), 1);
  assert.deepEqual(complaints, []);
});

test("a scenario that names a testbed takes it when it is dropped, too", async () => {
  await show({});
  const scenario = JSON.stringify({ cluster: { testbed: "mine.json", nodes: 4 }, workload: { gradient: "10MB" }, algorithm: { kind: "dense" }, stop: { iterations: 2 } });
  await drop("s.json", scenario);
  assert.match(await text(page, "message"), /mine\.json.*drop it on the page, too/);
  await drop("mine.json", testbed);
  assert.equal(await text(page, "message"), "");
  assert.equal(await csvOf(page), byCommandLine(scenario, { "mine.json": testbed }));
});

test("a testbed without a link that a slider could move is refused in a sentence", async () => {
  await show({});
  await drop("mine.json", JSON.stringify({ constants: [], rows: [], cluster: { fabric: { kind: "regions" } } }));
  assert.match(await text(page, "message"), /no cluster\.fabric\.link with a bandwidth/);
});
