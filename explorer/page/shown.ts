// What stands beside the controls: charts or other content, the status, messages, and whether they are those of the
// controls.
import { type Chart, ChartBox, colorOf } from "./charts.js";
import { showWrong } from "./controls.js";
import { byId, el } from "./dom.js";
import type { Fault } from "./engine.js";
import { CancelledError, PageError, RefusedError } from "./pool.js";
import { controlOf, entryErrors, EntryError, type State } from "./state.js";

/// Times for tests: the last redrawing after a change, the first drawing, and the number of runs.
export const measured = { redraw_ms: 0, first_ms: 0, runs: 0, moved: 0 };

let boxes: ChartBox[] = [];
let drawnFor = ""; // the view and the shape of the panel

export const panel = (): HTMLElement => byId("panel");

export function status(text: string): void {
  byId("status").textContent = text;
}

/// Says to a screen reader how a run has ended; once, since the status changes with each point.
export function announce(): void {
  byId("announced").textContent = byId("status").textContent;
}

/// Shows charts with one legend for all. `view` names what they are of.
export function draw(view: string, charts: Chart[]): void {
  const shape = `${view} ${charts.length}`;
  if (drawnFor !== shape) {
    boxes.forEach((box) => box.destroy());
    boxes = charts.map(() => new ChartBox());
    panel().replaceChildren(el("ul", { class: "legend" }), el("div", { class: "charts" }, ...boxes.map((box) => box.element)), el("div", { id: "facts" }));
    drawnFor = shape;
  }
  charts.forEach((chart, i) => boxes[i]!.draw(chart));
  const entries = (charts[0]?.lines ?? []).map((line) => ({ label: line.label, stroke: colorOf(line.color), dash: line.dash ? "7 5" : "" }));
  if (charts[0]?.ideal) entries.push({ label: "ideal", stroke: "var(--soft)", dash: "2 4" });
  panel().querySelector("ul.legend")?.replaceChildren(...entries.map(({ label, stroke, dash }) => {
    const item = el("li", {});
    item.innerHTML = `<svg width="30" height="10" aria-hidden="true"><path d="M0 5h30" stroke="${stroke}" stroke-width="2.5" stroke-dasharray="${dash}"/></svg>`;
    item.append(label);
    return item;
  }));
  current();
  measured.redraw_ms = performance.now() - measured.moved;
  if (measured.first_ms === 0) measured.first_ms = performance.now();
}

/// Shows other content in place of charts.
export function place(...content: Node[]): void {
  clearBoxes();
  panel().replaceChildren(...content);
  current();
}

export function clearBoxes(): void {
  boxes.forEach((box) => box.destroy());
  boxes = [];
  drawnFor = "";
}

export const shownCharts = (): Chart[] => boxes.map((box) => box.shown).filter((chart) => chart !== null);

// Whether what stands in the panel belongs to the controls as they are.
let isCurrent = true;
function current(): void {
  isCurrent = true;
  panel().classList.remove("old");
}
/// After an error, what the panel shows belongs to earlier controls.
export function outdate(): void {
  if (panel().childElementCount === 0) return;
  isCurrent = false;
  panel().classList.add("old");
}
/// Returns why nothing can be exported; null if it can.
export const notExportable = (): string | null =>
  (isCurrent ? null : "What is shown belongs to earlier entries. Mend the entry that is marked, then download.");

/// Lists what the engine warns of.
export function showWarnings(warnings: string[]): void {
  byId("warnings").replaceChildren(...warnings.map((warning) => el("li", {}, warning)));
}

/// Returns whether the error is one that the page expects: its text is for the user.
export const isExpected = (error: unknown): boolean => [CancelledError, EntryError, RefusedError, PageError].some((kind) => error instanceof kind);

export function showError(error: unknown, state: State): void {
  if (error instanceof CancelledError) return;
  status("This cannot be run.");
  outdate();
  if (error instanceof EntryError) {
    for (const wrong of entryErrors(state, error))
      if (!showWrong(wrong.control, wrong.message)) byId("message").textContent = wrong.message;
    return;
  }
  if (error instanceof RefusedError && state.file === null) return showFaults(error.refusal.all);
  showText(isExpected(error) ? (error as Error).message : `The page has failed: ${String(error)}`);
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
