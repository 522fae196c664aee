// Pictures for papers: what a view shows, as one SVG of 180 mm width. PNG is drawn from the same SVG. Paper is white:
// its ink is that of the light theme.
import { wrap, placeMarks } from "./labels.js";
import { type Chart, type Drawn, drawnOf, ink, isReference, type Look, markerPath, outlineOf, short, shownBand, shownPoints, swatchOf } from "./lines.js";
import { keepApart, type Scale, scaleX, scaleY, shareOf, ticksOf } from "./scales.js";

export const sheetWidth = 720; // units: four to a millimeter
export const unitsPerMm = 4;
const fontSize = 12;

/// A piece of a sheet, as high as it says. `body` is SVG in a coordinate system of its own.
export interface Part { height: number; body: string }
/// Makes the parts of what a view shows. It is called while the inks are those of paper.
export type Picture = () => Part[];

const measuring = document.createElement("canvas").getContext("2d")!;
// With some room: another program's sans-serif may be wider.
export function printedWidth(text: string, size = fontSize, bold = false): number {
  measuring.font = `${bold ? "bold " : ""}${size}px sans-serif`;
  return measuring.measureText(text).width * 1.06;
}

export const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]!);
// A title or a label may hold characters that no XML may.
const legal = (text: string): string => text.replace(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, "\u{fffd}");

export function textAt(x: number, y: number, text: string, attributes = ""): string {
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${attributes}>${escaped(text)}</text>`;
}

function inPaperInk<T>(make: () => T): T {
  const root = document.documentElement;
  const theme = root.dataset["theme"];
  root.dataset["theme"] = "light";
  try {
    return make();
  } finally {
    if (theme === undefined) delete root.dataset["theme"];
    else root.dataset["theme"] = theme;
  }
}

/// Returns the sheet as SVG text.
export function printed(title: string, picture: Picture): string {
  return inPaperInk(() => {
    const margin = 8;
    const heading = wrap(title, sheetWidth - 2 * margin, (text) => printedWidth(text, 15, true));
    let y = margin + heading.length * 19 + 4;
    const parts = picture().map((part) => {
      const placed = `<g transform="translate(0 ${y.toFixed(1)})">${part.body}</g>`;
      y += part.height;
      return placed;
    });
    const height = Math.ceil(y + margin);
    return legal(`<svg xmlns="http://www.w3.org/2000/svg" width="${sheetWidth / unitsPerMm}mm" height="${height / unitsPerMm}mm" viewBox="0 0 ${sheetWidth} ${height}" ` +
      `font-family="sans-serif" font-size="${fontSize}" fill="${ink("--ink")}"><title>${escaped(title)}</title><rect width="${sheetWidth}" height="${height}" fill="#ffffff"/>` +
      `${heading.map((line, i) => textAt(margin, margin + 14 + i * 19, line, 'font-size="15" font-weight="bold"')).join("")}${parts.join("")}</svg>\n`);
  });
}

/// Returns a title below that of the study.
export function printedTitle(text: string): Part {
  const lines = wrap(text, sheetWidth - 16, (piece) => printedWidth(piece, 13, true));
  return { height: 6 + lines.length * 17, body: lines.map((line, i) => textAt(8, 13 + i * 17, line, 'font-size="13" font-weight="bold"')).join("") };
}

/// Returns a legend: swatches of some width, each 12 high, with their labels.
export function printedLegend(entries: { swatch: string; label: string }[], swatchWidth: number): Part {
  const margin = 8, lineHeight = 18;
  let x = margin, y = 4;
  const placed = entries.map(({ swatch, label }) => {
    const lines = wrap(label, sheetWidth - 2 * margin - swatchWidth - 6, (text) => printedWidth(text));
    const width = swatchWidth + 6 + Math.max(0, ...lines.map((line) => printedWidth(line)));
    if (x > margin && x + width > sheetWidth - margin) { x = margin; y += lineHeight; }
    const made = `<g transform="translate(${x.toFixed(1)} ${y})">${swatch}${lines.map((line, i) => textAt(swatchWidth + 6, 10 + i * lineHeight, line)).join("")}</g>`;
    x += width + 18;
    y += (lines.length - 1) * lineHeight;
    return made;
  });
  return { height: entries.length === 0 ? 0 : y + lineHeight + 6, body: `<g class="legend">${placed.join("")}</g>` };
}

/// Returns one legend for all charts, and the charts below each other.
export function printedCharts(charts: { chart: Chart; look: Look }[]): Part[] {
  const visible = ({ chart, look }: { chart: Chart; look: Look }) => drawnOf(chart).filter((one) => !look.hidden.has(one.key));
  const entries = new Map(charts.flatMap(visible).map((one) => [one.key, { label: one.label, swatch: swatchOf(one, ink(one.ink)) }]));
  return [printedLegend([...entries.values()], 34), ...charts.map((one) => printedChart(one.chart, one.look, visible(one)))];
}

function printedChart(chart: Chart, look: Look, lines: Drawn[]): Part {
  const left = 62, right = sheetWidth - 40;
  const drawn = lines.map((one) => ({ one, points: shownPoints(one.points, look), band: shownBand(one, look) }));
  const heading = printedTitle(chart.title);
  const top = heading.height + 4;
  // An axis is that of all lines, as on the page: hiding one does not move the others along x.
  const sx = scaleX(drawnOf(chart).flatMap((one) => shownPoints(one.points, look).map((p) => p[0])), look.logX);
  const sy = scaleY(drawn.flatMap(({ points, band }) => [...points.map((p) => p[1]), ...band.flatMap(({ low, high }) => [low, high])]), look.logY);
  const px = (v: number) => left + shareOf(sx, v) * (right - left);
  let bottom = top + 220;
  const py = (v: number) => bottom - shareOf(sy, v) * (bottom - top);
  const inRange = (chart.marks ?? []).filter((mark) => mark.x >= sx.least && mark.x <= sx.most).map((mark) => ({ at: px(mark.x), label: mark.label }));
  const place = () => placeMarks(inRange, { left, top, width: right - left, height: bottom - top }, (text) => printedWidth(text), 15,
    drawn.map(({ points }) => points.map(([x, y]): [number, number] => [px(x), py(y)])));
  let marks = place();
  const lowest = () => Math.max(0, ...marks.map((mark) => mark.top + mark.height + 6));
  for (let tries = 0; lowest() > bottom && tries < 50; ++tries) { bottom = lowest(); marks = place(); }
  return {
    height: bottom + 48,
    body: `<g class="chart">${heading.body}` +
      axes(chart, { sx, sy, px, py, left, right, top, bottom }) + drawn.map(({ one, band }) => printedBand(one, outlineOf(band), px, py)).join("") + drawn.map(({ one, points }) => printedLine(one, points, px, py)).join("") +
      printedTargets(drawn, px, py, right, top) +
      marks.map((mark) => `<rect x="${(mark.left - 2).toFixed(1)}" y="${mark.top.toFixed(1)}" width="${(mark.width + 4).toFixed(1)}" height="${mark.height}" fill="#ffffff" fill-opacity="0.85"/>` +
        mark.lines.map((line, i) => textAt(mark.left, mark.top + 12 + i * 15, line, 'class="mark"')).join("")).join("") +
      "</g>",
  };
}

interface Frame { sx: Scale; sy: Scale; px: (v: number) => number; py: (v: number) => number; left: number; right: number; top: number; bottom: number }

function axes(chart: Chart, { sx, sy, px, py, left, right, top, bottom }: Frame): string {
  const [soft, grid] = [ink("--soft"), ink("--grid")];
  const xText = chart.xText ?? short, yText = chart.yText ?? short;
  const acrossX = ticksOf(sx, keepApart(px, (v) => printedWidth(xText(v)), 12), chart.xBase, chart.ticks);
  const alongY = ticksOf(sy, keepApart(py, () => 12, sy.log ? 8 : 20));
  return acrossX.map((v) => `<path d="M${px(v).toFixed(1)} ${top}V${bottom}" stroke="${grid}"/>${textAt(px(v), bottom + 17, xText(v), `class="tick" text-anchor="middle" fill="${soft}"`)}`).join("") +
    alongY.map((v) => `<path d="M${left} ${py(v).toFixed(1)}H${right}" stroke="${grid}"/>${textAt(left - 7, py(v) + 4, yText(v), `class="tick" text-anchor="end" fill="${soft}"`)}`).join("") +
    `<path d="M${left} ${top}V${bottom}H${right}" fill="none" stroke="${soft}"/>` +
    textAt((left + right) / 2, bottom + 36, chart.x, `text-anchor="middle" fill="${soft}"`) +
    (chart.marks ?? []).filter((mark) => mark.x >= sx.least && mark.x <= sx.most)
      .map((mark) => `<path d="M${px(mark.x).toFixed(1)} ${top}V${bottom}" stroke="${soft}" stroke-dasharray="4 4"/>`).join("");
}

function printedBand(one: Drawn, corners: [number, number][], px: (v: number) => number, py: (v: number) => number): string {
  if (corners.length === 0) return "";
  return `<path class="band" d="M${corners.map(([x, y]) => `${px(x).toFixed(1)} ${py(y).toFixed(1)}`).join("L")}Z" fill="${ink(one.ink)}" fill-opacity="0.15"/>`;
}

function printedLine(one: Drawn, points: [number, number][], px: (v: number) => number, py: (v: number) => number): string {
  if (points.length === 0) return "";
  const color = ink(one.ink);
  const path = points.map(([x, y], i) => `${i === 0 ? "M" : "L"}${px(x).toFixed(1)} ${py(y).toFixed(1)}`).join("");
  const line = `<path class="line" data-key="${escaped(one.key)}" d="${path}" fill="none" stroke="${color}" stroke-width="${one.width}" stroke-linejoin="round"${one.dash.length > 0 ? ` stroke-dasharray="${one.dash.join(" ")}"` : ""}/>`;
  if (isReference(one)) return line;
  const every = Math.ceil(points.length / 20);
  const markers = points.filter((_, i) => i % every === 0).map(([x, y]) => markerPath(one.marker!, px(x), py(y), 3.4)).join("");
  return `${line}<path d="${markers}" fill="${color}" stroke="${color}" stroke-width="1.5"/>`;
}

function printedTargets(drawn: { one: Drawn; points: [number, number][] }[], px: (v: number) => number, py: (v: number) => number, right: number, top: number): string {
  return drawn.flatMap(({ one, points }) => {
    const last = one.key.startsWith("target") ? points.at(-1) : undefined;
    return last === undefined ? [] : [textAt(Math.min(px(last[0]), right) - 4, Math.max(top + 10, py(last[1]) - 4), one.label, 'class="target" text-anchor="end" font-size="11"')];
  }).join("");
}
