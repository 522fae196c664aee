// How long the page takes after a slider, and for shipped studies, with `paceline run --jobs 2` in turn, in ms: the
// figures of docs/explorer.md.
// node speed.mjs ADDRESS PACELINE, with the page served at ADDRESS.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const [address, paceline] = process.argv.slice(2);
const scenarios = fileURLToPath(new URL("../scenarios", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "explorer-speed-"));
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
const page = await browser.newPage();
const idle = (shown = page) => shown.waitForFunction(() => document.body.dataset.busy === "no", null, { timeout: 300_000 });
await page.goto(address);
await idle();
await page.focus("#bandwidth-range");
const moves = [];
for (let i = 0; i < 21; ++i) {
  await page.keyboard.press(i % 2 === 0 ? "ArrowRight" : "ArrowLeft");
  await page.waitForTimeout(30);
  await idle();
  moves.push(await page.evaluate(() => window.explorer.measured.redraw_ms));
}
moves.sort((a, b) => a - b);
console.log(`the first view's 28 points after a slider: ${moves[10].toFixed(0)}, ${moves[0].toFixed(0)} to ${moves[20].toFixed(0)}`);
// The other engine is that of browsers without fused multiply-adds of vectors (page/fused.ts).
const without = await browser.newPage();
await without.addInitScript(() => { WebAssembly.validate = () => false; });
await without.goto(address);
for (const name of ["dgc-speedup", "bandwidth-what-if", "stragglers", "first-training"]) {
  const times = { page: [], program: [], "page with the other engine": [] };
  for (let i = 0; i < 3; ++i) {
    const study = JSON.parse(readFileSync(join(scenarios, `${name}.json`), "utf8"));
    study.title = `run ${i}`; // so that the page runs it again
    if (name === "first-training") study.stop = { iterations: 60 };
    const text = JSON.stringify(study);
    let begin;
    for (const [key, shown] of [["page", page], ["page with the other engine", without]]) {
      await idle(shown);
      begin = Date.now();
      await shown.setInputFiles("#open", { name: "study.json", mimeType: "text/plain", buffer: Buffer.from(text) });
      await shown.waitForTimeout(5);
      await idle(shown);
      times[key].push(Date.now() - begin);
    }
    writeFileSync(join(folder, "study.json"), text);
    begin = Date.now();
    execFileSync(paceline, ["run", join(folder, "study.json"), "--out", join(folder, "out"), "--force", "--quiet", "--no-mpi", "--jobs", "2"], { stdio: ["ignore", "ignore", "ignore"] });
    times.program.push(Date.now() - begin);
  }
  console.log(`${name}: ${Object.entries(times).map(([who, each]) => `${who} ${each.join(" ")}`).join(", ")}`);
}
await browser.close();
rmSync(folder, { recursive: true });
