// Two numbers on the page, and what explains them: the program is the oracle.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { axe, complaints, drop, folder, page, paceline, settled, show, text } from "./harness.mjs";

const cells = () => page.evaluate(() => [...document.querySelectorAll("#panel table")].map((t) => [...t.rows].map((row) => [...row.cells].map((cell) => cell.textContent))));

// Returns what the program answers for the scenario of the page.
async function byProgram(measured) {
  const file = join(folder, "diagnosed.json");
  writeFileSync(file, await page.evaluate(() => window.explorer.scenario()));
  return JSON.parse(execFileSync(paceline, ["diagnose", file, ...measured.flatMap((one) => ["--measured", one]), "--json"], { encoding: "utf8" }));
}

test("two numbers are explained as paceline diagnose does it, and what helps is shown", async () => {
  await show({ view: "diagnose", nodes: "2", devices: "4", bandwidth: "10Gbps", latency: "25us" });
  assert.match(await text(page, "panel"), /Enter how long a step takes/);
  await page.fill("#measuredOne", "0.15 s");
  await settled(page);
  await page.fill("#measuredAll", "1.2s");
  await settled(page);
  const wanted = await byProgram(["nodes=1:step=150ms", "step=1.2s"]);
  const [found] = await cells();
  assert.deepEqual(found[0], ["explains it", "plausible", "needs"]);
  assert.equal(found.length - 1, wanted.answers.reduce((sum, answer) => sum + answer.either.length, 0));
  assert.equal(found[1][0], wanted.answers[0].either[0].causes[0].name);
  assert.equal(found[1][2], wanted.answers[0].either[0].causes[0].value);
  const said = await text(page, "panel");
  for (const told of ["What would settle it", wanted.next.what, `What helps if it is ${wanted.answers[0].name}`, wanted.answers[0].advice[0].what, "What does not"])
    assert.ok(said.includes(told), `${told}: ${said.slice(0, 2000)}`);
  await page.evaluate(axe);
  assert.deepEqual(await page.evaluate(async () => (await window.axe.run()).violations.map((v) => v.id)), []);
  assert.deepEqual(complaints, []);
});

test("a number that is none is refused beside its field, and a study in a sentence", async () => {
  await show({ view: "diagnose", nodes: "2", measuredAll: "soon" });
  assert.match(await text(page, "measuredAll-wrong"), /./);
  await show({ view: "diagnose", nodes: "2", measuredAll: "1s" });
  await drop("s.json", JSON.stringify({ cluster: { fabric: { kind: "star", link: { bandwidth: "1Gbps" } } }, workload: { gradient: "10MB", step_time: "10ms" }, algorithm: { kind: "dense" }, stop: { iterations: 1 }, sweep: { "cluster.nodes": [2, 4] } }));
  assert.match(await text(page, "message"), /several|points|sweep/);
});
