// Where a step goes: what `paceline explain` answers, as bars.
import { el, svg, table } from "./dom.js";
import { wrap } from "./labels.js";
import { colorOf, ink, short } from "./lines.js";
import { escaped, type Part, printedLegend, printedTitle, printedWidth, sheetWidth, textAt } from "./print.js";
import { keepApart, shareOf, ticksOf } from "./scales.js";

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

interface Explained { label: string; explanation: Explanation }

const partsOf = (explained: Explained[]): string[] => [...new Set(explained.flatMap((e) => Object.keys(e.explanation.parts_s ?? {})))]
  .filter((part) => explained.some((e) => (e.explanation.parts_s?.[part] ?? 0) !== 0));

// One bar for each algorithm, its parts beside each other on one scale: on the page and in downloads.
function barsPart(explained: Explained[], parts: string[], width: number): Part {
  const most = Math.max(...explained.map((e) => e.explanation.step_time_s ?? 0), 1e-12);
  let y = 0;
  const rows = explained.map(({ label, explanation }) => {
    const heading = wrap(`${label}: ${milliseconds(explanation.step_time_s ?? 0)}`, width, (text) => printedWidth(text));
    const texts = heading.map((line, i) => textAt(0, y + 14 + i * 15, line));
    y += heading.length * 15 + 5;
    let x = 0;
    const made = parts.filter((part) => (explanation.parts_s?.[part] ?? 0) > 0).map((part) => {
      const seconds = explanation.parts_s![part]!;
      const length = (seconds / most) * width;
      const title = `${words(part)}: ${milliseconds(seconds)}, ${short((seconds / (explanation.step_time_s ?? 1)) * 100)} %`;
      const bar = `<rect x="${x.toFixed(2)}" y="${y}" width="${Math.max(length, 1).toFixed(2)}" height="22" fill="${colorOf(parts.indexOf(part))}"><title>${escaped(title)}</title></rect>`;
      x += length;
      return bar;
    });
    y += 32;
    return texts.join("") + made.join("");
  });
  const scale = { log: false, least: 0, most: most * 1000 };
  const place = (ms: number) => shareOf(scale, ms) * width;
  const text = (ms: number) => `${short(ms)} ms`;
  const ticks = ticksOf(scale, keepApart(place, (ms) => printedWidth(text(ms)), 16)).map((ms) => {
    const half = printedWidth(text(ms)) / 2;
    return `<path d="M${place(ms).toFixed(1)} ${y - 4}v6" stroke="${ink("--soft")}"/>${textAt(Math.min(width - half, Math.max(half, place(ms))), y + 15, text(ms), 'class="tick" text-anchor="middle"')}`;
  });
  return { height: y + 22, body: `<g fill="${ink("--ink")}"><path d="M0 ${y - 4}H${width}" stroke="${ink("--soft")}"/>${rows.join("")}${ticks.join("")}</g>` };
}

/// The bars of a download, with their legend. `what` says what they are of.
export function printedBars(explained: Explained[], what: string): Part[] {
  const parts = partsOf(explained);
  const bars = barsPart(explained, parts, sheetWidth - 16);
  return [printedTitle(`Where time goes: ${what}`), printedLegend(parts.map((part, i) => ({ label: words(part), swatch: `<rect width="12" height="12" rx="2" fill="${colorOf(i)}"/>` })), 12),
    { height: bars.height, body: `<g transform="translate(8 0)">${bars.body}</g>` }];
}

/// The bars, what they say in words, and their numbers. `more` is put behind each verdict.
export function bars<One extends Explained>(explained: One[], more: (one: One) => Node): HTMLElement {
  const parts = partsOf(explained);
  const { height, body } = barsPart(explained, parts, 900);
  const picture = svg("svg", { viewBox: `0 0 900 ${height}`, width: "100%", role: "img", class: "bars", "font-size": 12,
    "aria-label": explained.map((e) => `${e.label}: ${milliseconds(e.explanation.step_time_s ?? 0)}`).join("; ") });
  picture.innerHTML = body;
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
