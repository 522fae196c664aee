// The page: a state, the views over it, and one run at a time.
import { trainingScenario } from "./algorithms.js";
import { actOnChoice, clearWrong, showControls } from "./controls.js";
import { byId, copyTo, el } from "./dom.js";
import { download, showDownloads } from "./exports.js";
import { hasFusedMultiplyAdd } from "./fused.js";
import { fromAddress, toAddress } from "./link.js";
import { type Names, setNames } from "./names.js";
import { type Group, PageError, Pool } from "./pool.js";
import { presets } from "./presets.js";
import { rowsOf } from "./results.js";
import { type Run, runOf, showTable } from "./runs.js";
import { announce, clearBoxes, isExpected, measured, showError, shownCharts, showWarnings, status } from "./shown.js";
import { firstState, type Json, type State, type View, views } from "./state.js";
import { isTestbed, opened, testbedFile } from "./testbed.js";
import { numberOf } from "./units.js";

const titles: Record<View, string> = { speedup: "Speedup", bandwidth: "Bandwidth", step: "A step", timeline: "Timeline", math: "Math", diagnose: "Diagnose", training: "Training", table: "Table" };
const pretty = (json: Json): string => JSON.stringify(json, null, 2);

// Changes of these show other controls.
const rebuilding = ["view", "link", "net", "device", "precision", "algorithms", "files"];
const ownHistory = 1500; // ms: changes that follow each other faster are one step back

const copy = (text: string, done: string, refused: string): void =>
  void copyTo(text).then((copied) => status(copied ? done : refused));

class Page {
  readonly pool = new Pool();
  private state = firstState();
  private linked = false; // the state came by a link, and nothing has changed it yet
  private notice = ""; // about the link, until the next change
  private running: Run = this.newRun();
  private scheduled = 0;

  private newRun(group: Group = this.pool.group()): Run {
    return { state: this.state, group, scenario: "", command: "", results: null };
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
      await this.pool.start(hasFusedMultiplyAdd() ? "paceline_fused.wasm" : "paceline.wasm");
      setNames((await this.pool.group().ask({ do: "names" })) as unknown as Names);
      this.show();
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
        announce();
      }
    }
  }

  // Stops the run. What it has drawn so far stays.
  private cancel(): void {
    clearTimeout(this.scheduled);
    this.running.group.cancel();
    document.body.dataset["busy"] = "no";
    status("Cancelled.");
  }

  // A first change runs at once; those that follow while it runs wait for each other, since each would end a worker.
  private soon(): void {
    const wait = document.body.dataset["busy"] === "yes" ? 40 : 0;
    measured.moved = performance.now();
    clearTimeout(this.scheduled);
    document.body.dataset["busy"] = "yes";
    this.scheduled = window.setTimeout(() => void this.run(), wait);
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

  // A step back and a reload have the whole state; a link has what an address holds.
  private restore(): void {
    const read = history.state === null ? fromAddress(location.hash) : { state: { ...firstState(), ...(history.state as State) } };
    if ("problem" in read) return this.firstView(read.problem);
    const { preset } = read.state;
    if (preset !== "") {
      if (!Object.hasOwn(presets, preset)) return this.firstView(`preset should be the name of a shipped scenario, but is ${JSON.stringify(preset)}`);
      read.state.file = { name: `${preset}.json`, text: pretty(presets[preset]!) };
    }
    this.state = read.state;
    this.lastChange = { what: "", at: 0 };
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

  // The address has the state but for files; the history has all of it. A step back undoes what was changed at a time.
  private keepAddress(asStep: boolean): void {
    const address = toAddress(this.state) || location.pathname;
    const write = (state: State | null) => (asStep ? history.pushState(state, "", address) : history.replaceState(state, "", address));
    try {
      write(this.state);
    } catch { // files that are too large for a history; and Safari takes a hundred addresses in thirty seconds
      try { write(null); } catch { /* the next change is kept */ }
    }
  }

  /// Changes the state and runs the view again. Text that is typed into a file's field stays as it is there.
  private change(changes: Partial<State>): void {
    const several = numberOf(this.state.devices) > 1;
    this.apply(changes);
    if (Object.keys(changes).some((key) => rebuilding.includes(key)) || this.shownFile !== this.fileId() || several !== numberOf(this.state.devices) > 1) this.show();
    this.soon();
  }
  private apply(changes: Partial<State>): void {
    const what = Object.keys(changes).join();
    const isStep = what !== this.lastChange.what || performance.now() - this.lastChange.at > ownHistory;
    this.lastChange = { what, at: performance.now() };
    this.state = { ...this.state, ...changes };
    this.linked = false;
    this.notice = "";
    this.keepAddress(isStep);
  }
  private lastChange = { what: "", at: 0 };
  /// A preset or a file in place of the controls, or of the file before it.
  private openScenario(name: string, text: string, trains: boolean, preset = ""): void {
    this.apply({ preset, file: { name, text }, view: trains ? "training" : this.state.view === "training" ? "speedup" : this.state.view });
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
    if (json !== null && Array.isArray(json["layers"])) return this.change({ net: "my net", preset: "", file: null, files: { ...this.state.files, "my-net.json": text } });
    if (isTestbed(json)) return this.openTestbed(file.name, text);
    if (/\.csv$|\.csv\.gz$/.test(file.name)) return this.change({ files: { ...this.state.files, [file.name.replace(/\.gz$/, "")]: text } });
    this.openScenario(file.name, text, trainsIn(json));
  }

  // The file that the open scenario names, or the cluster of the controls.
  private openTestbed(name: string, text: string): void {
    if (this.state.file?.text.includes(JSON.stringify(name))) return this.change({ files: { ...this.state.files, [name]: text } });
    this.change(opened(this.state, text));
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
    actOnChoice(preset, (name) => {
      this.openScenario(`${name}.json`, pretty(presets[name]!), trainsIn(presets[name]!), name);
      preset.value = "";
    });
    byId("share").addEventListener("click", () => {
      this.keepAddress(false); // a link that could not be read is in it until now
      if (toAddress(this.state) === null) return status("This is too long for a link; download the scenario instead.");
      const opened = this.state.preset === "" && this.state.file !== null ? "scenario" : this.state.file === null && testbedFile in this.state.files ? "testbed" : "";
      const without = opened === "" ? "" : ` It leaves out the ${opened} that you opened: send its file, too.`;
      copy(location.href, `The link is copied.${without}`, "The link is the page's address.");
    });
    byId<HTMLInputElement>("open").addEventListener("change", (e) => { const file = (e.target as HTMLInputElement).files?.[0]; if (file) this.openAny(file); });
    byId("theme").addEventListener("click", () => {
      setTheme(isDark() ? "light" : "dark");
      clearBoxes();
      this.soon();
    });
    byId("cancel").addEventListener("click", () => this.cancel());
    byId("skip").addEventListener("click", (e) => { e.preventDefault(); byId("panel").focus(); });
    byId("command").addEventListener("click", () => this.running.command === "" ? status("This view has no command.") :
      copy(this.running.command, "Command copied. It writes scenario.json and prints these numbers.", "Cannot write to the clipboard."));
    byId("downloads").addEventListener("click", (e) => { const kind = (e.target as HTMLElement).dataset["download"]; if (kind) void download(kind, this.running).catch((error) => showError(error, this.state)); });
    byId("controls").addEventListener("submit", (e) => e.preventDefault());
    document.addEventListener("dragover", (e) => { e.preventDefault(); document.body.classList.add("dropping"); });
    document.addEventListener("dragleave", () => document.body.classList.remove("dropping"));
    document.addEventListener("drop", (e) => { e.preventDefault(); document.body.classList.remove("dropping"); for (const file of e.dataTransfer?.files ?? []) this.openAny(file); });
    addEventListener("popstate", () => { this.restore(); this.soon(); });
    addEventListener("error", (e) => this.failed(e.error));
    addEventListener("unhandledrejection", (e) => this.failed(e.reason));
  }
  private openAny(file: File): void {
    void this.open(file).catch((error) => showError(error, this.state));
  }
}

// The theme is kept where the browser lets a page keep anything.
const isDark = (): boolean => {
  const chosen = document.documentElement.dataset["theme"];
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
};
function setTheme(theme: string): void {
  document.documentElement.dataset["theme"] = theme;
  try { localStorage.setItem("theme", theme); } catch { /* it lasts as long as the page */ }
}
try {
  const theme = localStorage.getItem("theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset["theme"] = theme;
} catch { /* the system's theme */ }

const trainsIn = (scenario: Json | null): boolean => "model" in ((scenario?.["workload"] as Json | null | undefined) ?? {});

const page = new Page();
Object.assign(window, { explorer: { measured, pool: page.pool, csv: () => page.csv, scenario: () => page.scenario, charts: shownCharts } });
void page.start();
