// What each view asks of the engine, and shows of its answers.
import { trainingScenario } from "./algorithms.js";
import { commandOf } from "./commands.js";
import { type Diagnosis, diagnosed } from "./diagnose_view.js";
import { copyTo, el, table } from "./dom.js";
import { showDownloads } from "./exports.js";
import { stepMath } from "./math_view.js";
import { type Group, PageError } from "./pool.js";
import { type Evaluation, Results, type Row, rowsOf, runStudy, type Study } from "./results.js";
import { draw, exportable, place, showError, showWarnings, status } from "./shown.js";
import { algorithmsOf, type Json, bandwidthsOf, hasIntervals, measuredOf, memoryOf, nodesOf, overBandwidth, overNodes, samplesOf, scenarioOf, type State, stepsOf, surely, targetOf, type View } from "./state.js";
import { bars, type Explanation, printedBars } from "./step_view.js";
import { testbedOf } from "./testbed.js";
import { Timeline } from "./timeline_view.js";
import { bitsPerSecond, seconds } from "./units.js";
import { bandwidthCharts, lastFacts, orderFacts, speedupCharts, tableRows, trainingCharts } from "./views.js";

/// A run of a view, until it ends or the next one begins.
export interface Run {
  readonly state: State;
  readonly group: Group;
  scenario: string; // what the view ran
  command: string; // which prints the same; empty: there is none
  results: Results | null;
}

const mostExplained = 12;
const pretty = (json: Json): string => JSON.stringify(json, null, 2);

function progress(done: Results): void {
  status(done.complete ? `${done.study.points.length} points` : `${done.done} of ${done.study.points.length} points ...`);
}

// Rates are those of whole periods: a run of a few steps has none of a method that communicates every 100 steps. And a
// first step, which has nothing to overlap with, is not what the others cost.
const mostSkipped = 100;

// The steps of algorithms, and those that rates leave out. Links change neither, so that a slider of theirs asks once.
let known: { of: string; steps: number[]; skip: number } = { of: "", steps: [], skip: 0 };

async function findSteps(run: Run): Promise<void> {
  const state = { ...run.state, bandwidth: "1Gbps", latency: "0s" };
  const scenario = (skip: number): string => pretty(scenarioOf(state, { algorithm: algorithmsOf(state) }, [], skip));
  const of = scenario(0) + JSON.stringify(state.files);
  if (known.of === of) return;
  const probe = async (skip: number): Promise<Study> =>
    (await run.group.ask({ do: "study", scenario: scenario(skip), files: state.files })) as unknown as Study;
  let study = await probe(0);
  const skip = Math.max(...study.points.map((point) => point.last_stage!).filter((begin) => begin <= mostSkipped), 0);
  if (skip > 0) study = await probe(skip);
  known = { of, skip, steps: study.points.map((point) => point.whole_steps!) };
}

// Returns the scenario with as many steps for each algorithm as end a period of it, without a short warm-up.
async function inWholePeriods(run: Run, sweep: Json): Promise<string> {
  scenarioOf(run.state, sweep); // refuses wrong entries
  await findSteps(run);
  return pretty(scenarioOf(run.state, sweep, known.steps, known.skip));
}

// Shows a list of facts below the charts; each may have the command that prints it.
function showFacts(...facts: Node[]): void {
  document.getElementById("facts")?.replaceChildren(...facts);
}
function copyButton(command: string): HTMLElement {
  const button = el("button", { type: "button", class: "small" }, "Copy command");
  button.addEventListener("click", () => void copyTo(command).then((copied) => status(copied ? "Command copied. It prints this number." : "Cannot write to the clipboard.")));
  return button;
}
const listOf = (facts: string[]): Node[] => (facts.length === 0 ? [] : [el("ul", { class: "facts" }, ...facts.map((fact) => el("li", {}, fact)))]);

// Draws what has come ten times a second, and what there is in the end: results come faster than charts are drawn, and
// drawing takes time from the engine.
function nowAndThen(paint: () => void): { soon: () => void; now: () => void } {
  let timer = 0;
  const now = (): void => { window.clearTimeout(timer); timer = 0; paint(); };
  return { now, soon: () => { timer ||= window.setTimeout(now, 100); } };
}

async function warn(run: Run): Promise<void> {
  const answer = await run.group.ask({ do: "study", scenario: run.scenario, files: run.state.files, report: true });
  showWarnings(answer["warnings"] as string[]);
}

// Runs the study again with intervals, where they are asked for, and shows it then. What is shown stays until they are there.
async function makeSure(run: Run, show: () => void): Promise<void> {
  if (!hasIntervals(run.state)) return;
  const scenario = surely(run.scenario);
  const { files } = run.state;
  const results = await runStudy(run.group, scenario, files, { point: (r) => status(`how sure: ${r.done} of ${r.study.points.length} points ...`) });
  run.scenario = scenario;
  run.command = commandOf("run", scenario, files);
  run.results = results;
  progress(results);
  show();
}

// Says which method is faster on the most nodes, and whether that is sure; nothing without intervals.
async function ordersOf(run: Run): Promise<string[]> {
  const { results } = run;
  if (results === null || results.rows()[0]?.["step_time_s_low"] === undefined) return [];
  const answer = await run.group.ask({ do: "run", scenario: run.scenario, files: run.state.files, points: chosenPoints(results.study) });
  return orderFacts(results.study, String(answer["comparisons"] ?? ""));
}

async function runSpeedup(run: Run): Promise<void> {
  const { state } = run;
  const target = targetOf(state);
  run.scenario = state.file?.text ?? await inWholePeriods(run, overNodes(state));
  run.command = commandOf("run", run.scenario, state.files);
  const evaluations: Evaluation[] = [];
  let study: Study | null = null;
  const painting = nowAndThen(() => {
    const r = run.results;
    if (r === null || run.group.cancelled) return;
    if (state.view === "table") return showTable(r.study, r.rows());
    if (r.study.trains) return;
    const charts = speedupCharts(r, target);
    if (charts.length > 0) draw(state.view, charts);
    else showTable(r.study, r.rows());
  });
  await runStudy(run.group, run.scenario, state.files, {
    study: (s) => { study = s; },
    point: (r) => { run.results = r; progress(r); painting.soon(); },
    evaluation: (e) => { evaluations.push(e); if (study !== null && state.view !== "table") draw(state.view, trainingCharts(study, evaluations)); },
  });
  painting.now();
  await makeSure(run, painting.now);
  if (run.results !== null) showFacts(...listOf([...lastFacts(run.results, samplesOf(state), memoryOf(state)), ...await ordersOf(run)]));
  await warn(run);
}

export function showTable(study: Study, rows: Row[]): void {
  const made = tableRows(study, rows);
  place(table(made.header, made.rows));
}

interface Change {
  kind: string;
  at: number;
  shown: string;
  above_before: boolean;
}

// The search for a bandwidth: from 1 Mbps to 10 Tbps.
const widest = "cluster.fabric.link.bandwidth=1Mbps..10Tbps";

async function runBandwidth(run: Run): Promise<void> {
  const { state, group } = run;
  if (state.file !== null) return runSpeedup(run);
  const target = targetOf(state);
  run.scenario = await inWholePeriods(run, overBandwidth(state));
  run.command = commandOf("run", run.scenario, state.files);
  const marks: { x: number; label: string }[] = bandwidthsOf(state).map((text) => ({ x: bitsPerSecond(text)!, label: text }));
  const painting = nowAndThen(() => { if (run.results !== null && !group.cancelled) draw(state.view, bandwidthCharts(run.results, marks, target)); });
  const results = await runStudy(group, run.scenario, state.files, { point: (r) => { run.results = r; progress(r); painting.soon(); } });
  painting.now();
  await makeSure(run, painting.now);
  status(`${results.study.points.length} points; looking for crossings and for the bandwidth of ${target * 100} % ...`);
  const searches = searchesOf(run);
  const crossings = await Promise.all(searches.slice(1).map((search) => crossingsOf(run, searches[0]!, search)));
  for (const { changes, search } of crossings)
    for (const c of changes) marks.push({ x: c.at, label: `${search.label} ${turn(c)}` });
  painting.now();
  const list = el("ul", { class: "facts" }, ...crossings.flatMap(({ changes, unsure, search, command }) => {
    const against = searches[0]!.label;
    const order = unsure === null ? [] : [`Which of ${search.label} and ${against} is faster is uncertain from ${unsure[0]} to ${unsure[1]}. `];
    const facts = changes.length === 0 ? [`${search.label} and ${against} do not cross from 1 Mbps to 10 Tbps on ${state.nodes.trim()} nodes. `]
      : changes.map((c) => `${search.label} ${turn(c)}, compared with ${against}, on ${state.nodes.trim()} nodes. `);
    return [...facts, ...order].map((fact) => el("li", {}, fact, copyButton(command)));
  }));
  showFacts(list, await reachTable(run, searches, target));
  status(`${results.study.points.length} points`);
  await warn(run);
}

const turn = (c: Change): string => `${c.above_before ? "pays from" : "stops paying at"} ${c.shown}`;

// An algorithm in the scenario of a search: without a sweep, with its own number of steps.
interface Search {
  label: string;
  set: string[];
  scenario: string;
}
function searchesOf(run: Run): Search[] {
  const swept = JSON.parse(run.scenario) as Json;
  const steps = stepsOfSweep(swept);
  const scenario = pretty({ ...swept, sweep: undefined });
  return algorithmsOf(run.state).map((algorithm, i) => ({
    label: String(algorithm["label"]), set: [`algorithm=${JSON.stringify(algorithm)}`, `stop.iterations=${steps[i]}`], scenario,
  }));
}
const settings = (option: string, set: string[]): string[] => set.flatMap((one) => [option, one]);

async function crossingsOf(run: Run, first: Search, other: Search): Promise<{ changes: Change[]; unsure: [string, string] | null; search: Search; command: string }> {
  const answer = await run.group.ask({
    do: "solve", scenario: other.scenario, files: run.state.files, set: other.set, against: first.set, vary: widest, find: "step_time_s", grid: 22, tolerance: 1e-3,
  });
  const command = commandOf("solve", other.scenario, run.state.files,
    ["--vary", widest, "--find", "step_time_s", ...settings("--set", other.set), ...settings("--against", first.set)]);
  const changes = (answer["changes"] as Change[]).filter((c) => c.kind === "crossing" || c.kind === "jump");
  return { changes, unsure: answer["unsure"] as [string, string] | null, search: other, command };
}

// Which bandwidth reaches an efficiency: a row for each algorithm.
async function reachTable(run: Run, searches: Search[], target: number): Promise<HTMLElement> {
  const shares = [...new Set([0.5, 0.75, 0.9, 0.95, target])].sort((a, b) => a - b);
  const cell = async (search: Search, share: number): Promise<string> => {
    const answer = await run.group.ask({ do: "solve", scenario: search.scenario, files: run.state.files, set: search.set, vary: widest, find: "efficiency", equals: share, grid: 15, tolerance: 1e-3 });
    const reachedIn = (changes: unknown): Change | undefined => ((changes ?? []) as Change[]).filter((c) => !c.above_before).at(-1);
    const reached = reachedIn(answer["changes"]);
    const [least, most] = [reachedIn(answer["at_high"]), reachedIn(answer["at_low"])];
    const range = answer["at_low"] === null ? "" : ` (${least?.shown ?? "less"} to ${most?.shown ?? "never"})`;
    if (reached !== undefined) return reached.shown + range;
    return answer["above_at_first"] === true ? "1Mbps or less" : "not up to 10Tbps";
  };
  const rows = await Promise.all(searches.map(async (search) => [search.label, ...await Promise.all(shares.map((share) => cell(search, share)))]));
  const commands = searches.map((search) => copyButton(commandOf("solve", search.scenario, run.state.files,
    ["--vary", widest, "--find", "efficiency", "--equals", String(target), ...settings("--set", search.set)])));
  const made = table([`bandwidth for an efficiency of`, ...shares.map((share) => `${Number((share * 100).toPrecision(4))} %`), "at the target"], rows.map((row) => [...row, ""]));
  [...made.querySelectorAll("tbody tr")].forEach((row, i) => row.lastElementChild!.replaceChildren(commands[i]!));
  made.id = "reach";
  return made;
}

// Returns the steps of each algorithm of a scenario that scenarioOf has made.
function stepsOfSweep(scenario: Json): number[] {
  const sweep = scenario["sweep"] as Json;
  const zip = sweep["zip"] as Json | undefined;
  const algorithms = (zip ?? sweep)["algorithm"] as Json[];
  const own = zip?.["stop.iterations"] as number[] | undefined;
  return own ?? algorithms.map(() => (scenario["stop"] as Json)["iterations"] as number);
}

// The points of a step's views: one for each algorithm, at the most nodes.
const onePoint = (run: Run, nodes: string): string =>
  pretty(scenarioOf({ ...run.state, nodes }, { algorithm: algorithmsOf(run.state) }));

interface Explained {
  point: number;
  label: string;
  explanation: Explanation;
  text: string;
}

function nameOf(study: Study, point: number): string {
  return study.axes.map((axis, a) => axis.names[study.points[point]!.choice[a]!]!).join(", ") || study.points[point]!.algorithm;
}

// The points that a step is explained of: of a file, those at the most nodes, and at most 12 of them.
function chosenPoints(study: Study): number[] {
  const most = Math.max(...study.points.map((point) => point.nodes));
  return study.points.map((_, i) => i).filter((i) => study.points[i]!.nodes === most).slice(0, mostExplained);
}

async function explainAll(run: Run): Promise<{ explained: Explained[]; what: string }> {
  const { state, group } = run;
  run.scenario = state.file?.text ?? onePoint(run, state.nodes);
  const study = (await group.ask({ do: "study", scenario: run.scenario, files: state.files })) as unknown as Study;
  const chosen = chosenPoints(study);
  status(`explaining ${chosen.length} points ...`);
  const explained = await Promise.all(chosen.map(async (point) => {
    const answer = await group.ask({ do: "explain", scenario: run.scenario, files: state.files, point, most_messages: 40_000 });
    return { point, label: nameOf(study, point), explanation: answer["explanation"] as Explanation, text: String(answer["text"]) };
  }));
  const all = study.points.length;
  const nodes = study.points[chosen[0]!]!.nodes;
  const what = chosen.length === all ? `one step on ${nodes} nodes`
    : `one step of ${chosen.length} of the ${all} points: ${chosen.length === mostExplained ? `the first ${mostExplained} of ` : ""}those on ${nodes} nodes`;
  return { explained, what };
}

async function runStep(run: Run): Promise<void> {
  const { explained, what } = await explainAll(run);
  run.command = commandOf("explain", run.scenario, run.state.files, ["--point", String(explained[0]?.point ?? 0)]);
  place(bars(explained, ({ point }) => copyButton(commandOf("explain", run.scenario, run.state.files, ["--point", String(point)]))));
  exportable(() => printedBars(explained, what));
  status(what);
  await warn(run);
}

async function runTimeline(run: Run): Promise<void> {
  const { state, group } = run;
  const nodes = String(Math.min(8, state.file === null ? nodesOf(state) : 8));
  run.scenario = state.file?.text ?? onePoint(run, nodes);
  const study = (await group.ask({ do: "study", scenario: run.scenario, files: state.files })) as unknown as Study;
  const choose = el("select", { id: "traced" }, ...study.points.map((_, i) => el("option", { value: String(i) }, nameOf(study, i))));
  const shown = el("div");
  const show = async () => {
    const answer = await group.ask({ do: "trace", scenario: run.scenario, files: state.files, point: Number(choose.value) });
    const trace = String(answer["trace"]);
    exportable(null);
    if (!trace.includes('"ph": "B"') && !trace.includes('"ph":"B"')) return shown.replaceChildren("Nothing happens in this step.");
    const timeline = new Timeline(trace, answer["cut"] === true);
    shown.replaceChildren(timeline.element);
    timeline.redraw();
    exportable(() => timeline.print(`One step of ${choose.selectedOptions[0]?.text ?? ""}${state.file === null ? ` on ${nodes} nodes` : ""}`));
  };
  choose.addEventListener("change", () => void show().then(() => showDownloads(run)).catch((error) => showError(error, state)));
  place(el("p", {}, el("label", { for: "traced" }, "One step of "), choose, state.file === null ? ` on ${nodes} nodes` : ""), shown);
  await show();
  status("Zoom with the buttons, with + and −, or with Ctrl and the wheel. Move by dragging or with the arrow keys.");
}

async function formulas(run: Run, explained: Explained[]): Promise<Node[]> {
  const { state } = run;
  const ran = await run.group.ask({ do: "run", scenario: run.scenario, files: state.files, points: explained.map((_, i) => i) });
  const rows = rowsOf(String(ran["csv"]));
  return explained.flatMap(({ label, explanation }, i) => {
    const model = explanation.ladder?.[0]?.model_step_time_s ?? null;
    const form = model === null ? null : stepMath({
      algorithm: state.algorithms[i]!, nodes: Number(state.nodes), sent: Number(rows[i]?.["bytes_sent_per_node_per_step"] ?? "0"),
      bitsPerSecond: bitsPerSecond(state.bandwidth)!, latency: seconds(state.latency)!, compute: explanation.parts_s?.["compute"] ?? 0,
      coding: explanation.parts_s?.["coding"] ?? 0, model, simulated: explanation.step_time_s ?? 0 });
    return [el("h2", {}, label), form ?? el("p", {}, "Its closed form has more terms than fit here; docs/models/collectives.md has them.")];
  });
}

async function runMath(run: Run): Promise<void> {
  const { state } = run;
  const { explained } = await explainAll(run);
  run.command = commandOf("explain", run.scenario, state.files);
  const rows = explained.map(({ label, explanation }) => {
    const form = explanation.ladder?.[0]?.model_step_time_s ?? null;
    const simulated = explanation.step_time_s ?? Number.NaN;
    return [label, form === null ? "none known" : (form * 1000).toFixed(6), (simulated * 1000).toFixed(6), form === null ? "" : `${(Math.abs((simulated - form) / form) * 100).toFixed(4)} %`];
  });
  const content: Node[] = [el("h2", {}, "Closed form against simulation, one step"), table(["algorithm", "closed form (ms)", "simulated (ms)", "difference"], rows)];
  const filled = state.file === null && testbedOf(state) === null && state.fabric === "star" && state.link === "" && state.devices === "1" && stepsOf(state) === 3;
  if (filled) content.push(...await formulas(run, explained));
  else content.push(el("p", {}, "Formulas are filled in for identical machines with one device on a star."));
  for (const e of explained) content.push(el("details", {}, el("summary", {}, `What paceline explain prints: ${e.label}`), el("pre", { tabindex: "0" }, e.text)));
  place(...content);
  status("");
}

async function runDiagnose(run: Run): Promise<void> {
  const { state } = run;
  run.scenario = state.file?.text ?? pretty({ ...scenarioOf(state, {}), sweep: undefined });
  const measured = measuredOf(state);
  if (measured.length === 0) {
    place(el("p", {}, "Enter how long a step takes on one node, on all nodes, or both: which single cause explains it?"));
    return status("");
  }
  run.command = commandOf("diagnose", run.scenario, state.files, settings("--measured", measured));
  status("trying causes ...");
  const answer = await run.group.ask({ do: "diagnose", scenario: run.scenario, files: state.files, measured });
  place(...diagnosed(answer["diagnosis"] as Diagnosis), el("details", {}, el("summary", {}, "What paceline diagnose prints"), el("pre", { tabindex: "0" }, String(answer["text"]))));
  status(`${(answer["diagnosis"] as Diagnosis).points} points`);
}

async function runTraining(run: Run): Promise<void> {
  const { state } = run;
  run.scenario = state.file?.text ?? pretty(trainingScenario());
  run.command = commandOf("run", run.scenario, state.files);
  const evaluations: Evaluation[] = [];
  let study: Study | null = null;
  const results = await runStudy(run.group, run.scenario, state.files, {
    study: (s) => { study = s; },
    point: (r) => { run.results = r; progress(r); },
    evaluation: (e) => { evaluations.push(e); draw(state.view, trainingCharts(study!, evaluations)); },
  });
  if (!results.study.trains) throw new PageError("This scenario does not train: it has no \"model\" and \"data\".");
  status(`${results.study.points.length} runs; losses are computed in your browser`);
  await warn(run);
}

export const runOf: Record<View, (run: Run) => Promise<void>> = {
  speedup: runSpeedup, table: runSpeedup, bandwidth: runBandwidth, step: runStep, timeline: runTimeline, math: runMath, diagnose: runDiagnose, training: runTraining,
};
