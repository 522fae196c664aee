// A timeline of one step, from a trace in the Chrome format: a row for each track of a machine. Zoomed by buttons, by the
// keyboard, and by the wheel where that is asked for: a wheel alone scrolls the page.
import { el } from "./dom.js";
import { colorOf, exact, ink, short } from "./lines.js";
import { escaped, type Part, printedLegend, printedTitle, printedWidth, sheetWidth, textAt } from "./print.js";
import { keepApart, shareOf, ticksOf } from "./scales.js";

interface Slice { row: number; name: string; begin: number; end: number } // microseconds
interface TraceEvent { ph: string; pid: number; tid: number; ts: number; name?: string; args?: { name?: string } }

// `last` is the time of the last event, in microseconds.
function slicesOf(trace: string): { rows: string[]; slices: Slice[]; last: number } {
  const events = (JSON.parse(trace) as { traceEvents: TraceEvent[] }).traceEvents;
  const processes = new Map<number, string>();
  const threads = new Map<string, string>();
  for (const e of events) {
    if (e.ph !== "M") continue;
    if (e.name === "process_name") processes.set(e.pid, e.args?.name ?? "");
    if (e.name === "thread_name") threads.set(`${e.pid} ${e.tid}`, e.args?.name ?? "");
  }
  const rows: string[] = [];
  const rowOf = new Map<string, number>();
  const open = new Map<string, { name: string; begin: number }[]>();
  const slices: Slice[] = [];
  for (const e of events) {
    if (e.ph !== "B" && e.ph !== "E") continue;
    const key = `${e.pid} ${e.tid}`;
    const stack = open.get(key) ?? [];
    open.set(key, stack);
    if (e.ph === "B") { stack.push({ name: e.name ?? "", begin: Number(e.ts) }); continue; }
    const begun = stack.pop();
    if (begun === undefined) continue;
    if (!rowOf.has(key)) { rowOf.set(key, rows.length); rows.push(`${processes.get(e.pid) ?? e.pid}: ${threads.get(key) ?? e.tid}`); }
    slices.push({ row: rowOf.get(key)!, name: begun.name, begin: begun.begin, end: Number(e.ts) });
  }
  const tracks = ["steps", "compute", "collectives", "waiting", "up", "down"];
  const track = (name: string) => tracks.findIndex((t) => name.includes(`: ${t}`));
  const machine = (name: string) => name.slice(0, name.indexOf(":"));
  const sorted = rows.map((name, i) => ({ name, i })).sort((a, b) =>
    machine(a.name).localeCompare(machine(b.name), "en", { numeric: true }) || track(a.name) - track(b.name) || a.name.localeCompare(b.name));
  const placeOf = new Map(sorted.map((one, place) => [one.i, place]));
  return { rows: sorted.map((one) => one.name), slices: slices.map((s) => ({ ...s, row: placeOf.get(s.row)! })),
    last: events.reduce((last, e) => (e.ph === "M" ? last : Math.max(last, Number(e.ts))), 0) };
}

const kindOf = (name: string): string => name.replace(/\s*[\d(].*$/, "");

export class Timeline {
  readonly element: HTMLElement;
  private readonly canvas = el("canvas", { tabindex: "0", role: "img" });
  private readonly hint = el("p", { role: "status" });
  private readonly slices: Slice[];
  private readonly rows: string[];
  private readonly kinds: string[];
  private from = 0;
  private to = 1;
  private readonly begin: number;
  private readonly end: number;
  private readonly label = 150;
  private readonly rowHeight = 20;
  private dragged: number | null = null;
  private readonly byWheel = el("button", { type: "button", "aria-pressed": "false" }, "Zoom by wheel");

  /// `cut` says that the trace ends before the step does.
  constructor(trace: string, cut: boolean) {
    const { rows, slices, last } = slicesOf(trace);
    this.rows = rows;
    this.slices = slices;
    this.kinds = [...new Set(slices.map((s) => kindOf(s.name)))];
    this.begin = slices.reduce((least, s) => Math.min(least, s.begin), Infinity);
    this.end = slices.reduce((most, s) => Math.max(most, s.end), -Infinity);
    this.canvas.setAttribute("aria-label", `Timeline of a step: ${rows.length} rows, ${slices.length} slices, ${short((this.end - this.begin) / 1000)} ms. Plus and minus zoom, arrows move, Control and the wheel zoom.`);
    this.canvas.style.width = "100%";
    this.canvas.style.touchAction = "pan-y";
    const button = (text: string, name: string, act: () => void) => {
      const made = el("button", { type: "button", "aria-label": name }, text);
      made.addEventListener("click", act);
      return made;
    };
    const legend = el("ul", { class: "legend" }, ...this.kinds.map((kind, i) => {
      const swatch = el("span", { class: "swatch" });
      swatch.style.background = colorOf(i);
      return el("li", {}, swatch, kind);
    }));
    this.byWheel.addEventListener("click", () => this.byWheel.setAttribute("aria-pressed", String(this.byWheel.getAttribute("aria-pressed") !== "true")));
    const note = cut ? [el("p", { class: "note" }, `The timeline is cut: it ends at ${exact(last / 1000)} ms of simulated time, and ${slices.length.toLocaleString("en")} events are drawn. ` +
      "The step continues after that, but has more events than a page can draw.")] : [];
    this.element = el("div", { class: "timeline" }, ...note, el("div", { class: "actions" },
      button("+", "Zoom in", () => this.zoom(0.5, 0.5)), button("−", "Zoom out", () => this.zoom(2, 0.5)),
      button("◀", "Move left", () => this.move(-0.25)), button("▶", "Move right", () => this.move(0.25)), button("All", "Show all", () => this.show(0, 1)), this.byWheel),
      legend, this.canvas, this.hint);
    this.listen();
    this.show(0, 1);
  }

  private listen(): void {
    // A pinch on a touchpad is a wheel with Ctrl.
    this.canvas.addEventListener("wheel", (e) => {
      if (!e.ctrlKey && !e.metaKey && this.byWheel.getAttribute("aria-pressed") !== "true") return;
      e.preventDefault();
      if (e.deltaY !== 0) this.zoom(e.deltaY > 0 ? 1.25 : 0.8, this.place(e.offsetX));
    }, { passive: false });
    this.canvas.addEventListener("pointerdown", (e) => { this.dragged = e.offsetX; this.canvas.setPointerCapture(e.pointerId); this.describe(e.offsetX, e.offsetY); });
    for (const end of ["pointerup", "pointercancel"] as const) this.canvas.addEventListener(end, () => { this.dragged = null; });
    this.canvas.addEventListener("pointermove", (e) => {
      if (this.dragged === null) return this.describe(e.offsetX, e.offsetY);
      this.move((this.dragged - e.offsetX) / (this.canvas.clientWidth - this.label));
      this.dragged = e.offsetX;
    });
    this.canvas.addEventListener("keydown", (e) => {
      const act: Record<string, () => void> = { "+": () => this.zoom(0.5, 0.5), "-": () => this.zoom(2, 0.5), ArrowLeft: () => this.move(-0.1), ArrowRight: () => this.move(0.1), Home: () => this.show(0, 1) };
      if (act[e.key]) { e.preventDefault(); act[e.key]!(); }
    });
    new ResizeObserver(() => this.draw()).observe(this.canvas);
  }
  private place(x: number): number {
    return Math.min(1, Math.max(0, (x - this.label) / (this.canvas.clientWidth - this.label)));
  }
  private show(from: number, to: number): void {
    const span = Math.min(1, Math.max(1e-5, to - from));
    this.from = Math.min(1 - span, Math.max(0, from));
    this.to = this.from + span;
    this.draw();
  }
  private zoom(factor: number, at: number): void {
    const middle = this.from + (this.to - this.from) * at;
    const span = Math.min(1, (this.to - this.from) * factor);
    this.show(middle - span * at, middle + span * (1 - at));
  }
  private move(share: number): void {
    const step = (this.to - this.from) * share;
    this.show(this.from + step, this.to + step);
  }
  private describe(x: number, y: number): void {
    const row = Math.floor((y - 22) / this.rowHeight);
    const at = this.begin + (this.end - this.begin) * (this.from + (this.to - this.from) * this.place(x));
    const under = this.slices.filter((s) => s.row === row && s.begin <= at && at <= s.end).at(-1);
    this.hint.textContent = under ? `${this.rows[row]}: ${under.name}, ${short(under.end - under.begin)} µs` : "";
  }
  redraw(): void {
    this.draw();
  }

  /// The part of the timeline that is shown, for a download. `what` says what it is of.
  print(what: string): Part[] {
    const label = 150, rowHeight = 15, top = 22, right = sheetWidth - 30;
    const [from, to] = this.window();
    const scale = { log: false, least: (from - this.begin) / 1000, most: (to - this.begin) / 1000 };
    const x = (t: number) => label + Math.min(1, Math.max(0, (t - from) / (to - from))) * (right - label);
    const place = (ms: number) => label + shareOf(scale, ms) * (right - label);
    const text = (ms: number) => `${exact(ms)} ms`;
    const bottom = top + this.rows.length * rowHeight;
    const ticks = ticksOf(scale, keepApart(place, (ms) => printedWidth(text(ms)), 16)).map((ms) =>
      `<path d="M${place(ms).toFixed(1)} ${top - 4}V${bottom}" stroke="${ink("--grid")}"/>${textAt(place(ms), 12, text(ms), `class="tick" text-anchor="middle" fill="${ink("--soft")}"`)}`);
    const rows = this.rows.map((row, i) => (i % 2 === 0 ? `<rect x="8" y="${top + i * rowHeight}" width="${right - 8}" height="${rowHeight}" fill="${ink("--panel")}"/>` : "") +
      textAt(10, top + 11 + i * rowHeight, row, `font-size="9"${printedWidth(row, 9) > label - 14 ? ` textLength="${label - 14}" lengthAdjust="spacingAndGlyphs"` : ""}`));
    return [printedTitle(what), printedLegend(this.kinds.map((kind, i) => ({ label: kind, swatch: `<rect width="12" height="12" rx="2" fill="${colorOf(i)}"/>` })), 12),
      { height: bottom + 8, body: rows.join("") + ticks.join("") + this.printedSlices(from, to, x, top, rowHeight) }];
  }
  // Slices that touch on paper and are of one kind are one rectangle, so that thousands of messages stay a small file.
  private printedSlices(from: number, to: number, x: (t: number) => number, top: number, rowHeight: number): string {
    const open = new Map<string, { a: number; b: number }>();
    const made: string[] = [];
    const close = (key: string, { a, b }: { a: number; b: number }) => {
      const [row, kind] = JSON.parse(key) as [number, string];
      made.push(`<rect x="${a.toFixed(2)}" y="${top + 2 + row * rowHeight}" width="${Math.max(0.3, b - a).toFixed(2)}" height="${rowHeight - 3}" fill="${escaped(colorOf(this.kinds.indexOf(kind)))}"/>`);
    };
    for (const s of [...this.slices].sort((s, t) => s.begin - t.begin || t.end - s.end)) {
      if (s.end < from || s.begin > to) continue;
      const key = JSON.stringify([s.row, kindOf(s.name)]);
      const [a, b] = [x(s.begin), x(s.end)];
      const before = open.get(key);
      if (before !== undefined && a - before.b < 0.15 && (b - a < 0.5 || before.b - before.a < 0.5)) { before.b = Math.max(before.b, b); continue; }
      if (before !== undefined) close(key, before);
      open.set(key, { a, b });
    }
    for (const [key, piece] of open) close(key, piece);
    return made.join("");
  }
  private window(): [number, number] {
    const length = this.end - this.begin;
    return [this.begin + length * this.from, this.begin + length * this.to];
  }
  private draw(): void {
    const width = this.canvas.clientWidth || 800;
    const height = this.rows.length * this.rowHeight + 26;
    this.canvas.style.height = `${height}px`;
    this.canvas.width = width * devicePixelRatio;
    this.canvas.height = height * devicePixelRatio;
    const c = this.canvas.getContext("2d")!;
    c.scale(devicePixelRatio, devicePixelRatio);
    c.fillStyle = ink("--back");
    c.fillRect(0, 0, width, height);
    c.font = "11px system-ui, sans-serif";
    const [left, right] = this.window();
    const x = (t: number) => this.label + ((t - left) / (right - left)) * (width - this.label);
    c.fillStyle = ink("--soft");
    c.textAlign = "center";
    const scale = { log: false, least: (left - this.begin) / 1000, most: (right - this.begin) / 1000 };
    const text = (ms: number) => `${exact(ms)} ms`;
    const across = (ms: number) => this.label + shareOf(scale, ms) * (width - this.label);
    for (const ms of ticksOf(scale, keepApart(across, (t) => c.measureText(text(t)).width, 16))) {
      const half = c.measureText(text(ms)).width / 2;
      c.fillText(text(ms), Math.min(width - half, Math.max(this.label + half, across(ms))), 12);
      c.fillRect(across(ms), 15, 1, 5);
    }
    c.textAlign = "left";
    this.rows.forEach((row, i) => { c.fillStyle = ink(i % 2 ? "--back" : "--panel"); c.fillRect(0, 20 + i * this.rowHeight, width, this.rowHeight);
      c.fillStyle = ink("--ink"); c.fillText(row, 4, 34 + i * this.rowHeight, this.label - 10); });
    for (const s of this.slices) {
      if (s.end < left || s.begin > right) continue;
      const a = Math.max(this.label, x(s.begin));
      c.fillStyle = colorOf(this.kinds.indexOf(kindOf(s.name)));
      c.fillRect(a, 22 + s.row * this.rowHeight, Math.max(0.7, Math.min(width, x(s.end)) - a - 0.5), this.rowHeight - 4);
    }
  }
}
