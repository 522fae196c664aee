// Runs a scenario with the engine in Node: node tests/node_engine.mjs WASM SCENARIO prints results.csv.
import { readFileSync, readdirSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { pathToFileURL } from "node:url";

const { Engine } = await import(pathToFileURL(process.env.ENGINE_JS).href);
const [wasm, scenario] = process.argv.slice(2);
const files = {};
const collect = (folder) => {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) collect(path);
    else if (/\.(csv|json)$/.test(name)) files[relative(dirname(scenario), path)] = readFileSync(path, "utf8");
  }
};
collect(dirname(scenario));
const module = await WebAssembly.compile(readFileSync(wasm));
const engine = await Engine.start(module, (t) => { if (process.env.TELL) console.error(t); });
const text = readFileSync(scenario, "utf8");
const ask = (request) => {
  const answer = JSON.parse(engine.ask(JSON.stringify({ scenario: text, files, ...request })));
  if (answer.error) { console.error(answer.error.text); process.exit(1); }
  return answer;
};
const t0 = performance.now();
const study = ask({ do: "study" });
const t1 = performance.now();
const run = ask({ do: "run", points: study.points.map((_, i) => i) });
console.error(`study ${(t1 - t0).toFixed(0)} ms, run ${(performance.now() - t1).toFixed(0)} ms, ${study.points.length} points, memory ${engine.memoryBytes >> 20} MiB`);
process.stdout.write(run.csv);
