// Where a step goes: what `paceline explain` answers, as bars.
import { colorOf, short } from "./charts.js";
import { el, svg, table } from "./dom.js";

export interface Explanation {
  algorithm: string;
  nodes: number;
  workers: number;
  verdict: string;
  outcome: string;
  step_time_s: number | null;
  parts_s?: Record<string, number>;
  ladder?: { without: string | null; step_time_s: number; model_step_time_s: number | null }[];
  next?: Record<string, unknown> | Record<string, unknown>[];
  notes?: string[];
}

export const milliseconds = (s: number): string => `${short(s * 1000)} ms`;
const words = (key: string): string => key.replace(/_/g, " ");

/// One bar for each algorithm, its parts beside each other on one scale. `more` is put behind each verdict.
export function bars<One extends { label: string; explanation: Explanation }>(explained: One[], more: (one: One) => Node): HTMLElement {
  const parts = [...new Set(explained.flatMap((e) => Object.keys(e.explanation.parts_s ?? {})))]
    .filter((part) => explained.some((e) => (e.explanation.parts_s?.[part] ?? 0) !== 0));
  const most = Math.max(...explained.map((e) => e.explanation.step_time_s ?? 0), 1e-12);
  const width = 900;
  const rowHeight = 52;
  const picture = svg("svg", { viewBox: `0 0 ${width} ${explained.length * rowHeight + 30}`, width: "100%", role: "img", class: "bars",
    "aria-label": explained.map((e) => `${e.label}: ${milliseconds(e.explanation.step_time_s ?? 0)}`).join("; ") });
  explained.forEach(({ label, explanation }, i) => {
    const y = i * rowHeight;
    picture.append(svg("text", { x: 0, y: y + 14 }, `${label}: ${milliseconds(explanation.step_time_s ?? 0)}`));
    let x = 0;
    for (const part of parts) {
      const seconds = explanation.parts_s?.[part] ?? 0;
      if (seconds <= 0) continue;
      const length = (seconds / most) * width;
      const bar = svg("rect", { x, y: y + 20, width: Math.max(length, 1), height: 22, fill: colorOf(parts.indexOf(part)) });
      bar.append(svg("title", {}, `${words(part)}: ${milliseconds(seconds)}, ${short((seconds / (explanation.step_time_s ?? 1)) * 100)} %`));
      picture.append(bar);
      x += length;
    }
  });
  const bottom = explained.length * rowHeight + 8;
  for (let tick = 0; tick <= 4; ++tick)
    picture.append(svg("text", { x: (tick / 4) * width, y: bottom + 14, "text-anchor": tick === 0 ? "start" : tick === 4 ? "end" : "middle" }, milliseconds((most * tick) / 4)));
  const legend = el("ul", { class: "legend" }, ...parts.map((part, i) => {
    const swatch = el("span", { class: "swatch" });
    swatch.style.background = colorOf(i);
    return el("li", {}, swatch, words(part));
  }));
  const numbers = table(["part of a step (ms)", ...explained.map((e) => e.label)], parts.map((part) =>
    [words(part), ...explained.map((e) => short((e.explanation.parts_s?.[part] ?? 0) * 1000))]));
  const verdicts = el("ul", { class: "facts" }, ...explained.map((e) => el("li", {}, el("strong", {}, e.label), `: ${e.explanation.verdict || e.explanation.outcome} `, more(e))));
  return el("div", {}, legend, el("div", {}, picture), el("h2", {}, "What limits a step, and what would help most"), verdicts, el("h2", {}, "In numbers"), numbers);
}
