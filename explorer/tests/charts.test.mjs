// Charts as a person reads them, and the pictures of a paper: make test-explorer.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { axe, complaints, csvOf, drop, hashOf, idle, openPage, page, show, text } from "./harness.mjs";

const first = { nodes: "8" };
const exact = [{ label: "dense", kind: "dense", aggregation: { kind: "all-reduce", plan: "ring" } },
  { label: "DGC, exact selection", kind: "dgc", codec: { kind: "dgc", density: 0.001, selection: "exact" } }];

/// The rows of results.csv as objects; the fields compared here have no commas in them.
async function rowsOf(p) {
  const [header, ...lines] = (await csvOf(p)).trim().split("\n").map((line) => line.match(/("([^"]|"")*"|[^,]*)(,|$)/g).map((f) => f.replace(/,$/, "")));
  return lines.map((line) => Object.fromEntries(header.map((name, i) => [name, line[i]])));
}

/// What the readout of a chart says: x, the values by line, and the line that is highlighted.
const readoutOf = (p, chart = 0) => p.locator("figure").nth(chart).evaluate((figure) => ({
  x: figure.querySelector(".readout p")?.textContent ?? "",
  values: Object.fromEntries([...figure.querySelectorAll(".readout li")].map((li) => [li.dataset.line, Number(li.querySelector("b").textContent)])),
  near: figure.querySelector(".readout .near")?.dataset.line ?? null,
}));

async function placeOf(p, chart, x, y) {
  const over = p.locator("figure").nth(chart).locator(".u-over");
  await over.scrollIntoViewIfNeeded();
  const box = await over.boundingBox();
  return [box.x + box.width * x, box.y + box.height * y];
}

const six = (value) => Number(Number(value).toPrecision(6));
async function assertReadout(p, chart, nodes, column, factor) {
  const said = await readoutOf(p, chart);
  assert.equal(said.x, `nodes: ${nodes}`);
  const rows = (await rowsOf(p)).filter((row) => row.nodes === String(nodes));
  assert.equal(rows.length, 4);
  for (const row of rows) {
    const label = `${/"label":"+([^"]+)"/.exec(row.algorithm)?.[1] ?? row.algorithm}, ${row["cluster.fabric.link.bandwidth"]}`;
    assert.equal(said.values[label], six(row[column] * factor), `${label} in ${JSON.stringify(said)}`);
  }
  return said;
}

const press = (p, selector) => p.locator(selector).click();
async function saved(p, kind) {
  const [download] = await Promise.all([p.waitForEvent("download"), p.click(`[data-download=${kind}]`)]);
  return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
}
const wait = async (p) => { await p.waitForTimeout(80); await idle(p); };

test("pointing at a chart reads the values of results.csv", async () => {
  await show(first);
  assert.equal((await readoutOf(page)).x, "");
  await page.mouse.move(...await placeOf(page, 0, 0.98, 0.9));
  const said = await assertReadout(page, 0, 8, "speedup", 1);
  assert.equal(said.values.ideal, 8);
  assert.equal(said.near, "dense, 1Gbps");
  await page.mouse.move(...await placeOf(page, 1, 0.4, 0.1));
  await assertReadout(page, 1, 2, "efficiency", 100);
  await page.mouse.move(5, 5);
  assert.equal((await readoutOf(page, 1)).x, "");
  assert.deepEqual(complaints, []);
});

test("a tap reads a chart on a touch screen, and the page scrolls over it", async () => {
  const one = await openPage(hashOf(first), { hasTouch: true, isMobile: true, viewport: { width: 390, height: 860 } });
  await one.touchscreen.tap(...await placeOf(one, 0, 0.66, 0.5));
  await assertReadout(one, 0, 4, "speedup", 1);
  const { left, right, width } = await one.evaluate(() => { const box = document.querySelector(".readout").getBoundingClientRect(); return { left: box.left, right: box.right, width: innerWidth }; });
  assert.ok(left >= 0 && right <= width, `the readout stands from ${left} to ${right} of ${width}`);
  assert.notEqual(await one.evaluate(() => getComputedStyle(document.querySelector(".u-over")).touchAction), "none");
  await one.close();
});

test("arrow keys read a chart, and the readout outlives a redrawing", async () => {
  await show(first);
  await page.locator(".plot").first().focus();
  await page.keyboard.press("End");
  await assertReadout(page, 0, 8, "speedup", 1);
  await page.keyboard.press("ArrowLeft");
  const said = await assertReadout(page, 0, 4, "speedup", 1);
  await page.keyboard.press("ArrowDown");
  assert.notEqual((await readoutOf(page)).near, said.near);
  // Without taking the focus from the chart.
  await page.evaluate(() => {
    const field = document.getElementById("bandwidth");
    field.value = "2Gbps";
    for (const name of ["input", "change"]) field.dispatchEvent(new Event(name, { bubbles: true }));
  });
  await wait(page);
  assert.ok("dense, 2Gbps" in (await readoutOf(page)).values);
  await assertReadout(page, 0, 4, "speedup", 1);
  await page.keyboard.press("Escape");
  assert.equal((await readoutOf(page)).x, "");
});

test("a legend's button hides a line in all charts, through redrawing", async () => {
  await show(first);
  const button = page.locator('ul.legend button[data-key="line dense, 10Gbps"]');
  assert.equal(await button.getAttribute("aria-pressed"), "true");
  await button.click();
  assert.equal(await button.getAttribute("aria-pressed"), "false");
  const lines = async (chart) => { await page.mouse.move(...await placeOf(page, chart, 0.98, 0.5)); return Object.keys((await readoutOf(page, chart)).values); };
  assert.deepEqual(await lines(0), ["dense, 1Gbps", "DGC, 1Gbps", "DGC, 10Gbps", "ideal", "90 %"]);
  assert.deepEqual(await lines(1), ["dense, 1Gbps", "DGC, 1Gbps", "DGC, 10Gbps", "90 %"]);
  await page.focus("#latency-range");
  await page.keyboard.press("ArrowRight");
  await wait(page);
  assert.equal(await button.getAttribute("aria-pressed"), "false");
  assert.ok(!(await lines(0)).includes("dense, 10Gbps"));
  const svg = (await saved(page, "svg")).bytes.toString();
  assert.ok(!svg.includes("dense, 10Gbps") && svg.includes("DGC, 10Gbps"));
  await button.focus();
  await page.keyboard.press("Enter");
  assert.ok((await lines(0)).includes("dense, 10Gbps"));
  assert.equal(await page.evaluate(() => document.activeElement.dataset.key), "line dense, 10Gbps");
});

test("axe finds nothing wrong with a readout, a hidden line and linear axes", async () => {
  for (const [colorScheme, width] of [["light", 1280], ["dark", 390]]) {
    const one = await openPage(hashOf(first), { colorScheme, viewport: { width, height: 860 } });
    await one.locator("ul.legend button").first().click();
    await one.locator("[data-log=y]").first().click();
    await one.locator(".plot").first().focus();
    await one.keyboard.press("ArrowRight");
    assert.equal((await readoutOf(one)).x, "nodes: 1");
    await one.evaluate(axe);
    assert.deepEqual(await one.evaluate(async () => (await window.axe.run()).violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html).join(" | ").slice(0, 300)}`)), []);
    assert.equal(await one.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), 0);
    await one.close();
  }
});

test("axes are linear or logarithmic by a button, through redrawing", async () => {
  await show({ nodes: "64" });
  const [x, y] = ["x", "y"].map((axis) => page.locator("figure").first().locator(`[data-log=${axis}]`));
  const pressed = async () => [await x.getAttribute("aria-pressed"), await y.getAttribute("aria-pressed")];
  const ticks = async () => [...(await saved(page, "svg")).bytes.toString().matchAll(/<g class="chart">.*?<\/g>/g)]
    .map((chart) => [...chart[0].matchAll(/<text [^>]*class="tick" text-anchor="middle"[^>]*>([^<]*)/g)].map((m) => Number(m[1])));
  assert.deepEqual(await pressed(), ["true", "true"]);
  assert.deepEqual((await ticks())[0], [1, 2, 4, 8, 16, 32, 64]);
  await x.click();
  await y.click();
  assert.deepEqual(await pressed(), ["false", "false"]);
  const linear = (await ticks())[0];
  const step = linear[1] - linear[0];
  assert.ok(linear.length > 3 && linear.every((t) => t % step === 0), String(linear));
  await page.focus("#bandwidth-range");
  await page.keyboard.press("ArrowRight");
  await wait(page);
  assert.deepEqual(await pressed(), ["false", "false"]);
  assert.equal(await page.locator("figure").nth(1).locator("[data-log=x]").getAttribute("aria-pressed"), "true");
  await page.click("#theme");
  await wait(page);
  assert.deepEqual(await pressed(), ["false", "false"]);
  await page.click("#theme");
  await wait(page);
  assert.deepEqual(complaints, []);
});

test("SVG and PNG carry title, legend, ideal line and ticks at print size, in either theme", async () => {
  for (const colorScheme of ["light", "dark"]) {
    const one = await openPage(hashOf({ nodes: "64" }), { colorScheme });
    const { name, bytes } = await saved(one, "svg");
    assert.equal(name, "resnet-50-by-the-explorer-speedup.svg");
    const svg = bytes.toString();
    const read = await one.evaluate((content) => {
      const parsed = new DOMParser().parseFromString(content, "image/svg+xml");
      const root = parsed.documentElement;
      const texts = (selector) => [...root.querySelectorAll(selector)].map((t) => t.textContent);
      return { broken: parsed.querySelector("parsererror") !== null, width: root.getAttribute("width"), box: root.getAttribute("viewBox"), texts: texts("text"),
        legend: texts(".legend text"), swatches: root.querySelectorAll(".legend path").length, lines: [...root.querySelectorAll(".line")].map((l) => l.dataset.key),
        ticks: texts(".tick"), back: root.querySelector("rect").getAttribute("fill"), ink: root.getAttribute("fill") };
    }, svg);
    assert.equal(read.broken, false);
    assert.equal(read.width, "180mm");
    assert.match(read.box, /^0 0 720 \d+$/);
    for (const title of ["resnet-50 by the explorer", "Speedup over one device", "Efficiency (%)", "nodes"]) assert.ok(read.texts.includes(title), title);
    assert.deepEqual(read.legend, ["dense, 1Gbps", "dense, 10Gbps", "DGC, 1Gbps", "DGC, 10Gbps", "ideal", "90 %"]);
    assert.equal(read.swatches, 10);
    assert.equal(read.lines.filter((key) => key === "ideal").length, 1);
    for (const tick of ["1", "2", "4", "8", "16", "32", "64", "10", "20", "50", "0", "40", "80", "100"]) assert.ok(read.ticks.includes(tick), `${tick} in ${read.ticks}`);
    assert.deepEqual([read.back, read.ink], ["#ffffff", "#1b1f24"]);
    const png = await saved(one, "png");
    assert.equal(png.name, "resnet-50-by-the-explorer-speedup.png");
    assert.equal(png.bytes.subarray(12, 16).toString(), "IHDR");
    assert.equal(png.bytes.readUInt32BE(16), 2126); // 180 mm at 300 dots per inch
    assert.ok(Math.abs(png.bytes.readUInt32BE(20) / 2126 - Number(read.box.split(" ")[3]) / 720) < 0.01);
    assert.equal(png.bytes.subarray(37, 41).toString(), "pHYs");
    assert.equal(png.bytes.readUInt32BE(41), 11811);
    // A browser, which checks each chunk, reads it: white paper, and ink on it.
    const pixels = await one.evaluate(async (base64) => {
      const image = new Image();
      image.src = `data:image/png;base64,${base64}`;
      await image.decode();
      const sheet = document.createElement("canvas");
      [sheet.width, sheet.height] = [image.naturalWidth, image.naturalHeight];
      const c = sheet.getContext("2d");
      c.drawImage(image, 0, 0);
      const { data } = c.getImageData(0, 0, sheet.width, sheet.height);
      let dark = 0;
      for (let i = 0; i < data.length; i += 4) if (data[i] < 60 && data[i + 1] < 60 && data[i + 2] < 60) ++dark;
      return { corner: [...data.slice(0, 4)], dark };
    }, png.bytes.toString("base64"));
    assert.deepEqual(pixels.corner, [255, 255, 255, 255]);
    assert.ok(pixels.dark > 1000, `${pixels.dark} dark pixels`);
    assert.deepEqual(complaints, []);
    await one.close();
  }
});

test("downloads are named after the study, and views without a picture or results have no button for them", async () => {
  const has = { speedup: "csv png svg json", bandwidth: "csv png svg json", step: "png svg json", timeline: "png svg json", math: "json", diagnose: "json", training: "csv png svg json", table: "csv json" };
  for (const [view, expected] of Object.entries(has)) {
    await show({ view, ...first });
    const visible = await page.locator("[data-download]:visible").evaluateAll((all) => all.map((b) => b.dataset.download));
    assert.deepEqual(visible, expected.split(" "), view);
    const slug = view === "training" ? "eight-machines-with-two-classes-of-digits-each-by-the" : "resnet-50-by-the-explorer";
    for (const kind of visible) {
      const { name, bytes } = await saved(page, kind);
      assert.equal(name, kind === "csv" ? `${slug}-results.csv` : kind === "json" ? `${slug}.json` : `${slug}-${view}.${kind}`);
      if (kind === "svg") assert.match(bytes.toString(), /^<svg[\s\S]*class="legend"><g[\s\S]*<\/svg>\n$/, view);
      if (kind === "png") assert.equal(bytes.readUInt32BE(16), 2126, view);
    }
    assert.deepEqual(complaints, [], view);
  }
  // A title may be anything.
  await show(first);
  const scenario = JSON.parse(await page.evaluate(() => window.explorer.scenario()));
  for (const [title, slug] of [["Été à Zürich: 100 %!", "ete-a-zurich-100"], ["<b>&\"'</b> \u0001", "b-b"], ["../../etc/passwd", "etc-passwd"], ["???", "paceline"], ["雪 1", "雪-1"]]) {
    await drop("titled.json", JSON.stringify({ ...scenario, title }));
    const { name, bytes } = await saved(page, "svg");
    assert.equal(name, `${slug}-speedup.svg`);
    assert.equal(await page.evaluate((content) => new DOMParser().parseFromString(content, "image/svg+xml").querySelector("parsererror")?.textContent ?? "", bytes.toString()), "");
  }
});

test("a results.csv that is opened has nothing to download", async () => {
  await show(first);
  await drop("results.csv", await csvOf(page));
  assert.equal(await page.locator("tbody tr").count(), 16);
  assert.equal(await page.locator("[data-download]:visible").count(), 0);
});

test("after a wrong entry nothing is exported", async () => {
  await show(first);
  await page.fill("#nodes", "many");
  await wait(page);
  await page.evaluate(() => document.querySelector("[data-download=svg]").click());
  assert.match(await text(page, "status"), /belong to earlier entries/);
});

test("six variants of two algorithms have styles of their own", async () => {
  await show(first);
  const scenario = JSON.parse(await page.evaluate(() => window.explorer.scenario()));
  scenario.sweep["cluster.fabric.link.bandwidth"] = ["1Gbps", "2Gbps", "3Gbps", "4Gbps", "5Gbps", "6Gbps"];
  scenario.sweep["cluster.nodes"] = [1, 2, 4];
  const stylesOf = () => page.locator("ul.legend button").evaluateAll((all) => all.filter((b) => b.dataset.key.startsWith("line")).map((b) => {
    const [line, marker] = b.querySelectorAll("path");
    return [line.getAttribute("stroke"), line.getAttribute("stroke-dasharray"), marker.getAttribute("d")];
  }));
  await drop("variants.json", JSON.stringify(scenario));
  const styles = await stylesOf();
  assert.equal(styles.length, 12);
  for (const k of [0, 6]) {
    const variants = styles.slice(k, k + 6);
    assert.equal(new Set(variants.map((s) => s[0])).size, 1); // color is the algorithm's
    assert.equal(new Set(variants.map((s) => s[1])).size, 6);
    assert.equal(new Set(variants.map((s) => s[2])).size, 6);
  }
  assert.equal(new Set(styles.map(String)).size, 12);
  await show({ nodes: "2", algorithms: Array.from({ length: 16 }, (_, i) => ({ label: `dense ${i}`, kind: "dense" })) });
  const many = await stylesOf();
  assert.equal(many.length, 32);
  assert.equal(new Set(many.map(String)).size, 32);
});

const inside = (box, plot) => box.left >= plot.left && box.top >= plot.top && box.left + box.width <= plot.left + plot.width && box.top + box.height <= plot.top + plot.height;
const apart = (a, b) => a.left + a.width <= b.left || b.left + b.width <= a.left || a.top + a.height <= b.top || b.top + b.height <= a.top;
function assertMarks({ marks, plot }, labels, name) {
  assert.deepEqual(marks.map((m) => m.lines.join("").replace(/\s/g, "")).sort(), labels.map((l) => l.replace(/\s/g, "")).sort(), name);
  marks.forEach((m, i) => {
    assert.ok(inside(m, plot), `${name}: ${JSON.stringify(m)} in ${JSON.stringify(plot)}`);
    marks.slice(0, i).forEach((other) => assert.ok(apart(m, other), `${name}: ${JSON.stringify([m, other])}`));
  });
}

// The page's own charts, with data that no scenario gives.
const pageFolder = fileURLToPath(new URL("../page", import.meta.url));
const bundled = await build({
  stdin: { contents: 'export * from "./charts.ts"; export * from "./lines.ts"; export * from "./print.ts"; export * from "./scales.ts";', resolveDir: pageFolder },
  bundle: true, format: "iife", globalName: "lib", write: false,
});
const code = `${bundled.outputFiles[0].text};window.lib = lib;`;
const marked = `(labels, xs) => { const box = new lib.ChartBox("test", () => {}); document.querySelector(".charts").replaceChildren(box.element);
  const chart = { title: "A chart", x: "x", logX: true, lines: [{ label: "a", color: 0, variant: 0, points: [[1, 1], [10, 5], [100, 2]] }], marks: labels.map((label, i) => ({ x: xs[i], label })) };
  box.draw(chart);
  const frames = (n) => new Promise((done) => { const next = () => (n-- > 0 ? requestAnimationFrame(next) : done()); next(); });
  return frames(5).then(() => ({ marks: JSON.parse(box.element.dataset.marks), plot: JSON.parse(box.element.dataset.plot),
    canvas: box.element.querySelector("canvas").clientHeight, printed: lib.printed("Marks", () => lib.printedCharts([{ chart, look: lib.lookOf("test", chart) }])) })); }`;

test("a mark's label is inside the plot, whatever its length and the page's width", async () => {
  const word = "DGC, with an exact selection and momentum correction, stops paying at 12.8Gbps";
  const cases = [
    [["short 1Gbps"], [99]], [["short 1Gbps"], [1.01]], [[word, word.replace("12.8", "13.1")], [9, 11]], [[word.repeat(3)], [50]], [["x".repeat(250)], [2]],
    [Array.from({ length: 31 }, (_, i) => `${word} ${i}`), Array.from({ length: 31 }, (_, i) => 1.1 + i * 3)],
  ];
  for (const width of [390, 1280]) {
    const one = await openPage(hashOf({ nodes: "4" }), { viewport: { width, height: 860 } });
    await one.evaluate(code);
    for (const [labels, xs] of cases) {
      const made = await one.evaluate(`(${marked})(${JSON.stringify(labels)}, ${JSON.stringify(xs)})`);
      assertMarks(made, labels, `${width} px, ${labels.length} labels`);
      assert.ok(made.plot.top + made.plot.height <= made.canvas);
      const cut = await one.evaluate((svg) => {
        const holder = document.createElement("div");
        holder.innerHTML = svg;
        document.body.append(holder);
        const sheet = holder.querySelector("svg").getBoundingClientRect();
        const texts = [...holder.querySelectorAll("text")].map((t) => [t.textContent, t.getBoundingClientRect()]);
        holder.remove();
        return texts.filter(([, box]) => box.left < sheet.left || box.right > sheet.right || box.top < sheet.top || box.bottom > sheet.bottom).map(([t]) => t);
      }, made.printed);
      assert.deepEqual(cut, []);
    }
    assert.equal(await one.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), 0);
    // And so in the view of crossings, by its own run.
    const label = "DGC whose entries are sorted on the processor before each exchange, over slow and fast links alike";
    await one.goto("about:blank");
    await one.goto(page.url().split("#")[0] + hashOf({ view: "bandwidth", nodes: "8", algorithms: [exact[0], { ...exact[1], label }] }));
    await idle(one);
    await one.waitForTimeout(200);
    const shown = await one.locator("figure").evaluateAll((all) => all.map((f) => ({ marks: JSON.parse(f.dataset.marks), plot: JSON.parse(f.dataset.plot) })));
    assert.equal(shown.length, 3);
    const fact = await text(one, "facts");
    for (const chart of shown) {
      assertMarks(chart, ["1Gbps", "10Gbps", fact.slice(0, fact.indexOf(", compared"))], `${width} px, bandwidth`);
      assert.match(chart.marks[2].lines.join(" "), /[\d.]+[GM]bps$/);
    }
    await one.close();
  }
});

test("targets are lines with labels, in the chart and in print", async () => {
  await show({ nodes: "4" });
  await page.evaluate(code);
  const made = await page.evaluate(async () => {
    const { ChartBox, printed, printedCharts, lookOf, drawnOf } = window.lib;
    const box = new ChartBox("test", () => {});
    document.querySelector(".charts").replaceChildren(box.element);
    const chart = { title: "Speedup", x: "nodes", logX: true, xBase: 2, lines: [{ label: "a", color: 0, variant: 0, points: [[1, 1], [2, 1.5], [4, 3]] }], ideal: 1,
      targets: [{ label: "90 % of ideal", at: (x) => 0.9 * x }, { label: "half", at: (x) => 0.5 * x }] };
    box.draw(chart);
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    box.element.querySelector(".plot").focus();
    return { drawn: drawnOf(chart).map((d) => [d.label, d.points.at(-1)[1]]), svg: printed("Targets", () => printedCharts([{ chart, look: lookOf("test", chart) }])) };
  });
  assert.deepEqual(made.drawn, [["a", 3], ["ideal", 4], ["90 % of ideal", 3.6], ["half", 2]]);
  await page.keyboard.press("End");
  assert.deepEqual((await readoutOf(page)).values, { a: 3, ideal: 4, "90 % of ideal": 3.6, half: 2 });
  for (const label of ["90 % of ideal", "half"]) {
    assert.equal([...made.svg.matchAll(new RegExp(`>${label}<`, "g"))].length, 2, "in the legend and at the line");
    assert.match(made.svg, new RegExp(`class="line" data-key="target ${label}"[^>]*stroke-dasharray`));
  }
});

test("ticks are powers of two, 1-2-5 or round, and never too many", async () => {
  await page.evaluate(code);
  const ticks = (scale, base, most = 12) => page.evaluate(([s, b, m]) => window.lib.ticksOf(s, (t) => t.length <= m, b), [scale, base, most]);
  assert.deepEqual(await ticks({ log: true, least: 1, most: 64 }, 2), [1, 2, 4, 8, 16, 32, 64]);
  assert.deepEqual(await ticks({ log: true, least: 1, most: 4096 }, 2, 7), [1, 4, 16, 64, 256, 1024, 4096]);
  assert.deepEqual(await ticks({ log: true, least: 0.3, most: 64 }, 10), [0.5, 1, 2, 5, 10, 20, 50]);
  assert.deepEqual(await ticks({ log: true, least: 1e-9, most: 1e9 }, 10, 7), [1e-9, 1e-6, 1e-3, 1, 1e3, 1e6, 1e9]);
  assert.deepEqual(await ticks({ log: true, least: 92, most: 98 }, 10, 7), [92, 93, 94, 95, 96, 97, 98]);
  assert.deepEqual(await ticks({ log: false, least: 0, most: 104.7 }, 10, 6), [0, 20, 40, 60, 80, 100]);
  assert.deepEqual(await ticks({ log: false, least: 1, most: 64 }, 2, 9), [8, 16, 24, 32, 40, 48, 56, 64]);
  assert.deepEqual(await ticks({ log: false, least: -3e-7, most: 2e-7 }, 10, 6), [-3e-7, -2e-7, -1e-7, 0, 1e-7, 2e-7]);
  for (let i = 0; i < 500; ++i) {
    const [least, size] = [10 ** (Math.random() * 24 - 12), 10 ** (Math.random() * 12 - 4)];
    const scale = { log: i % 2 === 0, least, most: least * (1 + size) };
    const made = await ticks(scale, i % 3 === 0 ? 2 : 10, 8);
    assert.ok(made.length >= 1 && made.length <= 8 && made.every(Number.isFinite), JSON.stringify({ scale, made }));
  }
});

test("charts use a wide screen", async () => {
  for (const [width, least] of [[1600, 600], [2560, 1000]]) {
    const one = await openPage(hashOf({ nodes: "4" }), { viewport: { width, height: 1200 } });
    const boxes = await one.locator("canvas").evaluateAll((all) => all.map((c) => [c.clientWidth, c.clientHeight]));
    for (const [w, h] of boxes) assert.ok(w >= least && h > 360, `${w} x ${h} px at ${width}`);
    await one.close();
  }
});

test("the timeline scrolls the page by the wheel, and zooms where it is asked to", async () => {
  await show({ view: "timeline", ...first });
  await page.setViewportSize({ width: 1280, height: 500 });
  const canvas = page.locator(".timeline canvas");
  const picture = () => canvas.evaluate((c) => c.toDataURL());
  const scrolled = () => page.evaluate(() => scrollY);
  const [x, y] = await canvas.evaluate((c) => { const box = c.getBoundingClientRect(); return [box.left + box.width / 2, box.top + 60]; });
  await page.mouse.move(x, y);
  const before = await picture();
  await page.mouse.wheel(0, 120);
  await page.waitForFunction(() => scrollY > 0);
  assert.equal(await picture(), before);
  await page.evaluate(() => scrollTo(0, 0));
  await page.keyboard.down("Control");
  await page.mouse.wheel(0, -120);
  await page.keyboard.up("Control");
  await page.waitForTimeout(200);
  assert.equal(await scrolled(), 0);
  assert.notEqual(await picture(), before);
  await press(page, "button:text-is('All')");
  assert.equal(await picture(), before);
  await press(page, "button:text-is('Zoom by wheel')");
  assert.equal(await page.locator("button:text-is('Zoom by wheel')").getAttribute("aria-pressed"), "true");
  await page.evaluate(() => scrollTo(0, 0));
  await page.mouse.move(x, y);
  await page.mouse.wheel(0, -120);
  await page.waitForTimeout(200);
  assert.equal(await scrolled(), 0);
  assert.notEqual(await picture(), before);
  assert.equal(await canvas.evaluate((c) => getComputedStyle(c).touchAction), "pan-y");
  assert.equal(await page.locator(".timeline .note").count(), 0);
  await page.setViewportSize({ width: 1280, height: 860 });
});

test("a timeline that is cut says where, at its top", async () => {
  const scenario = { title: "A large ring", cluster: { nodes: 256, fabric: { kind: "star", link: { bandwidth: "1Gbps" } } },
    workload: { step_time: "1ms", gradient: "97MB" }, algorithm: { kind: "dense", aggregation: { kind: "all-reduce", plan: "ring" } }, stop: { iterations: 1 } };
  await show({ view: "timeline", file: { name: "ring.json", text: JSON.stringify(scenario) } });
  const note = await page.locator(".timeline > :first-child").textContent();
  const said = /^The timeline is cut: it ends at ([\d.]+) ms of simulated time, and ([\d,]+) events are drawn\./.exec(note);
  assert.ok(said, note);
  const { last, drawn } = await page.evaluate(async (scenario) => {
    const answer = await window.explorer.pool.group().ask({ do: "trace", scenario });
    const events = JSON.parse(answer.trace).traceEvents;
    return { last: Math.max(...events.filter((e) => e.ph !== "M").slice(-1).map((e) => e.ts)), drawn: events.filter((e) => e.ph === "E").length };
  }, JSON.stringify(scenario));
  assert.ok(Math.abs(Number(said[1]) - last / 1000) <= 1e-5 * last / 1000, `${note} against ${last} µs`);
  assert.equal(Number(said[2].replaceAll(",", "")), drawn);
  const svg = await saved(page, "svg");
  assert.equal(svg.name, "a-large-ring-timeline.svg");
  console.log(`a timeline of ${drawn} events as SVG: ${(svg.bytes.length / 2 ** 20).toFixed(1)} MiB`);
});
