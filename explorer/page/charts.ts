// Line charts by uPlot, drawn again in one call; and the same chart as SVG, for download.
import uPlot from "uplot";

export interface Line {
  label: string;
  color: number; // of the palette
  dash: boolean;
  points: [number, number][]; // in increasing order of x
}
export interface Chart {
  title: string; // with the unit
  x: string;
  logX: boolean;
  logY?: boolean;
  lines: Line[];
  ideal?: number; // the line y = ideal * x
  targets?: { label: string; at: (x: number) => number }[];
  marks?: { x: number; label: string }[];
  xText?: (value: number) => string;
  yText?: (value: number) => string;
  ticks?: number[]; // of x
}

export const paletteSize = 7;
export function ink(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
export const colorOf = (i: number): string => ink(`--c${i % paletteSize}`);

export function short(value: number): string {
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) return value.toExponential(0).replace("e+", "e");
  return String(Number(value.toPrecision(3)));
}

function axisTable(chart: Chart): uPlot.AlignedData {
  const xs = [...new Set(chart.lines.flatMap((line) => line.points.map((p) => p[0])))].sort((a, b) => a - b);
  const columns = chart.lines.map((line) => {
    const at = new Map(line.points);
    return xs.map((x) => at.get(x) ?? null);
  });
  return [xs, ...columns, ...(chart.ideal ? [xs.map((x) => x * chart.ideal!)] : [])] as uPlot.AlignedData;
}

function drawMarks(chart: Chart): (u: uPlot) => void {
  return (u) => {
    const { ctx, bbox } = u;
    ctx.save();
    ctx.strokeStyle = ink("--soft");
    ctx.fillStyle = ink("--ink");
    ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
    ctx.setLineDash([4, 4]);
    (chart.marks ?? []).forEach((mark, i) => {
      const x = u.valToPos(mark.x, "x", true);
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
      const right = x > bbox.left + bbox.width * 0.7;
      ctx.textAlign = right ? "right" : "left";
      ctx.fillText(mark.label, x + (right ? -5 : 5) * devicePixelRatio, bbox.top + (14 + 14 * i) * devicePixelRatio);
    });
    ctx.restore();
  };
}

function optionsOf(chart: Chart, width: number): uPlot.Options {
  const soft = ink("--soft");
  const axis = {
    stroke: soft, grid: { stroke: ink("--grid"), width: 1 }, ticks: { stroke: ink("--grid"), width: 1 },
    font: "12px system-ui, sans-serif", labelFont: "12px system-ui, sans-serif",
  };
  const xText = chart.xText ?? short;
  const yText = chart.yText ?? short;
  return {
    width, height: Math.max(240, Math.min(360, Math.round(width * 0.62))),
    padding: [10, 34, 0, 0], legend: { show: false }, cursor: { drag: { x: false, y: false }, points: { size: 6 } },
    scales: { x: { time: false, distr: chart.logX ? 3 : 1, log: chart.logX && !chart.xText ? 2 : 10 }, y: chart.logY ? { distr: 3 } : { range: (_u, least, most) => [Math.min(0, least ?? 0), (most ?? 1) * 1.05 || 1] } },
    axes: [
      { ...axis, label: chart.x, size: 36, labelSize: 22, values: (_u, ticks) => ticks.map((t) => (t === null ? "" : xText(t))),
        ...(chart.ticks ? { splits: () => chart.ticks!, filter: (_u: uPlot, s: number[]) => s } : {}) },
      { ...axis, size: 62, values: (_u, ticks) => ticks.map((t) => (t === null ? "" : yText(t))) },
    ],
    series: [
      {},
      ...chart.lines.map((line) => ({
        label: line.label, stroke: colorOf(line.color), width: 2, spanGaps: true,
        ...(line.dash ? { dash: [7, 5] } : {}), points: { show: line.points.length < 40, size: 6 },
      })),
      ...(chart.ideal ? [{ label: "ideal", stroke: soft, width: 1, dash: [2, 4], points: { show: false } }] : []),
    ],
    hooks: { draw: [drawMarks(chart)] },
  };
}

/// A chart in a figure, which keeps its place while its data change.
export class ChartBox {
  readonly element = document.createElement("figure");
  private readonly caption = document.createElement("figcaption");
  private readonly place = document.createElement("div");
  private plot: uPlot | null = null;
  private chart: Chart | null = null;
  private shape = "";
  private readonly resize = new ResizeObserver(() => {
    const width = this.place.clientWidth;
    if (this.plot && width > 0 && width !== this.plot.width) this.plot.setSize({ width, height: this.plot.height });
  });

  constructor() {
    this.element.append(this.caption, this.place);
    this.resize.observe(this.place);
  }
  draw(chart: Chart): void {
    this.caption.textContent = chart.title;
    this.chart = chart;
    this.place.setAttribute("role", "img");
    this.place.setAttribute("aria-label", describe(chart));
    const width = this.place.clientWidth || 480;
    const theme = ink("--back");
    const shape = JSON.stringify([theme, chart.x, chart.logX, chart.logY, chart.ideal, chart.marks, chart.ticks,
      chart.lines.map((l) => [l.label, l.dash, l.color, l.points.length < 40])]);
    if (this.plot && shape === this.shape) return this.plot.setData(axisTable(chart));
    this.plot?.destroy();
    this.shape = shape;
    this.plot = new uPlot(optionsOf(chart, width), axisTable(chart), this.place);
  }
  get canvas(): HTMLCanvasElement | null {
    return this.place.querySelector("canvas");
  }
  get shown(): Chart | null {
    return this.chart;
  }
  destroy(): void {
    this.resize.disconnect();
    this.plot?.destroy();
  }
}

function describe(chart: Chart): string {
  const ends = chart.lines.map((line) => {
    const last = line.points.at(-1);
    return last ? `${line.label}: ${(chart.yText ?? short)(last[1])} at ${(chart.xText ?? short)(last[0])}` : `${line.label}: no values`;
  });
  return `${chart.title} over ${chart.x}. ${ends.join("; ")}.`;
}

const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]!);

/// Returns charts below each other as one SVG text.
export function svgOf(charts: Chart[]): string {
  const width = 720;
  const height = 400;
  const parts = charts.map((chart, i) => `<g transform="translate(0 ${i * height})">${svgChart(chart, width, height)}</g>`);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height * charts.length}" font-family="sans-serif" font-size="12">` +
    `<rect width="100%" height="100%" fill="${ink("--back")}"/>${parts.join("")}</svg>\n`;
}

function svgChart(chart: Chart, width: number, height: number): string {
  const left = 60, right = 150, top = 34, bottom = 46;
  const xs = chart.lines.flatMap((l) => l.points.map((p) => p[0]));
  const ys = chart.lines.flatMap((l) => l.points.map((p) => p[1]));
  if (xs.length === 0) return "";
  const scale = (log: boolean) => (v: number) => (log ? Math.log10(v) : v);
  const fx = scale(chart.logX), fy = scale(chart.logY === true);
  const x0 = fx(Math.min(...xs)), x1 = fx(Math.max(...xs));
  const y0 = chart.logY ? fy(Math.min(...ys)) : 0, y1 = fy(Math.max(...ys)) || 1;
  const px = (v: number) => left + ((fx(v) - x0) / (x1 - x0 || 1)) * (width - left - right);
  const py = (v: number) => height - bottom - ((fy(v) - y0) / (y1 - y0 || 1)) * (height - top - bottom);
  const text = ink("--ink"), soft = ink("--soft"), grid = ink("--grid");
  const out = [`<text x="${left}" y="18" fill="${text}" font-weight="bold">${escaped(chart.title)}</text>`,
    `<text x="${(left + width - right) / 2}" y="${height - 8}" fill="${soft}" text-anchor="middle">${escaped(chart.x)}</text>`];
  for (let i = 0; i <= 4; ++i) {
    const f = y0 + ((y1 - y0) * i) / 4, v = chart.logY ? 10 ** f : f;
    out.push(`<path d="M${left} ${py(v)}H${width - right}" stroke="${grid}"/><text x="${left - 6}" y="${py(v) + 4}" text-anchor="end" fill="${soft}">${escaped((chart.yText ?? short)(v))}</text>`);
  }
  for (const v of chart.ticks ?? [...new Set(xs)].filter((_, i, all) => i % Math.ceil(all.length / 8) === 0))
    out.push(`<text x="${px(v)}" y="${height - bottom + 18}" text-anchor="middle" fill="${soft}">${escaped((chart.xText ?? short)(v))}</text>`);
  for (const mark of chart.marks ?? [])
    out.push(`<path d="M${px(mark.x)} ${top}V${height - bottom}" stroke="${soft}" stroke-dasharray="4 4"/><text x="${px(mark.x) + 4}" y="${top + 10}" fill="${text}">${escaped(mark.label)}</text>`);
  chart.lines.forEach((line, i) => {
    const path = line.points.map((p, k) => `${k === 0 ? "M" : "L"}${px(p[0]).toFixed(1)} ${py(p[1]).toFixed(1)}`).join("");
    const dash = line.dash ? ' stroke-dasharray="7 5"' : "";
    out.push(`<path d="${path}" fill="none" stroke="${colorOf(line.color)}" stroke-width="2"${dash}/>`,
      `<path d="M${width - right + 10} ${top + 10 + 18 * i}h22" stroke="${colorOf(line.color)}" stroke-width="2"${dash}/>`,
      `<text x="${width - right + 38}" y="${top + 14 + 18 * i}" fill="${text}">${escaped(line.label)}</text>`);
  });
  return out.join("");
}
