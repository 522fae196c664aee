// The lines of a chart: what is drawn of it, in which style, and which of it a reader has hidden. The chart on the page,
// the legend and the downloads all draw from here.

export interface Line {
  label: string;
  color: number; // of the palette
  variant: number; // chooses the dashes and the marker
  points: [number, number][]; // in increasing order of x
  band?: [number, number][]; // of each point: from, to
}
export interface Chart {
  title: string; // with the unit
  x: string;
  logX: boolean; // at first; a reader may change it
  logY?: boolean;
  lines: Line[];
  ideal?: number; // the line y = ideal * x
  targets?: { label: string; at: (x: number) => number }[];
  marks?: { x: number; label: string }[];
  xText?: (value: number) => string;
  yText?: (value: number) => string;
  ticks?: number[]; // of x where it is logarithmic
  xBase?: 2; // ticks of x are powers of two
}

export const paletteSize = 7;
export function ink(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
export const colorOf = (i: number): string => ink(`--c${i % paletteSize}`);

/// Returns at most three digits, for ticks.
export function short(value: number): string {
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) return value.toExponential(0).replace("e+", "e");
  return String(Number(value.toPrecision(3)));
}
/// Returns six digits, for reading a value.
export const exact = (value: number): string => String(Number(value.toPrecision(6)));

/// A line as it is drawn. `key` tells it apart from all others of a view.
export interface Drawn {
  key: string;
  label: string;
  ink: string; // a property of style.css
  dash: number[];
  marker: number | null;
  width: number;
  points: [number, number][];
  band: [number, number][]; // of each point; empty: none
}

// Six dashes and seven markers: 42 variants differ in one or the other, and the first six in both.
const dashes = [[], [7, 5], [2, 3], [12, 3, 2, 3], [16, 6], [8, 3, 2, 3, 2, 3]];
const markers = 7;

export const isReference = (drawn: Drawn): boolean => drawn.marker === null;

export function drawnOf(chart: Chart): Drawn[] {
  const xs = xsOf(chart.lines.map((line) => line.points));
  const reference = (key: string, label: string, dash: number[], at: (x: number) => number): Drawn =>
    ({ key, label, ink: "--soft", dash, marker: null, width: 1.25, band: [], points: xs.map((x): [number, number] => [x, at(x)]) });
  const { ideal } = chart;
  return [
    ...chart.lines.map((line): Drawn => ({
      key: `line ${line.label}`, label: line.label, ink: `--c${line.color % paletteSize}`,
      dash: dashes[line.variant % dashes.length]!, marker: line.variant % markers, width: 2, points: line.points, band: line.band ?? [],
    })),
    ...(ideal ? [reference("ideal", "ideal", [2, 4], (x) => x * ideal)] : []),
    ...(chart.targets ?? []).map((target) => reference(`target ${target.label}`, target.label, [9, 3], target.at)),
  ];
}

export const xsOf = (lines: [number, number][][]): number[] =>
  [...new Set(lines.flatMap((points) => points.map((p) => p[0])))].sort((a, b) => a - b);

/// Returns the path of a marker around a place. Crosses have no inside: markers are stroked and filled.
export function markerPath(marker: number, x: number, y: number, r: number): string {
  const at = (dx: number, dy: number) => `${(x + dx * r).toFixed(2)} ${(y + dy * r).toFixed(2)}`;
  const shape = (...corners: [number, number][]) => `M${corners.map(([dx, dy]) => at(dx, dy)).join("L")}Z`;
  const round = `M${at(-1, 0)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`;
  switch (marker) {
    case 1: return shape([-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]);
    case 2: return shape([0, -1.2], [1.1, 0.9], [-1.1, 0.9]);
    case 3: return shape([0, -1.3], [1.1, 0], [0, 1.3], [-1.1, 0]);
    case 4: return `M${at(-1, -1)}L${at(1, 1)}M${at(1, -1)}L${at(-1, 1)}`;
    case 5: return shape([0, 1.2], [1.1, -0.9], [-1.1, -0.9]);
    case 6: return `M${at(-1.3, 0)}L${at(1.3, 0)}M${at(0, -1.3)}L${at(0, 1.3)}`;
    default: return round;
  }
}

/// Returns the piece of a line that stands in a legend, 34 wide and 12 high, as SVG.
export function swatchOf({ dash, marker, width }: Drawn, color: string): string {
  const line = `<path d="M1 6h32" fill="none" stroke="${color}" stroke-width="${width}" stroke-dasharray="${dash.join(" ")}"/>`;
  return marker === null ? line : `${line}<path d="${markerPath(marker, 17, 6, 3.4)}" fill="${color}" stroke="${color}" stroke-width="1.5"/>`;
}

/// How a reader looks at a chart: what the chart asks for, and what buttons have changed.
export interface Look { logX: boolean; logY: boolean; hidden: ReadonlySet<string> }

// By names, so that they outlive redrawing: lines of a view, and axes of a chart.
const hiddenLines = new Map<string, Set<string>>();
const scales = new Map<string, boolean>();
const scaleKey = (view: string, chart: Chart, axis: "x" | "y"): string => JSON.stringify([view, chart.title, chart.x, axis]);

export function hiddenOf(view: string): Set<string> {
  if (!hiddenLines.has(view)) hiddenLines.set(view, new Set());
  return hiddenLines.get(view)!;
}

/// Returns whether an axis can be logarithmic: it has a value above zero.
export const canBeLog = (chart: Chart, axis: "x" | "y"): boolean =>
  chart.lines.some((line) => line.points.some((p) => p[axis === "x" ? 0 : 1] > 0));

export function lookOf(view: string, chart: Chart): Look {
  const log = (axis: "x" | "y", first: boolean) => (scales.get(scaleKey(view, chart, axis)) ?? first) && canBeLog(chart, axis);
  return { logX: log("x", chart.logX), logY: log("y", chart.logY === true), hidden: hiddenOf(view) };
}
export function setLog(view: string, chart: Chart, axis: "x" | "y", log: boolean): void {
  scales.set(scaleKey(view, chart, axis), log);
}

/// A point of a line with what it may be: its place, and the ends of its band.
export interface Banded { x: number; low: number; high: number }
/// Returns the band of a line, as far as a chart can show it.
export function shownBand({ points, band }: Drawn, look: Look): Banded[] {
  return band.map(([low, high], i): Banded => ({ x: points[i]![0], low, high }))
    .filter(({ x, low, high }) => Number.isFinite(low) && Number.isFinite(high) && (!look.logX || x > 0) && (!look.logY || low > 0));
}
/// Returns the corners of a band: along its upper ends, and back along the lower ones.
export const outlineOf = (band: Banded[]): [number, number][] =>
  [...band.map(({ x, high }): [number, number] => [x, high]), ...band.map(({ x, low }): [number, number] => [x, low]).reverse()];

/// Returns the points that a chart can show: on a logarithmic axis, those above zero.
export const shownPoints = (points: [number, number][], look: Look): [number, number][] =>
  points.filter(([x, y]) => Number.isFinite(x) && Number.isFinite(y) && (!look.logX || x > 0) && (!look.logY || y > 0));
