// What the tests of the page share: the served page in a headless browser, and the command line as the oracle.
//
// PACELINE names the program, which serves the page; PAGE_BROWSER is chromium (the default) or firefox, Debian's by
// WebDriver BiDi.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before } from "node:test";
import { fileURLToPath } from "node:url";
import { chromium, firefox } from "playwright-core";

export const root = fileURLToPath(new URL("../..", import.meta.url));
export const paceline = process.env.PACELINE ?? join(root, "build/release/paceline");
export const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
export const folder = mkdtempSync(join(tmpdir(), "explorer-"));
const flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync"];
// A locale of UTF-8, without which Chromium names a download "download" where its name is not ASCII. Firefox's sandboxes
// are off for the reason of --no-sandbox: they need what a container may forbid.
const sandboxes = ["CONTENT", "GMP", "RDD", "SOCKET_PROCESS", "UTILITY"].map((name) => [`MOZ_DISABLE_${name}_SANDBOX`, "1"]);
const env = { ...process.env, LC_ALL: "C.UTF-8", ...Object.fromEntries(sandboxes) };
export let browser, address, page, complaints;
let server;

before(async () => {
  server = spawn(paceline, ["explore", "--no-browser", "--folder", join(root, "build/explorer")], { stdio: ["ignore", "pipe", "inherit"] });
  address = await new Promise((resolve) => server.stdout.on("data", (d) => {
    const found = /http:\/\/127\.0\.0\.1:\d+\//.exec(String(d));
    if (found) resolve(found[0]);
  }));
  browser = process.env.PAGE_BROWSER === "firefox"
    ? await firefox.launch({ executablePath: process.env.FIREFOX ?? "/usr/bin/firefox-esr", channel: "moz-firefox", env })
    : await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: flags, env });
  page = await openPage();
});

after(async () => {
  await browser?.close();
  server?.kill();
  rmSync(folder, { recursive: true, force: true });
});

export async function openPage(hash = "", options = {}) {
  const made = await browser.newPage({ viewport: { width: 1280, height: 860 }, ...options });
  complaints = [];
  made.on("console", (m) => { if (m.type() === "error" || m.type() === "warning") complaints.push(m.text()); });
  made.on("pageerror", (e) => complaints.push(String(e)));
  made.on("request", (r) => { if (!r.url().startsWith(address) && !/^(data|blob):/.test(r.url())) complaints.push(`asked ${r.url()}`); });
  await made.goto(address + hash, { timeout: 120_000 });
  await idle(made);
  return made;
}

export const idle = (p, timeout = 120_000) => p.waitForFunction(() => document.body.dataset.busy === "no", null, { timeout });
/// Waits until a change has begun, and its run has ended.
export async function settled(p) {
  await p.waitForTimeout(80);
  await idle(p);
}
export const hashOf = (changes) => `#${encodeURIComponent(JSON.stringify(changes))}`;
export const csvOf = (p) => p.evaluate(() => window.explorer.csv());
export const text = (p, id) => p.evaluate((i) => document.getElementById(i).textContent, id);

export async function show(changes) {
  await page.goto("about:blank");
  complaints.length = 0;
  await page.goto(address + hashOf(changes));
  await idle(page);
}

export async function drop(name, content) {
  await page.setInputFiles("#open", { name, mimeType: "text/plain", buffer: Buffer.from(content) });
  await settled(page);
}

/// results.csv of the command line for this text, beside the files that it names.
export function byCommandLine(scenario, files = {}) {
  const file = join(folder, "scenario.json");
  writeFileSync(file, scenario);
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  execFileSync(paceline, ["run", file, "--out", join(folder, "out"), "--quiet", "--no-mpi"], { stdio: "ignore" });
  const csv = readFileSync(join(folder, "out/results.csv"), "utf8");
  rmSync(join(folder, "out"), { recursive: true, force: true });
  return csv;
}

export const shipped = (name) => JSON.parse(readFileSync(join(root, "scenarios", `${name}.json`), "utf8"));
// A few steps on a few nodes.
export function fewerNodes(scenario, most) {
  const sweep = scenario.sweep ?? {};
  scenario.stop = { iterations: 2 };
  if (sweep["cluster.nodes"]) sweep["cluster.nodes"] = sweep["cluster.nodes"].filter((n) => n <= most);
  return JSON.stringify(scenario);
}

/// The rows of a CSV whose fields hold no commas.
export function rowsOf(csv) {
  const [header, ...rows] = csv.trim().split("\n").map((line) => line.split(","));
  return header.length < 2 ? [] : rows.map((row) => Object.fromEntries(header.map((name, i) => [name, row[i] ?? ""])));
}
