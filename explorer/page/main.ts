// The page: a state, the views over it, and one study at a time.
import { trainingScenario } from "./algorithms.js";
import { type Chart, ChartBox, colorOf, svgOf } from "./charts.js";
import { clearWrong, showControls, showWrong } from "./controls.js";
import { byId, el, save, table } from "./dom.js";
import type { Fault } from "./engine.js";
import { fromAddress, toAddress } from "./link.js";
import { stepMath } from "./math_view.js";
import { CancelledError, type Group, PageError, Pool, RefusedError } from "./pool.js";
import { presets } from "./presets.js";
import { type Evaluation, Results, type Row, rowsOf, runStudy, type Study } from "./results.js";
import { controlOf, entryErrors, EntryError, type Json, nodesOf, overBandwidth, overNodes, scenarioOf, seconds, bitsPerSecond, firstState, type State, type View, views } from "./state.js";
import { bars, type Explanation } from "./step_view.js";
import { Timeline } from "./timeline_view.js";
import { bandwidthCharts, speedupCharts, tableRows, trainingCharts } from "./views.js";

const titles: Record<View, string> = { speedup: "Speedup", bandwidth: "Bandwidth", step: "A step", timeline: "Timeline", math: "Math", training: "Training", table: "Table" };
const pool = new Pool();
let state: State = firstState();
let linked = false; // the state came by a link, and nothing has changed it yet
let notice = ""; // about the link, until the next change
let group: Group = pool.group();
let results: Results | null = null;
let boxes: ChartBox[] = [];
let scenario = "";
let moved = 0; // when the last change was made
let drawnFor = ""; // the view and the shape of the panel
const measured = { redraw_ms: 0, first_ms: 0, runs: 0 }; // for tests

const panel = (): HTMLElement => byId("panel");
const pretty = (json: Json): string => JSON.stringify(json, null, 2);

function status(text: string): void {
  byId("status").textContent = text;
}

const isTold = (error: unknown): boolean => [CancelledError, EntryError, RefusedError, PageError].some((kind) => error instanceof kind);

function showError(error: unknown): void {
  if (error instanceof CancelledError) return;
  status("This cannot be run.");
  if (error instanceof EntryError) {
    for (const wrong of entryErrors(state, error))
      if (!showWrong(wrong.control, wrong.message)) byId("message").textContent = wrong.message;
    return;
  }
  if (error instanceof RefusedError && state.file === null) return showFaults(error.refusal.all);
  showText(isTold(error) ? (error as Error).message : `The page has failed: ${String(error)}`);
}

function showText(text: string): void {
  showWrong("text", text);
  byId("message").textContent = text;
}

// Each fault stands beside its control; those without one stand above the view.
function showFaults(faults: Fault[]): void {
  const beside = new Map<string, string[]>();
  const other: string[] = [];
  for (const fault of faults) {
    const control = controlOf(fault.path);
    if (control === null) other.push(fault.text);
    else beside.set(control, [...(beside.get(control) ?? []), fault.problem]);
  }
  for (const [control, problems] of beside)
    if (!showWrong(control, problems.join("\n"))) other.push(...problems);
  if (other.length > 0) showText(other.join("\n"));
}

function draw(charts: Chart[]): void {
  const shape = `${state.view} ${charts.length}`;
  if (drawnFor !== shape) {
    boxes.forEach((box) => box.destroy());
    boxes = charts.map(() => new ChartBox());
    panel().replaceChildren(el("ul", { class: "legend" }), el("div", { class: "charts" }, ...boxes.map((box) => box.element)), el("div", { id: "facts" }));
    drawnFor = shape;
  }
  charts.forEach((chart, i) => boxes[i]!.draw(chart));
  const legend = panel().querySelector("ul.legend");
  legend?.replaceChildren(...(charts[0]?.lines ?? []).map((line) => {
    const item = el("li", {});
    item.innerHTML = `<svg width="30" height="10" aria-hidden="true"><path d="M0 5h30" stroke="${colorOf(line.color)}" stroke-width="2.5"${line.dash ? ' stroke-dasharray="7 5"' : ""}/></svg>`;
    item.append(line.label);
    return item;
  }));
  measured.redraw_ms = performance.now() - moved;
  if (measured.first_ms === 0) measured.first_ms = performance.now();
}

function place(...content: Node[]): void {
  boxes.forEach((box) => box.destroy());
  boxes = [];
  drawnFor = "";
  panel().replaceChildren(...content);
}

function progress(done: Results): void {
  status(done.complete ? `${done.study.points.length} points` : `${done.done} of ${done.study.points.length} points ...`);
}

const studyText = (): string => state.file?.text ?? pretty(scenarioOf(state, overNodes(state)));

async function runSpeedup(): Promise<void> {
  scenario = studyText();
  const evaluations: Evaluation[] = [];
  let study: Study | null = null;
  const show = (r: Results) => {
    results = r;
    progress(r);
    if (state.view === "table") showTable(r.study, r.rows());
    else if (!r.study.trains) {
      const charts = speedupCharts(r);
      if (charts.length > 0) draw(charts);
      else showTable(r.study, r.rows());
    }
  };
  await runStudy(group, scenario, state.files, {
    study: (s) => { study = s; },
    point: show,
    evaluation: (e) => { evaluations.push(e); if (study !== null && state.view !== "table") draw(trainingCharts(study, evaluations)); },
  });
}

function showTable(study: Study, rows: Row[]): void {
  const made = tableRows(study, rows);
  place(table(made.header, made.rows));
}

async function runBandwidth(): Promise<void> {
  if (state.file !== null) return runSpeedup();
  const nodes = Number(state.nodes);
  scenario = pretty(scenarioOf(state, overBandwidth(state)));
  results = await runStudy(group, scenario, state.files, { point: (r) => { results = r; progress(r); draw(bandwidthCharts(r, [])); } });
  status(`${results.study.points.length} points; looking for crossovers ...`);
  const base = pretty({ ...scenarioOf(state, {}), sweep: undefined });
  const [first, ...others] = state.algorithms;
  const marks: { x: number; label: string }[] = [];
  const facts = el("ul", { class: "facts" });
  await Promise.all(others.map(async (other) => {
    const answer = await group.ask({
      do: "solve", scenario: base, files: state.files, set: [`algorithm=${JSON.stringify(other)}`], against: [`algorithm=${JSON.stringify(first)}`],
      vary: "cluster.fabric.link.bandwidth=100Mbps..100Gbps", find: "step_time_s", grid: 13, tolerance: 1e-3,
    });
    const changes = answer["changes"] as { kind: string; at: number; shown: string; above_before: boolean }[];
    const crossings = changes.filter((c) => c.kind === "crossing" || c.kind === "jump");
    for (const c of crossings) {
      marks.push({ x: c.at, label: `${String(other["label"])} ${c.above_before ? "pays from" : "stops paying at"} ${c.shown}` });
      facts.append(el("li", {}, `${String(other["label"])} ${c.above_before ? "pays from" : "stops paying at"} ${c.shown}, compared with ${String(first!["label"])}, on ${nodes} nodes.`));
    }
    if (crossings.length === 0) facts.append(el("li", {}, `${String(other["label"])} and ${String(first!["label"])} do not cross from 100 Mbps to 100 Gbps on ${nodes} nodes.`));
  }));
  draw(bandwidthCharts(results, marks));
  byId("facts").replaceChildren(facts);
  status(`${results.study.points.length} points`);
}

// The points of a step's views: one for each algorithm, at the most nodes.
function onePoint(nodes: string): string {
  return pretty(scenarioOf({ ...state, nodes }, { algorithm: state.algorithms }));
}

async function explainAll(): Promise<{ label: string; explanation: Explanation; text: string }[]> {
  scenario = state.file?.text ?? onePoint(state.nodes);
  const study = (await group.ask({ do: "study", scenario, files: state.files })) as unknown as Study;
  const chosen = study.points.map((_, i) => i).slice(0, 12);
  status(`explaining ${chosen.length} points ...`);
  return Promise.all(chosen.map(async (point) => {
    const answer = await group.ask({ do: "explain", scenario, files: state.files, point, most_messages: 40_000 });
    const label = study.axes.map((axis, a) => axis.names[study.points[point]!.choice[a]!]!).join(", ") || study.points[point]!.algorithm;
    return { label, explanation: answer["explanation"] as Explanation, text: String(answer["text"]) };
  }));
}

async function runStep(): Promise<void> {
  const explained = await explainAll();
  place(bars(explained));
  status(`one step on ${explained[0]?.explanation.nodes ?? 0} nodes`);
}

async function runTimeline(): Promise<void> {
  const nodes = String(Math.min(8, state.file === null ? nodesOf(state) : 8));
  scenario = state.file?.text ?? onePoint(nodes);
  const study = (await group.ask({ do: "study", scenario, files: state.files })) as unknown as Study;
  const name = (i: number) => study.axes.map((axis, a) => axis.names[study.points[i]!.choice[a]!]!).join(", ") || study.points[i]!.algorithm;
  const choose = el("select", { id: "traced" }, ...study.points.map((_, i) => el("option", { value: String(i) }, name(i))));
  const shown = el("div");
  const show = async () => {
    const answer = await group.ask({ do: "trace", scenario, files: state.files, point: Number(choose.value) });
    const trace = String(answer["trace"]);
    if (!trace.includes('"ph": "B"') && !trace.includes('"ph":"B"')) return shown.replaceChildren("Nothing happens in this step.");
    const timeline = new Timeline(trace);
    shown.replaceChildren(timeline.element, ...(answer["cut"] ? [el("p", {}, "The step has more events than a page can show; its beginning is drawn.")] : []));
    timeline.redraw();
  };
  choose.addEventListener("change", () => void show().catch(showError));
  place(el("p", {}, el("label", { for: "traced" }, "One step of "), choose, state.file === null ? ` on ${nodes} nodes` : ""), shown);
  await show();
  status("Zoom by the wheel, the buttons, or + and −; move by dragging or the arrows.");
}

async function formulas(explained: { label: string; explanation: Explanation }[]): Promise<Node[]> {
  const ran = await group.ask({ do: "run", scenario, files: state.files, points: explained.map((_, i) => i) });
  const rows = rowsOf(String(ran["csv"]));
  return explained.flatMap(({ label, explanation }, i) => {
    const model = explanation.ladder?.[0]?.model_step_time_s ?? null;
    const form = model === null ? null : stepMath({
      algorithm: state.algorithms[i]!, nodes: Number(state.nodes), sent: Number(rows[i]?.["bytes_sent_per_node_per_step"] ?? "0"),
      bitsPerSecond: bitsPerSecond(state.bandwidth)!, latency: seconds(state.latency)!, compute: explanation.parts_s?.["compute"] ?? 0,
      coding: explanation.parts_s?.["coding"] ?? 0, model, simulated: explanation.step_time_s ?? 0 });
    return [el("h2", {}, label), form ?? el("p", {}, "Its closed form has more terms than fit here; docs/models.md has them.")];
  });
}

async function runMath(): Promise<void> {
  const explained = await explainAll();
  const rows = explained.map(({ label, explanation }) => {
    const form = explanation.ladder?.[0]?.model_step_time_s ?? null;
    const simulated = explanation.step_time_s ?? Number.NaN;
    return [label, form === null ? "none known" : (form * 1000).toFixed(6), (simulated * 1000).toFixed(6), form === null ? "" : `${(Math.abs((simulated - form) / form) * 100).toFixed(4)} %`];
  });
  const content: Node[] = [el("h2", {}, "Closed form against simulation, one step"), table(["algorithm", "closed form (ms)", "simulated (ms)", "difference"], rows)];
  const filled = state.file === null && state.fabric === "star" && state.devices === "1" && Number(state.jitter) === 0 && Number(state.straggler) === 1;
  if (filled) content.push(...await formulas(explained));
  else content.push(el("p", {}, "Formulas are filled in for machines with one device on a star, all alike."));
  for (const e of explained) content.push(el("details", {}, el("summary", {}, `What paceline explain prints: ${e.label}`), el("pre", { tabindex: "0" }, e.text)));
  place(...content);
  status("");
}

async function runTraining(): Promise<void> {
  scenario = state.file?.text ?? pretty(trainingScenario());
  const evaluations: Evaluation[] = [];
  let study: Study | null = null;
  results = await runStudy(group, scenario, state.files, {
    study: (s) => { study = s; },
    point: (r) => { results = r; progress(r); },
    evaluation: (e) => { evaluations.push(e); draw(trainingCharts(study!, evaluations)); },
  });
  if (!results.study.trains) throw new PageError("This scenario does not train: it has no \"model\" and \"data\".");
  status(`${results.study.points.length} runs; losses are computed in your browser`);
}

const runs: Record<View, () => Promise<void>> = {
  speedup: runSpeedup, table: runSpeedup, bandwidth: runBandwidth, step: runStep, timeline: runTimeline, math: runMath, training: runTraining,
};

async function run(): Promise<void> {
  group.cancel();
  group = pool.group();
  const mine = group;
  ++measured.runs;
  clearWrong();
  byId("message").textContent = notice;
  results = null;
  document.body.dataset["busy"] = "yes";
  try {
    status("running ...");
    await runs[state.view]();
  } catch (error) {
    if (mine !== group) return;
    if (linked && !isTold(error)) fallBack(error);
    else showError(error);
  } finally {
    if (mine === group) document.body.dataset["busy"] = "no";
  }
}

let scheduled = 0;
function soon(): void {
  moved = performance.now();
  clearTimeout(scheduled);
  document.body.dataset["busy"] = "yes";
  scheduled = window.setTimeout(() => void run(), 40);
}

// In place of a link that cannot be shown.
function firstView(problem: string): void {
  state = firstState();
  linked = false;
  notice = `The link could not be read, so this is the first view: ${problem}.`;
  show();
}

// The last resort: a link was read, and the page fails at it.
function fallBack(error: unknown): void {
  console.error(error);
  group.cancel();
  group = pool.group();
  boxes = [];
  drawnFor = "";
  firstView(`the page failed at it (${String(error).replace(/\s+/g, " ").slice(0, 200)})`);
  soon();
}

function restore(): void {
  const read = fromAddress(location.hash);
  if ("problem" in read) return firstView(read.problem);
  state = read.state;
  linked = location.hash.length > 1;
  notice = "";
  try {
    show();
  } catch (error) {
    if (!linked) throw error;
    fallBack(error);
  }
}

// What fails outside of a run: where charts are drawn later, or in a listener.
function failed(error: unknown): void {
  if (linked && error instanceof Error && !isTold(error)) fallBack(error);
}

function keepAddress(): void {
  try {
    history.replaceState(null, "", toAddress(state) || location.pathname);
  } catch { /* Safari takes a hundred addresses in thirty seconds; the next change is kept */ }
}

const rebuilds = ["view", "net", "device", "algorithms", "file"];
function change(changes: Partial<State>): void {
  const typed = "file" in changes && state.file !== null && changes.file !== null;
  state = { ...state, ...changes };
  linked = false;
  notice = "";
  keepAddress();
  if (!typed && Object.keys(changes).some((key) => rebuilds.includes(key))) show();
  soon();
}

function show(): void {
  byId("views").replaceChildren(...views.map((view) => {
    const tab = el("button", { type: "button", role: "tab", id: `tab-${view}`, "aria-selected": String(view === state.view), "aria-controls": "panel", tabindex: view === state.view ? "0" : "-1" }, titles[view]);
    tab.addEventListener("click", () => change({ view }));
    tab.addEventListener("keydown", (e) => {
      const step = e.key === "ArrowRight" ? 1 : e.key === "ArrowLeft" ? -1 : 0;
      if (step === 0) return;
      change({ view: views[(views.indexOf(view) + step + views.length) % views.length]! });
      byId(`tab-${state.view}`).focus();
    });
    return tab;
  }));
  byId("panel").setAttribute("aria-labelledby", `tab-${state.view}`);
  const focused = document.activeElement?.id ?? "";
  showControls(byId("controls"), state.view === "training" && state.file === null ? { ...state, file: { name: "training.json", text: pretty(trainingScenario()) } } : state, change);
  if (focused !== "") document.getElementById(focused)?.focus();
}

async function openFile(file: File): Promise<void> {
  if (file.size > 64 * 2 ** 20) return showError(new PageError(`${file.name} has more than 64 MiB.`));
  const packed = file.name.endsWith(".gz") ? file.stream().pipeThrough(new DecompressionStream("gzip")) : null;
  const text = packed ? await new Response(packed).text() : await file.text();
  if (/\.csv$/.test(file.name) && /^point,/.test(text)) {
    const rows = rowsOf(text);
    group.cancel();
    byId("message").textContent = "";
    const paths = Object.keys(rows[0] ?? {}).slice(1, Object.keys(rows[0] ?? {}).indexOf("algorithm"));
    showTable({ title: file.name, axes: paths.map((path) => ({ path, names: [] })), points: [], trains: false }, rows);
    return status(`${file.name}: ${rows.length} rows`);
  }
  let json: Json | null = null;
  try { json = JSON.parse(text) as Json; } catch { /* the engine says what is wrong, with line and column */ }
  if (json !== null && Array.isArray(json["layers"])) return change({ net: "my net", file: null, files: { ...state.files, "my-net.json": text } });
  if (/\.csv$|\.csv\.gz$/.test(file.name)) return change({ files: { ...state.files, [file.name.replace(/\.gz$/, "")]: text } });
  const trains = typeof json?.["workload"] === "object" && json["workload"] !== null && "model" in (json["workload"] as Json);
  change({ file: { name: file.name, text }, view: trains ? "training" : state.view === "training" ? "speedup" : state.view });
}

function download(kind: string): void {
  const shown = boxes.map((box) => box.shown).filter((chart) => chart !== null);
  if (kind === "json") return save("scenario.json", new Blob([`${scenario}\n`], { type: "application/json" }));
  if (kind === "csv") {
    if (results === null || !results.complete) return status("There are no results yet.");
    return save("results.csv", new Blob([results.csv()], { type: "text/csv" }));
  }
  if (kind === "svg" && shown.length > 0) return save("paceline.svg", new Blob([svgOf(shown)], { type: "image/svg+xml" }));
  const canvases = [...panel().querySelectorAll("canvas")];
  if (kind === "png" && canvases.length > 0) {
    const sheet = el("canvas", { width: String(Math.max(...canvases.map((c) => c.width))), height: String(canvases.reduce((sum, c) => sum + c.height + 40, 0)) });
    const c = sheet.getContext("2d")!;
    c.fillStyle = getComputedStyle(document.body).backgroundColor;
    c.fillRect(0, 0, sheet.width, sheet.height);
    let y = 0;
    canvases.forEach((one, i) => { c.fillStyle = getComputedStyle(document.body).color; c.font = "24px sans-serif"; c.fillText(shown[i]?.title ?? "", 10, y + 28); c.drawImage(one, 0, y + 40); y += one.height + 40; });
    return sheet.toBlob((blob) => blob && save("paceline.png", blob));
  }
  status("This view has no chart; the CSV and the scenario hold it.");
}

function listen(): void {
  const preset = byId<HTMLSelectElement>("preset");
  preset.append(el("option", { value: "" }, "Presets ..."), ...Object.keys(presets).map((name) => el("option", { value: name }, name)));
  preset.addEventListener("change", () => {
    const chosen = presets[preset.value];
    if (chosen === undefined) return;
    const trains = "model" in ((chosen["workload"] as Json | undefined) ?? {});
    change({ file: { name: `${preset.value}.json`, text: pretty(chosen) }, view: trains ? "training" : "speedup" });
    preset.value = "";
  });
  byId("share").addEventListener("click", () => {
    keepAddress(); // a link that could not be read is in it until now
    void navigator.clipboard?.writeText(location.href).then(() => status("The link is copied."), () => status(`The link is the page's address.`));
  });
  byId<HTMLInputElement>("open").addEventListener("change", (e) => { const file = (e.target as HTMLInputElement).files?.[0]; if (file) void openFile(file).catch(showError); });
  byId("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const isDark = root.dataset["theme"] ? root.dataset["theme"] === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset["theme"] = isDark ? "light" : "dark";
    drawnFor = "";
    soon();
  });
  byId("downloads").addEventListener("click", (e) => { const kind = (e.target as HTMLElement).dataset["download"]; if (kind) download(kind); });
  byId("controls").addEventListener("submit", (e) => e.preventDefault());
  document.addEventListener("dragover", (e) => { e.preventDefault(); document.body.classList.add("dropping"); });
  document.addEventListener("dragleave", () => document.body.classList.remove("dropping"));
  document.addEventListener("drop", (e) => { e.preventDefault(); document.body.classList.remove("dropping"); for (const file of e.dataTransfer?.files ?? []) void openFile(file).catch(showError); });
  addEventListener("hashchange", () => { restore(); soon(); });
  addEventListener("error", (e) => failed(e.error));
  addEventListener("unhandledrejection", (e) => failed(e.reason));
}

async function start(): Promise<void> {
  listen();
  restore();
  Object.assign(window, { explorer: { measured, pool, csv: () => results?.csv() ?? "", scenario: () => scenario } });
  try {
    await pool.start("paceline.wasm");
  } catch (error) {
    return showError(error);
  }
  await run();
}

void start();
