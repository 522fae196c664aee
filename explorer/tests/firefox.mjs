// The page in Firefox: the same numbers, every view, and the entries that a browser reads by itself. make test-explorer.
import assert from "node:assert/strict";
import { test } from "node:test";

process.env.PAGE_BROWSER = "firefox";
const h = await import("./harness.mjs");
const { byCommandLine, csvOf, idle, settled, show, text } = h;

test("Firefox: the first view is drawn from the numbers of the command line", async () => {
  assert.match(await h.page.evaluate(() => navigator.userAgent), /Firefox/);
  assert.match(await text(h.page, "status"), /28 points/);
  assert.equal(await csvOf(h.page), byCommandLine(await h.page.evaluate(() => window.explorer.scenario())));
  assert.deepEqual(h.complaints, []);
});

test("Firefox: every view is shown, and nothing is wider than the page", async () => {
  for (const view of ["bandwidth", "step", "timeline", "math", "training", "table"]) {
    await show({ view, nodes: "4" });
    assert.equal(await text(h.page, "message"), "", view);
    assert.ok(await h.page.evaluate(() => document.getElementById("panel").childElementCount) > 0, view);
    assert.equal(await h.page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), 0, view);
    assert.deepEqual(h.complaints, [], view);
  }
});

test("Firefox: controls, errors and steps back", async () => {
  await show({ nodes: "4" });
  await h.page.fill("#latency", "5µs");
  await settled(h.page);
  assert.match(await h.page.evaluate(() => window.explorer.scenario()), /"5us"/);
  await h.page.fill("#bandwidth", "fast");
  await settled(h.page);
  assert.match(await text(h.page, "bandwidth-wrong"), /unit/);
  await h.page.fill("#bandwidth", "2,5Gbps");
  await settled(h.page);
  assert.match(await h.page.evaluate(() => window.explorer.scenario()), /"2\.5Gbps"/);
  await h.page.selectOption("#fabric", "ring");
  await settled(h.page);
  await h.page.goBack();
  await settled(h.page);
  assert.equal(await h.page.inputValue("#fabric"), "star");
  await h.page.reload();
  await idle(h.page);
  assert.equal(await h.page.inputValue("#bandwidth"), "2,5Gbps");
});

test("Firefox: arrow keys in the list of algorithms choose, and Enter acts", async () => {
  await show({ nodes: "2" });
  await h.page.focus("#add");
  for (let i = 0; i < 3; ++i) await h.page.keyboard.press("ArrowDown");
  await h.page.waitForTimeout(150);
  assert.equal(await h.page.locator("details.algorithm").count(), 2);
  await h.page.keyboard.press("Enter");
  await settled(h.page);
  assert.equal(await h.page.locator("details.algorithm").count(), 3);
});
