// Three users, from the first click to the exported figure: make test-explorer.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { csvOf, openPage, page, rowsOf, settled, show, text } from "./harness.mjs";

async function choose(p, entries) {
  for (const [id, value] of entries) {
    if (await p.evaluate((i) => document.getElementById(i).tagName, id) === "SELECT") await p.selectOption(`#${id}`, value);
    else await p.fill(`#${id}`, value);
    await settled(p);
  }
}
async function remove(p, label) {
  const box = p.locator("details.algorithm", { has: p.locator("summary", { hasText: label }) }).first();
  await box.locator("summary").click();
  await box.getByRole("button", { name: /^Remove/ }).click();
  await settled(p);
}
async function view(p, name) {
  await p.click(`#tab-${name}`);
  await settled(p);
  assert.equal(await text(p, "message"), "", name);
}
async function figure(p, kind) {
  const [download] = await Promise.all([p.waitForEvent("download"), p.click(`[data-download=${kind}]`)]);
  return { name: download.suggestedFilename(), content: readFileSync(await download.path()) };
}
const bits = (shown) => { const found = /([\d.]+) ?([kMGT]?)bps/.exec(shown); return found === null ? null : Number(found[1]) * { k: 1e3, M: 1e6, G: 1e9, T: 1e12, "": 1 }[found[2]]; };
const reach = (p) => p.evaluate(() => [...document.querySelectorAll("#reach tr")].map((row) => [...row.cells].map((cell) => cell.textContent)));

test("an engineer: 8 machines of 8 A100 and a 7B Llama; dense, FSDP and DiLoCo at 25 and 100 Gbps; which bandwidth for 90 %", async () => {
  await show({});
  await choose(page, [["net", "llama-7b"], ["device", "a100-80gb estimated"], ["precision", "bf16"], ["efficiency", "50"], ["batch", "1"], ["wire", "bf16"], ["nodes", "8"], ["devices", "8"], ["bus", "nvlink-1"], ["cards", "8"],
    ["bandwidth", "25 Gb/s"], ["second", "100 Gb/s"], ["memory", "80"], ["samples", "1e6"], ["add", "kind zero"]]);
  const zero = page.locator("details.algorithm", { has: page.locator("summary", { hasText: "zero" }) });
  await zero.locator("summary").click();
  await page.selectOption("#stage-2", "3");
  await settled(page);
  await choose(page, [["add", "kind diloco"]]);
  await remove(page, "DGC");
  assert.equal(await page.locator(".wrong:not(:empty)").count(), 0);
  const rows = rowsOf(await csvOf(page)).filter((row) => row.nodes === "8");
  assert.equal(rows.length, 6);
  const efficiency = Object.fromEntries(rows.map((row) => [`${row.algorithm} ${row["cluster.fabric.link.bandwidth"]}`, Number(row.efficiency)]));
  assert.ok(efficiency["diloco 25Gbps"] > efficiency["dense 25Gbps"] && efficiency["dense 100Gbps"] > efficiency["dense 25Gbps"], JSON.stringify(efficiency));
  assert.match(await text(page, "facts"), /fits 80 GB/);
  assert.match(await text(page, "facts"), /samples in/);
  await view(page, "bandwidth");
  const [header, ...table] = await reach(page);
  assert.equal(header[3], "90 %");
  const needed = Object.fromEntries(table.map((row) => [row[0], bits(row[3])]));
  assert.ok(needed.dense > 25e9, JSON.stringify(table));
  assert.ok(needed.diloco < needed.dense / 10, JSON.stringify(table));
  const { content } = await figure(page, "svg");
  assert.match(content.toString(), /DiLoCo|diloco/);
});

test("a student: where DGC and dense SGD cross for three nets, and DecentLaM against DmSGD in training", async () => {
  await show({ nodes: "16" });
  await view(page, "bandwidth");
  for (const net of ["resnet-50", "vgg-16", "bert-base"]) {
    await choose(page, [["net", net]]);
    assert.match(await text(page, "facts"), /DGC (stops paying at [\d.]+[GMT]bps|and dense do not cross)/, net);
    const { content } = await figure(page, "svg");
    const crossing = /stops paying at ([\d.]+[GMT]bps)/.exec(await text(page, "facts"));
    if (crossing !== null && bits(crossing[1]) <= 400e9) assert.ok(content.toString().includes(crossing[1]), `${net}: ${crossing[1]}`); // what the charts show
  }
  await view(page, "training");
  const rows = rowsOf(await csvOf(page));
  for (const label of ["DecentLaM", "DmSGD"]) assert.ok(rows.some((row) => row.algorithm === label && Number(row.train_loss) > 0), label);
  const { content } = await figure(page, "png");
  assert.equal(content.subarray(1, 4).toString(), "PNG");
});

test("a person with a phone: the same question by touch, and the chart in sight", async () => {
  const phone = await openPage("", { viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true });
  await phone.tap("#tab-bandwidth");
  await settled(phone);
  await choose(phone, [["net", "vgg-16"], ["nodes", "8"]]);
  const [, dense] = await reach(phone);
  assert.ok(bits(dense[3]) > bits(dense[1]), dense.join());
  await phone.locator("#target").scrollIntoViewIfNeeded();
  const box = await phone.locator("canvas").first().boundingBox();
  assert.ok(box !== null && box.y > -300 && box.y < 400, JSON.stringify(box));
  const { content } = await figure(phone, "svg");
  assert.match(content.toString(), /^<svg/);
  await phone.close();
});
