// The page in Firefox: the same numbers, every view, and the entries that a browser reads by itself. make test-explorer.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { byCommandLine, close, complaints, csvOf, idle, open, settled, show, text } from "./harness.mjs";

let page;
before(async () => { page = await open("firefox"); });
after(close);

test("Firefox: the first view is drawn from the numbers of the command line", async () => {
  assert.match(await page.evaluate(() => navigator.userAgent), /Firefox/);
  assert.match(await text(page, "status"), /28 points/);
  assert.equal(await csvOf(page), byCommandLine(await page.evaluate(() => window.explorer.scenario())));
  assert.deepEqual(complaints, []);
});

test("Firefox: every view is shown, and nothing is wider than the page", async () => {
  for (const view of ["bandwidth", "step", "timeline", "math", "training", "table"]) {
    await show(page, { view, nodes: "4" });
    assert.equal(await text(page, "message"), "", view);
    assert.ok(await page.evaluate(() => document.getElementById("panel").childElementCount) > 0, view);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), 0, view);
    assert.deepEqual(complaints, [], view);
  }
});

test("Firefox: controls, errors and steps back", async () => {
  await show(page, { nodes: "4" });
  await page.fill("#latency", "5µs");
  await settled(page);
  assert.match(await page.evaluate(() => window.explorer.scenario()), /"5us"/);
  await page.fill("#bandwidth", "fast");
  await settled(page);
  assert.match(await text(page, "bandwidth-wrong"), /unit/);
  await page.fill("#bandwidth", "2,5Gbps");
  await settled(page);
  assert.match(await page.evaluate(() => window.explorer.scenario()), /"2\.5Gbps"/);
  await page.selectOption("#fabric", "ring");
  await settled(page);
  await page.goBack();
  await settled(page);
  assert.equal(await page.inputValue("#fabric"), "star");
  await page.reload();
  await idle(page);
  assert.equal(await page.inputValue("#bandwidth"), "2,5Gbps");
});

test("Firefox: arrow keys in the list of algorithms choose, and Enter acts", async () => {
  await show(page, { nodes: "2" });
  await page.focus("#add");
  for (let i = 0; i < 3; ++i) await page.keyboard.press("ArrowDown");
  await page.waitForTimeout(150);
  assert.equal(await page.locator("details.algorithm").count(), 2);
  await page.keyboard.press("Enter");
  await settled(page);
  assert.equal(await page.locator("details.algorithm").count(), 3);
});
