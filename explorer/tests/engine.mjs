// The engine of the page without a browser: the libraries that need no files and no threads give the bytes of `paceline run`
// (make check-engine). The scenarios are those of tests/fingerprints that use every method, net and changing link, and two
// whose profile, data and traces are files.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("../..", import.meta.url));
const paceline = process.env.PACELINE ?? join(root, "build/release/paceline");
const bundled = await build({
  stdin: { contents: 'export { Engine } from "./engine.ts";', resolveDir: join(root, "explorer/page") }, bundle: true, format: "esm", write: false,
});
const { Engine } = await import(`data:text/javascript;base64,${Buffer.from(bundled.outputFiles[0].text).toString("base64")}`);
const module = await WebAssembly.compile(readFileSync(join(root, "build/explorer/paceline.wasm")));
const engine = await Engine.start(module, () => {});

const scenarios = {
  "explorer/tests/engine/timing.json": ["away.csv", "link.csv", "net.json"],
  "explorer/tests/engine/training.json": ["net.json", "points.csv"],
  "tests/fingerprints/absences.json": ["data/absences.csv"],
  "tests/fingerprints/algorithms.json": [],
  "tests/fingerprints/links.json": ["data/link.csv"],
  "tests/fingerprints/nets.json": [],
};

function byEngine(name) {
  const folder = dirname(join(root, name));
  const files = Object.fromEntries(scenarios[name].map((file) => [file, readFileSync(join(folder, file), "utf8")]));
  const request = { name: basename(name), scenario: readFileSync(join(root, name), "utf8"), files };
  const ask = (what) => {
    const answer = JSON.parse(engine.ask(JSON.stringify({ ...request, ...what })));
    assert.equal(answer.error, undefined, answer.error?.text);
    return answer;
  };
  const count = ask({ do: "study" }).points.length;
  return ask({ do: "run", points: [...Array(count).keys()] }).csv;
}

for (const name of Object.keys(scenarios))
  test(`${name} gives the bytes of paceline run`, () => {
    const out = mkdtempSync(join(tmpdir(), "engine-"));
    try {
      execFileSync(paceline, ["run", name, "--out", join(out, "run"), "--quiet", "--no-mpi"], { cwd: root, stdio: "ignore" });
      assert.equal(byEngine(name), readFileSync(join(out, "run/results.csv"), "utf8"));
    } finally {
      rmSync(out, { recursive: true });
    }
  });

test("the engine asks the system for no file and no thread", () => {
  const asked = WebAssembly.Module.imports(module).map((item) => item.name);
  assert.deepEqual(asked.filter((name) => /^path_|thread|poll|sock|fd_(read|pread|pwrite|readdir|sync)/.test(name)), []);
});
