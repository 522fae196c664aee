// The page: a state, the views over it, and one run at a time.
import { trainingScenario } from "./algorithms.js";
import { clearWrong, showControls } from "./controls.js";
import { byId, el } from "./dom.js";
import { download, showDownloads } from "./exports.js";
import { fromAddress, toAddress } from "./link.js";
import { type Group, PageError, Pool } from "./pool.js";
import { presets } from "./presets.js";
import { rowsOf } from "./results.js";
import { type Run, runOf, showTable } from "./runs.js";
import { clearBoxes, isExpected, measured, showError, showWarnings, status } from "./shown.js";
import { firstState, type Json, type State, type View, views } from "./state.js";

const titles: Record<View, string> = { speedup: "Speedup", bandwidth: "Bandwidth", step: "A step", timeline: "Timeline", math: "Math", training: "Training", table: "Table" };
const pretty = (json: Json): string => JSON.stringify(json, null, 2);

class Page {
  readonly pool = new Pool();
  private state = firstState();
  private linked = false; // the state came by a link, and nothing has changed it yet
  private notice = ""; // about the link, until the next change
  private running: Run = this.newRun();
  private scheduled = 0;

  private newRun(group: Group = this.pool.group()): Run {
    return { state: this.state, group, scenario: "", results: null };
  }
  get scenario(): string {
    return this.running.scenario;
  }
  get csv(): string {
    return this.running.results?.csv() ?? "";
  }

  async start(): Promise<void> {
    this.listen();
    this.restore();
    try {
      await this.pool.start("paceline.wasm");
    } catch (error) {
      return showError(error, this.state);
    }
    await this.run();
  }

  private async run(): Promise<void> {
    this.running.group.cancel();
    const mine = this.running = this.newRun();
    ++measured.runs;
    clearWrong();
    byId("message").textContent = this.notice;
    showWarnings([]);
    document.body.dataset["busy"] = "yes";
    try {
      status("running ...");
      await runOf[mine.state.view](mine);
    } catch (error) {
      if (mine !== this.running) return;
      if (this.linked && !isExpected(error)) this.fallBack(error);
      else showError(error, this.state);
    } finally {
      if (mine === this.running) {
        showDownloads(mine);
        document.body.dataset["busy"] = "no";
      }
    }
  }

  private soon(): void {
    measured.moved = performance.now();
    clearTimeout(this.scheduled);
    document.body.dataset["busy"] = "yes";
    this.scheduled = window.setTimeout(() => void this.run(), 40);
  }

  // In place of a link that cannot be shown.
  private firstView(problem: string): void {
    this.state = firstState();
    this.linked = false;
    this.notice = `The link could not be read, so this is the first view: ${problem}.`;
    this.show();
  }

  // The last resort: a link was read, and the page fails at it.
  private fallBack(error: unknown): void {
    console.error(error);
    this.running.group.cancel();
    this.running = this.newRun();
    clearBoxes();
    this.firstView(`the page failed at it (${String(error).replace(/\s+/g, " ").slice(0, 200)})`);
    this.soon();
  }

  private restore(): void {
    const read = fromAddress(location.hash);
    if ("problem" in read) return this.firstView(read.problem);
    this.state = read.state;
    this.linked = location.hash.length > 1;
    this.notice = "";
    try {
      this.show();
    } catch (error) {
      if (!this.linked) throw error;
      this.fallBack(error);
    }
  }

  // What fails outside of a run: where charts are drawn later, or in a listener.
  private failed(error: unknown): void {
    if (this.linked && error instanceof Error && !isExpected(error)) this.fallBack(error);
  }

  private keepAddress(): void {
    try {
      history.replaceState(null, "", toAddress(this.state) || location.pathname);
    } catch { /* Safari takes a hundred addresses in thirty seconds; the next change is kept */ }
  }

  /// Changes the state and runs the view again. Text that is typed into a file's field stays as it is there.
  private change(changes: Partial<State>): void {
    this.apply(changes);
    if (Object.keys(changes).some((key) => ["view", "net", "device", "algorithms", "files"].includes(key)) || this.shownFile !== this.fileId()) this.show();
    this.soon();
  }
  private apply(changes: Partial<State>): void {
    this.state = { ...this.state, ...changes };
    this.linked = false;
    this.notice = "";
    this.keepAddress();
  }
  /// A preset or a file in place of the controls, or of the file before it.
  private openScenario(name: string, text: string, trains: boolean): void {
    this.apply({ file: { name, text }, view: trains ? "training" : this.state.view === "training" ? "speedup" : this.state.view });
    this.show();
    this.soon();
  }

  private shownFile = ""; // of the field that is shown
  private fileId = (): string => this.state.file?.name ?? (this.state.view === "training" ? "training.json" : "");

  private show(): void {
    const { state } = this;
    this.shownFile = this.fileId();
    byId("views").replaceChildren(...views.map((view) => this.tab(view)));
    byId("panel").setAttribute("aria-labelledby", `tab-${state.view}`);
    const focused = document.activeElement?.id ?? "";
    const shown = state.view === "training" && state.file === null ? { ...state, file: { name: "training.json", text: pretty(trainingScenario()) } } : state;
    showControls(byId("controls"), shown, (changes) => this.change(changes));
    if (focused !== "") document.getElementById(focused)?.focus();
  }

  private tab(view: View): HTMLElement {
    const chosen = view === this.state.view;
    const tab = el("button", { type: "button", role: "tab", id: `tab-${view}`, "aria-selected": String(chosen), "aria-controls": "panel", tabindex: chosen ? "0" : "-1" }, titles[view]);
    tab.addEventListener("click", () => this.change({ view }));
    tab.addEventListener("keydown", (e) => {
      const step = e.key === "ArrowRight" ? 1 : e.key === "ArrowLeft" ? -1 : 0;
      if (step === 0) return;
      this.change({ view: views[(views.indexOf(view) + step + views.length) % views.length]! });
      byId(`tab-${this.state.view}`).focus();
    });
    return tab;
  }

  private async open(file: File): Promise<void> {
    if (file.size > 64 * 2 ** 20) return showError(new PageError(`${file.name} has more than 64 MiB.`), this.state);
    const packed = file.name.endsWith(".gz") ? file.stream().pipeThrough(new DecompressionStream("gzip")) : null;
    const text = packed ? await new Response(packed).text() : await file.text();
    if (/\.csv$/.test(file.name) && /^point,/.test(text)) return this.showCsv(file.name, text);
    let json: Json | null = null;
    try { json = JSON.parse(text) as Json; } catch { /* the engine says what is wrong, with line and column */ }
    if (json !== null && Array.isArray(json["layers"])) return this.change({ net: "my net", file: null, files: { ...this.state.files, "my-net.json": text } });
    if (/\.csv$|\.csv\.gz$/.test(file.name)) return this.change({ files: { ...this.state.files, [file.name.replace(/\.gz$/, "")]: text } });
    this.openScenario(file.name, text, trainsIn(json));
  }

  private showCsv(name: string, text: string): void {
    const rows = rowsOf(text);
    this.running.group.cancel();
    byId("message").textContent = "";
    const columns = Object.keys(rows[0] ?? {});
    const paths = columns.slice(1, columns.indexOf("algorithm"));
    showTable({ title: name, axes: paths.map((path) => ({ path, names: [] })), points: [], trains: false }, rows);
    status(`${name}: ${rows.length} rows`);
    // What the run before it found is not what is shown.
    this.running = this.newRun();
    showDownloads(this.running);
    document.body.dataset["busy"] = "no";
  }

  private listen(): void {
    const preset = byId<HTMLSelectElement>("preset");
    preset.append(el("option", { value: "" }, "Presets ..."), ...Object.keys(presets).map((name) => el("option", { value: name }, name)));
    preset.addEventListener("change", () => {
      const chosen = presets[preset.value];
      if (chosen === undefined) return;
      this.openScenario(`${preset.value}.json`, pretty(chosen), trainsIn(chosen));
      preset.value = "";
    });
    byId("share").addEventListener("click", () => {
      this.keepAddress(); // a link that could not be read is in it until now
      void navigator.clipboard?.writeText(location.href).then(() => status("The link is copied."), () => status(`The link is the page's address.`));
    });
    byId<HTMLInputElement>("open").addEventListener("change", (e) => { const file = (e.target as HTMLInputElement).files?.[0]; if (file) this.openAny(file); });
    byId("theme").addEventListener("click", () => {
      const root = document.documentElement;
      const isDark = root.dataset["theme"] ? root.dataset["theme"] === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
      root.dataset["theme"] = isDark ? "light" : "dark";
      clearBoxes();
      this.soon();
    });
    byId("downloads").addEventListener("click", (e) => { const kind = (e.target as HTMLElement).dataset["download"]; if (kind) void download(kind, this.running).catch((error) => showError(error, this.state)); });
    byId("controls").addEventListener("submit", (e) => e.preventDefault());
    document.addEventListener("dragover", (e) => { e.preventDefault(); document.body.classList.add("dropping"); });
    document.addEventListener("dragleave", () => document.body.classList.remove("dropping"));
    document.addEventListener("drop", (e) => { e.preventDefault(); document.body.classList.remove("dropping"); for (const file of e.dataTransfer?.files ?? []) this.openAny(file); });
    addEventListener("hashchange", () => { this.restore(); this.soon(); });
    addEventListener("error", (e) => this.failed(e.error));
    addEventListener("unhandledrejection", (e) => this.failed(e.reason));
  }
  private openAny(file: File): void {
    void this.open(file).catch((error) => showError(error, this.state));
  }
}

const trainsIn = (scenario: Json | null): boolean => "model" in ((scenario?.["workload"] as Json | null | undefined) ?? {});

const page = new Page();
Object.assign(window, { explorer: { measured, pool: page.pool, csv: () => page.csv, scenario: () => page.scenario } });
void page.start();
