// What each view asks of the engine, and shows of its answers.
import { trainingScenario } from "./algorithms.js";
import { el, table } from "./dom.js";
import { showDownloads } from "./exports.js";
import { stepMath } from "./math_view.js";
import { type Group, PageError } from "./pool.js";
import { type Evaluation, Results, type Row, rowsOf, runStudy, type Study } from "./results.js";
import { draw, exportable, place, showError, showWarnings, status } from "./shown.js";
import { bitsPerSecond, type Json, nodesOf, overBandwidth, overNodes, scenarioOf, seconds, type State, stepsOf, type View } from "./state.js";
import { bars, type Explanation, printedBars } from "./step_view.js";
import { Timeline } from "./timeline_view.js";
import { bandwidthCharts, speedupCharts, tableRows, trainingCharts } from "./views.js";

/// A run of a view, until it ends or the next one begins.
export interface Run {
  readonly state: State;
  readonly group: Group;
  scenario: string; // what the view ran
  results: Results | null;
}

const mostExplained = 12;
const pretty = (json: Json): string => JSON.stringify(json, null, 2);

function progress(done: Results): void {
  status(done.complete ? `${done.study.points.length} points` : `${done.done} of ${done.study.points.length} points ...`);
}

// Rates are those of whole periods: a run of a few steps has none of a method that communicates every 100 steps.
// Returns the scenario with as many steps for each algorithm as end a period of it.
async function inWholePeriods(run: Run, sweep: Json): Promise<string> {
  const { state, group } = run;
  const probe = pretty(scenarioOf(state, { algorithm: state.algorithms }));
  const study = (await group.ask({ do: "study", scenario: probe, files: state.files })) as unknown as Study;
  return pretty(scenarioOf(state, sweep, study.points.map((point) => point.whole_steps ?? stepsOf(state))));
}

async function warn(run: Run): Promise<void> {
  const answer = await run.group.ask({ do: "study", scenario: run.scenario, files: run.state.files, report: true });
  showWarnings(answer["warnings"] as string[]);
}

async function runSpeedup(run: Run): Promise<void> {
  const { state } = run;
  run.scenario = state.file?.text ?? await inWholePeriods(run, overNodes(state));
  const evaluations: Evaluation[] = [];
  let study: Study | null = null;
  const show = (r: Results) => {
    run.results = r;
    progress(r);
    if (state.view === "table") return showTable(r.study, r.rows());
    if (r.study.trains) return;
    const charts = speedupCharts(r);
    if (charts.length > 0) draw(state.view, charts);
    else showTable(r.study, r.rows());
  };
  await runStudy(run.group, run.scenario, state.files, {
    study: (s) => { study = s; },
    point: show,
    evaluation: (e) => { evaluations.push(e); if (study !== null && state.view !== "table") draw(state.view, trainingCharts(study, evaluations)); },
  });
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

async function runBandwidth(run: Run): Promise<void> {
  const { state, group } = run;
  if (state.file !== null) return runSpeedup(run);
  run.scenario = await inWholePeriods(run, overBandwidth(state));
  const results = await runStudy(group, run.scenario, state.files, { point: (r) => { run.results = r; progress(r); draw(state.view, bandwidthCharts(r, [])); } });
  status(`${results.study.points.length} points; looking for crossovers ...`);
  const base = JSON.parse(run.scenario) as Json & { sweep: Json };
  const steps = stepsOfSweep(base);
  const [first, ...others] = state.algorithms;
  const marks: { x: number; label: string }[] = [];
  const facts = el("ul", { class: "facts" });
  const nodes = state.nodes.trim();
  const set = (algorithm: Json, i: number): string[] => [`algorithm=${JSON.stringify(algorithm)}`, `stop.iterations=${steps[i]}`];
  await Promise.all(others.map(async (other, i) => {
    const answer = await group.ask({
      do: "solve", scenario: pretty({ ...base, sweep: undefined }), files: state.files, set: set(other, i + 1), against: set(first!, 0),
      vary: "cluster.fabric.link.bandwidth=100Mbps..100Gbps", find: "step_time_s", grid: 13, tolerance: 1e-3,
    });
    const crossings = (answer["changes"] as Change[]).filter((c) => c.kind === "crossing" || c.kind === "jump");
    for (const c of crossings) {
      const what = `${String(other["label"])} ${c.above_before ? "pays from" : "stops paying at"} ${c.shown}`;
      marks.push({ x: c.at, label: what });
      facts.append(el("li", {}, `${what}, compared with ${String(first!["label"])}, on ${nodes} nodes.`));
    }
    if (crossings.length === 0) facts.append(el("li", {}, `${String(other["label"])} and ${String(first!["label"])} do not cross from 100 Mbps to 100 Gbps on ${nodes} nodes.`));
  }));
  draw(state.view, bandwidthCharts(results, marks));
  document.getElementById("facts")?.replaceChildren(facts);
  status(`${results.study.points.length} points`);
  await warn(run);
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
  pretty(scenarioOf({ ...run.state, nodes }, { algorithm: run.state.algorithms }));

interface Explained {
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
    return { label: nameOf(study, point), explanation: answer["explanation"] as Explanation, text: String(answer["text"]) };
  }));
  const all = study.points.length;
  const nodes = study.points[chosen[0]!]!.nodes;
  const what = chosen.length === all ? `one step on ${nodes} nodes`
    : `one step of ${chosen.length} of the ${all} points: ${chosen.length === mostExplained ? `the first ${mostExplained} of ` : ""}those on ${nodes} nodes`;
  return { explained, what };
}

async function runStep(run: Run): Promise<void> {
  const { explained, what } = await explainAll(run);
  place(bars(explained));
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
  status("Zoom by the buttons, by + and −, or by Ctrl and the wheel. Move by dragging or the arrows.");
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
    return [el("h2", {}, label), form ?? el("p", {}, "Its closed form has more terms than fit here; docs/models.md has them.")];
  });
}

async function runMath(run: Run): Promise<void> {
  const { state } = run;
  const { explained } = await explainAll(run);
  const rows = explained.map(({ label, explanation }) => {
    const form = explanation.ladder?.[0]?.model_step_time_s ?? null;
    const simulated = explanation.step_time_s ?? Number.NaN;
    return [label, form === null ? "none known" : (form * 1000).toFixed(6), (simulated * 1000).toFixed(6), form === null ? "" : `${(Math.abs((simulated - form) / form) * 100).toFixed(4)} %`];
  });
  const content: Node[] = [el("h2", {}, "Closed form against simulation, one step"), table(["algorithm", "closed form (ms)", "simulated (ms)", "difference"], rows)];
  const filled = state.file === null && state.fabric === "star" && state.devices === "1" && Number(state.jitter) === 0 && Number(state.straggler) === 1;
  if (filled) content.push(...await formulas(run, explained));
  else content.push(el("p", {}, "Formulas are filled in for machines with one device on a star, all alike."));
  for (const e of explained) content.push(el("details", {}, el("summary", {}, `What paceline explain prints: ${e.label}`), el("pre", { tabindex: "0" }, e.text)));
  place(...content);
  status("");
}

async function runTraining(run: Run): Promise<void> {
  const { state } = run;
  run.scenario = state.file?.text ?? pretty(trainingScenario());
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
  speedup: runSpeedup, table: runSpeedup, bandwidth: runBandwidth, step: runStep, timeline: runTimeline, math: runMath, training: runTraining,
};
