// The page in headless Chromium, or in Firefox, served by the program, which is the oracle of its numbers. PACELINE names the program.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium, firefox } from "playwright-core";

export const root = fileURLToPath(new URL("../..", import.meta.url));
export const paceline = process.env.PACELINE ?? join(root, "build/release/paceline");
export const folder = mkdtempSync(join(tmpdir(), "explorer-"));
const flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync"];
let server, browser;
export let address;
/// What the last page complained of: errors in its console, and requests to others.
export const complaints = [];

const launch = {
  chromium: () => chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: flags }),
  firefox: () => firefox.launch({ executablePath: process.env.FIREFOX ?? "/usr/bin/firefox-esr", channel: "moz-firefox" }), // Debian's, by WebDriver BiDi
};

/// Starts the server and a browser; returns the first page.
export async function open(name = "chromium") {
  server = spawn(paceline, ["explore", "--no-browser", "--folder", join(root, "build/explorer")], { stdio: ["ignore", "pipe", "inherit"] });
  address = await new Promise((resolve) => server.stdout.on("data", (d) => {
    const found = /http:\/\/127\.0\.0\.1:\d+\//.exec(String(d));
    if (found) resolve(found[0]);
  }));
  browser = await launch[name]();
  return openPage();
}

export async function close() {
  await browser?.close();
  server?.kill();
  rmSync(folder, { recursive: true, force: true });
}

export const newPage = (options = {}) => browser.newPage(options);

export async function openPage(hash = "", options = {}) {
  const made = await newPage({ viewport: { width: 1280, height: 860 }, ...options });
  complaints.length = 0;
  made.on("console", (m) => { if (m.type() === "error" || m.type() === "warning") complaints.push(m.text()); });
  made.on("pageerror", (e) => complaints.push(String(e)));
  made.on("request", (r) => { if (!r.url().startsWith(address) && !/^(data|blob):/.test(r.url())) complaints.push(`asked ${r.url()}`); });
  await made.goto(address + hash);
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

export async function show(p, changes) {
  await p.goto("about:blank");
  complaints.length = 0;
  await p.goto(address + hashOf(changes));
  await idle(p);
}

export async function drop(p, name, content) {
  await p.setInputFiles("#open", { name, mimeType: "text/plain", buffer: Buffer.from(content) });
  await settled(p);
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

/// The rows of a CSV whose fields hold no commas.
export function rowsOf(csv) {
  const [header, ...rows] = csv.trim().split("\n").map((line) => line.split(","));
  return header.length < 2 ? [] : rows.map((row) => Object.fromEntries(header.map((name, i) => [name, row[i] ?? ""])));
}

export const shipped = (name) => JSON.parse(readFileSync(join(root, "scenarios", `${name}.json`), "utf8"));
