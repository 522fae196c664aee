// What stands beside the controls: charts or other content, the status, messages, and whether they are those of the
// controls.
import { ChartBox } from "./charts.js";
import { showWrong } from "./controls.js";
import { byId, el } from "./dom.js";
import type { Fault } from "./engine.js";
import { type Chart, drawnOf, hiddenOf, lookOf, swatchOf } from "./lines.js";
import { CancelledError, PageError, RefusedError } from "./pool.js";
import { type Picture, printedCharts } from "./print.js";
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
    boxes = charts.map(() => new ChartBox(view, () => drawBoxes(view, shownCharts())));
    panel().replaceChildren(el("ul", { class: "legend", "aria-label": "Lines" }), el("div", { class: "charts" }, ...boxes.map((box) => box.element)), el("div", { id: "facts" }));
    drawnFor = shape;
  }
  drawBoxes(view, charts);
  exportable(() => printedCharts(shownCharts().map((chart) => ({ chart, look: lookOf(view, chart) }))));
  current();
  measured.redraw_ms = performance.now() - measured.moved;
  if (measured.first_ms === 0) measured.first_ms = performance.now();
}

function drawBoxes(view: string, charts: Chart[]): void {
  charts.forEach((chart, i) => boxes[i]!.draw(chart));
  drawLegend(view, charts);
}

// Buttons that hide and show lines in all charts of the view. They stay while they name the same lines, so that a
// redrawing does not take the focus from one.
function drawLegend(view: string, charts: Chart[]): void {
  const legend = panel().querySelector<HTMLElement>("ul.legend");
  if (legend === null) return;
  const drawn = [...new Map(charts.flatMap(drawnOf).map((one) => [one.key, one])).values()];
  const named = JSON.stringify(drawn.map(({ points, ...style }) => style));
  const hidden = hiddenOf(view);
  if (legend.dataset["named"] !== named) {
    legend.dataset["named"] = named;
    legend.replaceChildren(...drawn.map((one) => {
      const button = el("button", { type: "button", "data-key": one.key });
      button.innerHTML = `<svg width="34" height="12" aria-hidden="true">${swatchOf(one, `var(${one.ink})`)}</svg>`;
      button.append(one.label);
      button.addEventListener("click", () => {
        if (!hidden.delete(one.key)) hidden.add(one.key);
        drawBoxes(view, shownCharts());
      });
      return el("li", {}, button);
    }));
  }
  for (const button of legend.querySelectorAll("button")) button.setAttribute("aria-pressed", String(!hidden.has(button.dataset["key"]!)));
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
  picture = null;
}

export const shownCharts = (): Chart[] => boxes.map((box) => box.shown).filter((chart) => chart !== null);

// What PNG and SVG draw; null if the view has no picture.
let picture: Picture | null = null;
export function exportable(make: Picture | null): void {
  picture = make;
}
export const shownPicture = (): Picture | null => picture;

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
  (isCurrent ? null : "The results shown belong to earlier entries. Fix the marked entry, then download.");

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
