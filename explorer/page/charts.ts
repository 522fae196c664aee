// Charts on the page: drawn by uPlot, redrawn in one call, and read by pointer, by touch and by keyboard.
import uPlot from "uplot";
import { el } from "./dom.js";
import { type Box, type Label, placeEnds, placeMarks } from "./labels.js";
import { canBeLog, type Chart, type Drawn, drawnOf, exact, ink, isReference, type Look, lookOf, markerPath, outlineOf, setLog, short, shownBand, shownPoints, swatchOf, xsOf } from "./lines.js";
import { keepApart, scaleX, scaleY, ticksOf } from "./scales.js";

const axisWidth = 62;
const axisHeight = 36;
const topRoom = 10;
const leastRoom = 34; // right of the plot: half a tick's label
const leastPlot = 250; // labels at the ends of lines leave a plot at least so wide
const endHeight = 13;
const markHeight = 14;
const fontOf = (size: number): string => `${size}px system-ui, "DejaVu Sans", sans-serif`;

const measuring = document.createElement("canvas").getContext("2d")!;
function widthOf(text: string, size: number): number {
  measuring.font = fontOf(size);
  return measuring.measureText(text).width;
}

// Lines as columns over all their x. A place without a value is null.
function columnsOf(drawn: Drawn[], look: Look): (number | null)[][] {
  const points = drawn.map((one) => shownPoints(one.points, look));
  const xs = xsOf(points);
  return [xs, ...points.map((own) => {
    const at = new Map(own);
    return xs.map((x) => at.get(x) ?? null);
  })];
}

// Markers of one line, at most some twenty.
const markersOf = (marker: number): uPlot.Series.Points.PathBuilder => (u, i) => {
  const ratio = devicePixelRatio;
  const column = u.data[i]!;
  const at = Array.from(u.data[0], (_, k) => k).filter((k) => column[k] !== null);
  const every = Math.ceil(at.length / 20);
  const path = new Path2D(at.filter((_, k) => k % every === 0)
    .map((k) => markerPath(marker, u.valToPos(u.data[0][k]!, "x", true), u.valToPos(column[k]!, "y", true), 3.4 * ratio)).join(""));
  return { stroke: path, fill: path, flags: 3 };
};

/// A chart in a figure, which keeps its place while its data change.
export class ChartBox {
  readonly element = el("figure");
  private readonly title = el("figcaption");
  private readonly scales = el("div", { class: "scales" });
  private readonly place = el("div", { class: "plot", role: "img", tabindex: "0" });
  private readonly readout = el("div", { class: "readout", "aria-live": "off" });
  private plot: uPlot | null = null;
  private chart: Chart | null = null;
  private drawn: Drawn[] = [];
  private look: Look = { logX: false, logY: false, hidden: new Set() };
  private shape = "";
  private taller = 0; // for marks that need more height
  private readAt: { x: number; key: string | null } | null = null;
  private isDrawing = false; // uPlot moves its cursor to other data then
  private readonly resize = new ResizeObserver(() => {
    const width = this.place.clientWidth;
    if (this.plot && width > 0 && width !== this.plot.width) { this.taller = 0; this.resized(width); }
  });

  /// `redraw` draws the view again, after a button has changed how it looks.
  constructor(private readonly view: string, private readonly redraw: () => void) {
    for (const axis of ["x", "y"] as const) {
      const button = el("button", { type: "button", "data-log": axis }, `log ${axis}`);
      button.addEventListener("click", () => {
        if (this.chart) setLog(this.view, this.chart, axis, button.getAttribute("aria-pressed") !== "true");
        this.redraw();
      });
      this.scales.append(button);
    }
    this.element.append(this.title, this.scales, el("div", { class: "around" }, this.place, this.readout));
    this.place.addEventListener("keydown", (e) => this.key(e));
    this.place.addEventListener("blur", () => this.leave());
    this.place.addEventListener("pointermove", () => this.readout.setAttribute("aria-live", "off")); // it would be spoken all the time
    this.resize.observe(this.place);
  }

  draw(chart: Chart): void {
    this.title.textContent = chart.title;
    this.chart = chart;
    this.drawn = drawnOf(chart);
    this.look = lookOf(this.view, chart);
    this.place.setAttribute("aria-label", describe(chart));
    for (const button of this.scales.querySelectorAll("button")) {
      const axis = button.dataset["log"] as "x" | "y";
      button.setAttribute("aria-pressed", String(axis === "x" ? this.look.logX : this.look.logY));
      button.setAttribute("aria-label", `log ${axis}: ${chart.title}`);
      button.disabled = !canBeLog(chart, axis);
    }
    const shape = JSON.stringify([ink("--back"), chart.x, this.look.logX, this.look.logY, this.drawn.map(({ points, band, ...style }) => style)]);
    const data = columnsOf(this.drawn, this.look) as uPlot.AlignedData;
    this.isDrawing = true;
    if (this.plot === null || shape !== this.shape) {
      this.plot?.destroy();
      this.shape = shape;
      this.taller = 0;
      const width = this.place.clientWidth || 480;
      this.plot = new uPlot(this.options(width), data, this.place);
      // A tap anywhere in the plot reads it, also where a browser sends no mouse's moves for taps.
      this.plot.over.addEventListener("click", (e) => {
        const box = this.plot!.over.getBoundingClientRect();
        this.plot!.setCursor({ left: e.clientX - box.left, top: e.clientY - box.top });
      });
    } else {
      const { plot } = this;
      plot.batch(() => {
        this.drawn.forEach((one, i) => {
          const show = !this.look.hidden.has(one.key);
          if (plot.series[i + 1]!.show !== show) plot.setSeries(i + 1, { show });
        });
        plot.setData(data);
      });
    }
    if (this.readAt !== null) this.plot.batch(() => {}); // a new plot has its scales only now
    this.isDrawing = false;
    this.readAgain();
  }
  get shown(): Chart | null {
    return this.chart;
  }
  destroy(): void {
    this.resize.disconnect();
    this.plot?.destroy();
    this.plot = null;
  }

  private heightOf(width: number): number {
    return this.taller + Math.max(240, Math.min(Math.max(360, Math.round(innerHeight * 0.6)), Math.round(width * 0.62)));
  }
  private resized(width: number): void {
    this.isDrawing = true;
    this.plot?.batch(() => this.plot?.setSize({ width, height: this.heightOf(width) }));
    this.isDrawing = false;
    this.readAgain();
  }

  private visible(): Drawn[] {
    return this.drawn.filter((one) => !this.look.hidden.has(one.key));
  }

  // Labels at the ends of lines, if they fit beside the plot.
  private endLabels(): Drawn[] {
    const labelled = this.drawn.filter((one) => !one.key.startsWith("target"));
    const width = this.plot?.width ?? (this.place.clientWidth || 480);
    const room = this.endRoom(labelled);
    return width - axisWidth - room < leastPlot || labelled.length * endHeight > this.heightOf(width) - axisHeight - topRoom ? [] : labelled;
  }
  private endRoom(labelled: Drawn[]): number {
    return Math.max(leastRoom, ...labelled.map((one) => Math.ceil(widthOf(one.label, 11)) + 18));
  }

  private options(width: number): uPlot.Options {
    const axis = {
      stroke: ink("--soft"), grid: { stroke: ink("--grid"), width: 1 }, ticks: { stroke: ink("--grid"), width: 1 },
      font: fontOf(12), labelFont: fontOf(12), filter: (_u: uPlot, ticks: number[]) => ticks,
    };
    const { logX, logY, hidden } = this.look;
    const xText = (v: number) => (this.chart!.xText ?? short)(v);
    const yText = (v: number) => (this.chart!.yText ?? short)(v);
    const wide = () => (this.plot?.width ?? width) - axisWidth - this.endRoom(this.endLabels());
    const high = () => (this.plot?.height ?? this.heightOf(width)) - axisHeight - topRoom - 20;
    return {
      width, height: this.heightOf(width), padding: [topRoom, () => this.endRoom(this.endLabels()), 0, 0], legend: { show: false }, focus: { alpha: 0.35 },
      cursor: { y: false, drag: { x: false, y: false }, points: { size: 8 }, move: (u, left, top) => [left < 0 ? left : nearestPlace(u, left), top],
        dataIdx: (u, i, at) => (i === 0 ? at : nearestValue(u, i, at)) },
      scales: {
        x: { time: false, distr: logX ? 3 : 1, range: (_u, least, most) => rangeOf(scaleX(between(least, most), logX)) },
        y: { distr: logY ? 3 : 1, range: (_u, least, most) => rangeOf(scaleY([...between(least, most), ...this.visible().flatMap((one) => shownBand(one, this.look).flatMap(({ low, high }) => [low, high]))], logY)) },
      },
      axes: [
        { ...axis, label: this.chart!.x, size: axisHeight, labelSize: 22, values: (_u, ticks) => ticks.map(xText),
          splits: (u, _axis, least, most) => {
            const share = wide() / (u.bbox.width / devicePixelRatio || 1);
            const place = (v: number) => u.valToPos(v, "x") * share;
            return ticksOf({ log: logX, least, most }, keepApart(place, (v) => widthOf(xText(v), 12), 12), this.chart!.xBase, this.chart!.ticks);
          } },
        { ...axis, size: axisWidth, values: (_u, ticks) => ticks.map(yText),
          splits: (u, _axis, least, most) => {
            const share = high() / (u.bbox.height / devicePixelRatio || 1);
            const place = (v: number) => u.valToPos(v, "y") * share;
            return ticksOf({ log: logY, least, most }, keepApart(place, () => 12, logY ? 8 : 20));
          } },
      ],
      series: [{}, ...this.drawn.map((one): uPlot.Series => ({
        label: one.label, stroke: ink(one.ink), width: one.width, dash: one.dash, spanGaps: true, show: !hidden.has(one.key),
        points: one.marker === null ? { show: false } : { show: true, size: 8, width: 1.5, fill: ink(one.ink), stroke: ink(one.ink), paths: markersOf(one.marker) },
      }))],
      hooks: { drawAxes: [(u) => this.drawBands(u)], draw: [(u) => this.drawLabels(u)], setCursor: [(u) => this.read(u)] },
    };
  }

  // What each line may be, behind all lines.
  private drawBands(u: uPlot): void {
    const { ctx } = u;
    ctx.save();
    ctx.globalAlpha = 0.15;
    for (const one of this.visible()) {
      const corners = outlineOf(shownBand(one, this.look));
      if (corners.length === 0) continue;
      ctx.fillStyle = ink(one.ink);
      ctx.fill(new Path2D(`M${corners.map(([x, y]) => `${u.valToPos(x, "x", true)} ${u.valToPos(y, "y", true)}`).join("L")}Z`));
    }
    ctx.restore();
  }

  // Marks, labels of targets, and labels at the ends of lines.
  private drawLabels(u: uPlot): void {
    const ratio = devicePixelRatio;
    const { ctx } = u;
    const box: Box = { left: u.bbox.left / ratio, top: u.bbox.top / ratio, width: u.bbox.width / ratio, height: u.bbox.height / ratio };
    ctx.save();
    ctx.scale(ratio, ratio);
    ctx.font = fontOf(11);
    ctx.textBaseline = "middle";
    ctx.textAlign = "left";
    const marks = (this.chart?.marks ?? []).filter((mark) => mark.x >= u.scales["x"]!.min! && mark.x <= u.scales["x"]!.max!)
      .map((mark) => ({ at: u.valToPos(mark.x, "x", true) / ratio, label: mark.label }));
    ctx.strokeStyle = ink("--soft");
    ctx.setLineDash([4, 4]);
    for (const { at } of marks) { ctx.beginPath(); ctx.moveTo(at, box.top); ctx.lineTo(at, box.top + box.height); ctx.stroke(); }
    ctx.setLineDash([]);
    const lines = marks.length === 0 ? [] : this.visible().map((one) => shownPoints(one.points, this.look)
      .map(([x, y]): [number, number] => [u.valToPos(x, "x", true) / ratio, u.valToPos(y, "y", true) / ratio]));
    const labels = placeMarks(marks, box, (text) => ctx.measureText(text).width, markHeight, lines);
    for (const label of labels) write(ctx, label);
    const ends = this.visible().flatMap((one) => {
      const last = shownPoints(one.points, this.look).at(-1);
      return last ? [{ one, x: u.valToPos(last[0], "x", true) / ratio, y: u.valToPos(last[1], "y", true) / ratio }] : [];
    });
    this.drawTargets(ctx, ends.filter(({ one }) => one.key.startsWith("target")), box);
    const labelled = new Set(this.endLabels());
    this.drawEnds(ctx, ends.filter(({ one }) => labelled.has(one)), box);
    ctx.restore();
    this.element.dataset["plot"] = JSON.stringify(box);
    this.element.dataset["marks"] = JSON.stringify(labels);
    const missing = Math.ceil(Math.max(0, ...labels.map((l) => l.top + l.height + 4 - box.top - box.height)));
    if (missing > 0 && this.taller < 4000) { this.taller += missing; queueMicrotask(() => this.resized(u.width)); }
  }

  private drawTargets(ctx: CanvasRenderingContext2D, ends: End[], box: Box): void {
    const places = placeEnds(ends.map(({ y }) => y - 8), box.top, box.top + box.height, endHeight);
    places?.forEach((y, i) => {
      const { label } = ends[i]!.one;
      const width = Math.min(ctx.measureText(label).width, box.width - 10);
      write(ctx, { left: box.left + box.width - 5 - width, top: y - endHeight / 2, width, height: endHeight, lines: [label] });
    });
  }

  private drawEnds(ctx: CanvasRenderingContext2D, ends: End[], box: Box): void {
    const right = box.left + box.width;
    const places = placeEnds(ends.map(({ y }) => y), box.top, box.top + box.height, endHeight);
    places?.forEach((place, i) => {
      const { one, x, y } = ends[i]!;
      ctx.fillStyle = ctx.strokeStyle = ink(one.ink);
      ctx.lineWidth = 0.7;
      ctx.beginPath();
      ctx.moveTo(x + 5, y); ctx.lineTo(Math.max(right + 4, x + 5), y); ctx.lineTo(right + 12, place);
      ctx.stroke();
      ctx.fillText(one.label, right + 14, place);
    });
  }

  // Shows the values at the cursor as text beside it.
  private read(u: uPlot): void {
    if (this.isDrawing) return;
    const { idx, idxs, left = -10, top = -10 } = u.cursor;
    if (idx === null || idx === undefined || left < 0) return this.unread();
    const shown = this.drawn.map((one, i) => ({ one, i: i + 1 })).filter(({ one }) => !this.look.hidden.has(one.key));
    const read = shown.flatMap(({ one, i }) => {
      const at = idxs?.[i] ?? null;
      const value = at === null ? null : u.data[i]![at];
      return at === null || value === null || value === undefined ? [] : [{ one, i, x: u.data[0][at]!, value, far: Math.abs(u.valToPos(value, "y") - top) }];
    });
    const near = read.reduce<(typeof read)[number] | null>((least, r) => (least === null || r.far < least.far ? r : least), null);
    const x = u.data[0][idx]!;
    this.readAt = { x, key: near?.one.key ?? null };
    const xText = this.chart!.xText ?? exact;
    const yText = this.chart!.yText ?? exact;
    this.readout.replaceChildren(el("p", {}, `${this.chart!.x}: ${xText(x)}`), el("ul", {}, ...read.map((r) => {
      const item = el("li", { "data-line": r.one.label, ...(r === near ? { class: "near" } : {}) });
      item.innerHTML = `<svg width="34" height="12" aria-hidden="true">${swatchOf(r.one, `var(${r.one.ink})`)}</svg>`;
      const band = r.one.band[r.one.points.findIndex(([at]) => at === r.x)];
      item.append(el("span", {}, r.one.label, r.x === x ? "" : ` (at ${xText(r.x)})`), el("b", {}, yText(r.value), band === undefined ? "" : ` (${short(band[0])} to ${short(band[1])})`));
      return item;
    })));
    this.readout.classList.toggle("long", read.length > 12);
    u.setSeries(near?.i ?? null, { focus: true });
    const box = { left: u.bbox.left / devicePixelRatio, width: u.bbox.width / devicePixelRatio };
    const width = this.readout.offsetWidth;
    const beside = left < box.width / 2 ? box.left + left + 14 : box.left + left - 14 - width;
    this.readout.style.left = `${Math.round(Math.max(0, Math.min(this.place.clientWidth - width, beside)))}px`;
    this.readout.style.top = `${topRoom + 2}px`;
  }
  private unread(): void {
    if (this.readAt === null) return;
    this.readAt = null;
    this.readout.replaceChildren();
    this.plot?.setSeries(null as unknown as number, { focus: true });
  }
  private leave(): void {
    this.plot?.setCursor({ left: -10, top: -10 });
  }

  // Puts the cursor where it was read, after data or size have changed. While results come in, its x may be missing.
  private readAgain(): void {
    const { readAt } = this;
    if (readAt === null) return;
    if (this.plot?.data[0].includes(readAt.x)) return this.moveTo(readAt.x, readAt.key);
    this.leave();
    this.readAt = readAt;
  }
  private moveTo(x: number, key: string | null): void {
    const { plot } = this;
    if (plot === null) return;
    const i = this.drawn.findIndex((one) => one.key === key && !this.look.hidden.has(one.key)) + 1;
    const at = plot.data[0].indexOf(x);
    if (at < 0) return this.leave();
    const value = i > 0 ? plot.data[i]![nearestValue(plot, i, at) ?? at] : null;
    plot.setCursor({ left: plot.valToPos(x, "x"), top: value === null || value === undefined ? 0 : plot.valToPos(value, "y") });
  }

  private key(e: KeyboardEvent): void {
    const xs = this.plot?.data[0] ?? [];
    const along = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[e.key];
    const across = { ArrowUp: -1, ArrowDown: 1 }[e.key];
    if (e.key === "Escape") return this.leave();
    if (e.ctrlKey || e.metaKey || e.altKey || xs.length === 0 || (along === undefined && across === undefined)) return;
    e.preventDefault();
    this.readout.setAttribute("aria-live", "polite");
    const visible = this.visible();
    const key = this.readAt?.key ?? visible.find((one) => !isReference(one))?.key ?? null;
    const at = this.readAt === null ? (along === -1 || along === Infinity ? xs.length : -1) : xs.indexOf(this.readAt.x);
    const next = Math.max(0, Math.min(xs.length - 1, at + (along ?? (this.readAt === null ? 1 : 0))));
    const line = visible.findIndex((one) => one.key === key) + (this.readAt === null ? 0 : across ?? 0);
    this.moveTo(xs[next]!, visible[(line + visible.length) % Math.max(1, visible.length)]?.key ?? null);
  }
}

interface End { one: Drawn; x: number; y: number }

function write(ctx: CanvasRenderingContext2D, label: Label): void {
  ctx.fillStyle = ink("--back");
  ctx.globalAlpha = 0.85;
  ctx.fillRect(label.left - 2, label.top, label.width + 4, label.height);
  ctx.globalAlpha = 1;
  ctx.fillStyle = ink("--ink");
  label.lines.forEach((line, i) => ctx.fillText(line, label.left, label.top + (label.height / label.lines.length) * (i + 0.5)));
}

const between = (least: number | null, most: number | null): number[] => (least === null || most === null ? [] : [least, most]);
const rangeOf = ({ least, most }: { least: number; most: number }): [number, number] => [least, most];

// Returns where the nearest x with a value stands.
function nearestPlace(u: uPlot, left: number): number {
  let best = left;
  let far = Infinity;
  for (const x of u.data[0]) {
    const place = u.valToPos(x, "x");
    if (Math.abs(place - left) < far) { best = place; far = Math.abs(place - left); }
  }
  return best;
}

// Returns the place of a line's value nearest to `at`; null if it has none.
function nearestValue(u: uPlot, i: number, at: number): number | null {
  const column = u.data[i]!;
  const has = (k: number) => column[k] !== null && column[k] !== undefined;
  if (has(at)) return at;
  const xs = u.data[0];
  let before = at, after = at;
  while (before >= 0 && !has(before)) --before;
  while (after < xs.length && !has(after)) ++after;
  if (before < 0) return after < xs.length ? after : null;
  if (after >= xs.length) return before;
  return u.valToPos(xs[at]!, "x") - u.valToPos(xs[before]!, "x") <= u.valToPos(xs[after]!, "x") - u.valToPos(xs[at]!, "x") ? before : after;
}

function describe(chart: Chart): string {
  const ends = chart.lines.map((line) => {
    const last = line.points.at(-1);
    return last ? `${line.label}: ${(chart.yText ?? short)(last[1])} at ${(chart.xText ?? short)(last[0])}` : `${line.label}: no values`;
  });
  const marks = (chart.marks ?? []).map((mark) => `${mark.label}. `).join("");
  return `${chart.title} over ${chart.x}. ${ends.join("; ")}. ${marks}Arrow keys read the values.`;
}
