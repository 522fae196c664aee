// Builds the page: node build.mjs ENGINES FOLDER. The folder is made beside its name and renamed.
import { build } from "esbuild";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants } from "node:zlib";

const [engines, folder] = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));
const scenarios = join(here, "../scenarios");
const making = `${folder}.tmp`;
const mostCompressed = 3e6; // at a quality that takes 2 s; a server compresses better
const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };

// Presets: the shipped scenarios that name no file.
const presets = {};
for (const name of readdirSync(scenarios).sort()) {
  if (!name.endsWith(".json") || name.includes("schema")) continue;
  const text = readFileSync(join(scenarios, name), "utf8");
  if (!/"file":|\.\.\/|\.csv"|profile": "[^"]*\.json"/.test(text)) presets[name.replace(".json", "")] = JSON.parse(text);
}
const presetsModule = {
  name: "presets",
  setup(b) {
    b.onResolve({ filter: /presets\.js$/ }, () => ({ path: "presets", namespace: "presets" }));
    b.onLoad({ filter: /.*/, namespace: "presets" }, () => ({ contents: `export const presets = ${JSON.stringify(presets)};`, loader: "js" }));
  },
};

rmSync(making, { recursive: true, force: true });
mkdirSync(making, { recursive: true });
await build({
  entryPoints: [join(here, "page/main.ts"), join(here, "page/worker.ts")], outdir: making, bundle: true, format: "esm",
  minify: true, target: "es2022", plugins: [presetsModule], legalComments: "eof",
});
const uplot = readFileSync(join(here, "node_modules/uplot/dist/uPlot.min.css"), "utf8");
writeFileSync(join(making, "style.css"), uplot + readFileSync(join(here, "page/style.css"), "utf8"));
copyFileSync(join(here, "page/index.html"), join(making, "index.html"));
copyFileSync(join(here, "node_modules/uplot/LICENSE"), join(making, "uPlot-LICENSE.txt"));
for (const name of ["paceline.wasm", "paceline_fused.wasm"]) {
  const wasm = join(engines, name);
  copyFileSync(wasm, join(making, name));
  const compressed = brotliCompressSync(readFileSync(wasm), quality).length;
  if (compressed > mostCompressed) throw new Error(`${wasm} has ${compressed} bytes compressed; at most ${mostCompressed}`);
  console.log(`${name}: ${statSync(wasm).size} bytes, ${compressed} compressed`);
}
rmSync(folder, { recursive: true, force: true });
renameSync(making, folder);
console.log(`${folder}: ${Object.keys(presets).length} presets`);
