// Draws the pictures of docs/explorer.md: node screenshots.mjs ADDRESS FOLDER, with the page served at ADDRESS.
import { chromium } from "playwright-core";

const [address, folder] = process.argv.slice(2);
const flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync"];
const pictures = [["speedup", "light", 1280], ["speedup", "dark", 1280], ["bandwidth", "light", 1280], ["step", "dark", 1280],
  ["timeline", "light", 1280], ["math", "light", 1280], ["training", "dark", 1280], ["speedup", "light", 390]];

// DGC that sorts exactly pays up to some bandwidth; the first view's DGC pays at all of them.
const exact = [
  { label: "dense", kind: "dense", aggregation: { kind: "all-reduce", plan: "ring" } },
  { label: "DGC, exact selection", kind: "dgc", codec: { kind: "dgc", density: 0.001, selection: "exact" } },
];

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: flags });
for (const [view, colorScheme, width] of pictures) {
  const page = await browser.newPage({ viewport: { width, height: 800 }, colorScheme });
  await page.goto(`${address}#${encodeURIComponent(JSON.stringify(view === "bandwidth" ? { view, algorithms: exact } : { view }))}`);
  await page.waitForFunction(() => document.body.dataset.busy === "no", null, { timeout: 300_000 });
  await page.waitForTimeout(300);
  const name = width < 600 ? "phone" : `${view}-${colorScheme}`;
  await page.screenshot({ path: `${folder}/explorer-${name}.png`, fullPage: width < 600 || view === "timeline" });
  await page.close();
}
await browser.close();
