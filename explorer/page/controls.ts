// The form beside the charts: each control with its label, its entry and its error.
import { byKind, myNet, netOf, offered, schedules } from "./algorithms.js";
import { byId, el } from "./dom.js";
import { Mismatch, mostAlgorithms, mostCharacters, readAlgorithm } from "./link.js";
import { keysOf, names } from "./names.js";
import { fabrics, type Json, type State } from "./state.js";
import { hasLatency, removed, testbedOf, testbedPanel } from "./testbed.js";
import { bandwidthText, bitsPerSecond, durationText, numberOf, seconds } from "./units.js";
import { aggregationOf, earlierAggregation } from "./words.js";

export type Change = (change: Partial<State>) => void;

function field(id: string, label: string, ...inputs: Node[]): HTMLElement {
  return el("div", { class: "field", id: `${id}-field` }, el("label", { for: id }, label), ...inputs,
    el("p", { class: "wrong", id: `${id}-wrong`, "aria-live": "polite" }));
}

type Choice = [value: string, text: string];
// Choices under a heading.
type Choices = (Choice | { heading: string; choices: Choice[] })[];

function selected(id: string, values: Choices, value: string, change: (value: string) => void): HTMLSelectElement {
  const option = ([v, text]: Choice) => el("option", { value: v }, text);
  const select = el("select", { id }, ...values.map((one) =>
    Array.isArray(one) ? option(one) : el("optgroup", { label: one.heading }, ...one.choices.map(option))));
  // A link may hold what no list has; the engine judges it.
  if (![...select.options].some((one) => one.value === value)) select.prepend(option([value, value]));
  select.value = value;
  select.addEventListener("change", () => change(select.value));
  return select;
}

/// Lets a list act on what is chosen in it. Arrow keys only move through it; Enter acts.
export function actOnChoice(select: HTMLSelectElement, act: (value: string) => void): void {
  let byKeys = false;
  select.setAttribute("aria-description", "Enter takes the choice");
  select.addEventListener("pointerdown", () => { byKeys = false; });
  select.addEventListener("keydown", (event) => {
    byKeys = event.key !== "Enter";
    if (event.key !== "Enter" || select.value === "") return;
    event.preventDefault();
    act(select.value);
  });
  select.addEventListener("blur", () => { byKeys = false; });
  select.addEventListener("change", () => { if (!byKeys && select.value !== "") act(select.value); });
}

function entry(id: string, value: string, change: (value: string) => void): HTMLInputElement {
  const input = el("input", { id, type: "text", autocomplete: "off", spellcheck: "false", maxlength: String(mostCharacters) });
  input.value = value;
  input.addEventListener("input", () => change(input.value));
  return input;
}

interface Scale {
  least: number; // of the slider, on its scale
  most: number;
  step: number;
  read: (text: string) => number | null; // the place on the slider
  text: (place: number) => string;
}

const bandwidths: Scale = {
  least: 7, most: 11.7, step: 0.01, read: (t) => { const b = bitsPerSecond(t); return b === null ? null : Math.log10(b); },
  text: (place) => bandwidthText(10 ** place),
};
const latencies: Scale = {
  least: -6.1, most: -1, step: 0.01, read: (t) => { const s = seconds(t); return s === null ? null : Math.log10(Math.max(s, 10 ** -6.1)); },
  text: (place) => (place <= -6.1 ? "0s" : durationText(10 ** place)),
};
const counts = (most: number): Scale => ({
  least: 0, most: Math.log2(most), step: 1, read: (t) => (numberOf(t) >= 1 ? Math.log2(numberOf(t)) : null), text: (p) => String(2 ** p),
});
const linear = (least: number, most: number, step: number): Scale => ({
  least, most, step, read: (t) => (Number.isNaN(numberOf(t)) ? null : numberOf(t)), text: (p) => String(p),
});

function slider(id: string, label: string, value: string, scale: Scale, change: (value: string) => void): HTMLElement {
  const range = el("input", { id: `${id}-range`, type: "range", min: String(scale.least), max: String(scale.most), step: String(scale.step), "aria-label": `${label}, slider` });
  const place = (text: string) => { const at = scale.read(text); if (at !== null) range.value = String(at); range.setAttribute("aria-valuetext", text); };
  const typed = entry(id, value, (text) => { place(text); change(text); });
  place(value);
  range.addEventListener("input", () => {
    typed.value = scale.text(Number(range.value));
    range.setAttribute("aria-valuetext", typed.value);
    change(typed.value);
  });
  return field(id, label, el("div", { class: "pair" }, range, typed));
}

const pairs = (values: string[]): Choice[] => values.map((n) => [n, n]);

function myNetForm(state: State, change: Change): HTMLElement {
  const part = (id: string, label: string, value: string) => {
    const input = entry(id, value, () => {});
    return { box: el("div", {}, el("label", { for: id }, label), input), input };
  };
  const loaded = netOf(state.files["my-net.json"] ?? "");
  const inMillions = (value: number, unit: number): string => String(Number((value / unit).toPrecision(6)));
  const parameters = part("parameters", "Parameters (millions)", inMillions(loaded?.parameters ?? 0, 1e6));
  const macs = part("macs", "MACs per sample (10⁹)", inMillions(loaded?.macs ?? 0, 1e9));
  const layers = part("layers", "Layers", String(loaded?.layers ?? 0));
  const use = () => {
    const [p, m, l] = [parameters, macs, layers].map((one) => numberOf(one.input.value)) as [number, number, number];
    if (p > 0 && m >= 0 && Number.isInteger(l) && l >= 1 && l <= 2000) {
      showWrong("net", "");
      change({ files: { ...state.files, "my-net.json": JSON.stringify(myNet(p * 1e6, m * 1e9, l)) } });
    } else showWrong("net", "Parameters and layers must be above 0; at most 2000 layers.");
  };
  for (const one of [parameters, macs, layers]) one.input.addEventListener("change", use);
  return el("fieldset", {}, el("legend", {}, loaded === null || loaded.name === "my-net" ? "My net (or drop a profile as JSON)" : `My net: ${loaded.name}, as loaded`), parameters.box, macs.box, layers.box);
}

function algorithmBox(state: State, i: number, change: Change): HTMLElement {
  const algorithm = state.algorithms[i]!;
  const replace = (one: Json) => change({ algorithms: state.algorithms.map((old, k) => (k === i ? one : old)) });
  const box = el("details", { class: "algorithm" });
  const swatch = el("span", { class: "swatch" });
  swatch.style.background = `var(--c${i % 7})`;
  const remove = el("button", { type: "button", "aria-label": `Remove ${algorithm["label"]}` }, "Remove");
  remove.addEventListener("click", () => change({ algorithms: state.algorithms.filter((_, k) => k !== i) }));
  box.append(el("summary", {}, swatch, String(algorithm["label"])));
  box.append(...settingsOf(algorithm, i, replace));
  const text = el("textarea", { id: `json-${i}`, rows: "4", spellcheck: "false" });
  text.value = JSON.stringify(algorithm);
  text.addEventListener("change", () => {
    try {
      replace(readAlgorithm(JSON.parse(text.value), "this"));
    } catch (error) {
      if (error instanceof SyntaxError) showWrong(`json-${i}`, `This is no JSON: ${error.message}`);
      else if (error instanceof Mismatch) showWrong(`json-${i}`, `This is not an algorithm: ${error.message}.`);
      else throw error;
    }
  });
  box.append(field(`json-${i}`, "All settings, as in a scenario", text), remove);
  return box;
}

// Controls for the settings that most methods have: those that the engine takes for this one.
function settingsOf(algorithm: Json, i: number, replace: (one: Json) => void): HTMLElement[] {
  const keys = keysOf(algorithm["kind"]);
  const shown = (setting: unknown): string => (typeof setting === "string" || typeof setting === "number" ? String(setting) : "");
  const kindOf = (setting: unknown): unknown => (typeof setting === "object" && setting !== null ? (setting as Json)["kind"] : setting);
  const without = (...gone: string[]): Json => Object.fromEntries(Object.entries(algorithm).filter(([key]) => !gone.includes(key)));
  const put = (key: string, value: unknown, ...gone: string[]): void => replace(value === "" ? without(key, ...gone) : { ...without(key, ...gone), [key]: value });
  const part = (name: string, values: string[], value: string, make: (v: string) => void) =>
    field(`${name}-${i}`, name, selected(`${name}-${i}`, values.map((v): Choice => [v, v === "" ? "default" : v]), value, make));
  const withDefault = (list: { name: string }[]): string[] => ["", ...list.map((one) => one.name)];
  const made: HTMLElement[] = [];
  if (keys.includes("codec") && algorithm["kind"] !== "dgc")
    made.push(part("codec", withDefault(names.codecs), shown(kindOf(algorithm["codec"])), (v) =>
      (algorithm["kind"] === "sgd" && v !== "" ? replace({ ...without("codec"), label: `SGD, ${v}`, codec: { kind: v } }) : put("codec", v === "" ? "" : { kind: v }))));
  if (keys.includes("aggregation"))
    made.push(part("aggregation", withDefault(names.aggregations), shown(aggregationOf(algorithm)?.["kind"]), (v) => put("aggregation", v === "" ? "" : { kind: v }, ...earlierAggregation)));
  if (keys.includes("schedule")) made.push(part("schedule", schedules, shown(algorithm["schedule"]), (v) => put("schedule", v)));
  if (keys.includes("mixing")) made.push(part("mixing", withDefault(names.mixings), shown(kindOf(algorithm["mixing"])), (v) => put("mixing", v === "" ? "" : { kind: v })));
  if (keys.includes("stage")) made.push(part("stage", ["", "1", "2", "3"], shown(algorithm["stage"]), (v) => put("stage", v === "" ? "" : Number(v))));
  if (keys.includes("period")) {
    const period = entry(`period-${i}`, shown(algorithm["period"]), () => {});
    period.placeholder = "default";
    period.addEventListener("change", () => put("period", period.value.trim() === "" ? "" : Number.isNaN(numberOf(period.value)) ? period.value : numberOf(period.value)));
    made.push(field(`period-${i}`, "period (steps)", period));
  }
  return made;
}

function algorithmsField(state: State, change: Change): HTMLElement {
  const known = names.algorithms.map(({ family, algorithms }) => ({ heading: family, choices: algorithms.map((one): Choice => [`kind ${one.name}`, one.name]) }));
  const usual = { heading: "with settings", choices: offered.map((one): Choice => [String(one["label"]), String(one["label"])]) };
  const add = selected("add", [["", "Add an algorithm ..."], usual, ...known], "", () => {});
  actOnChoice(add, (value) => {
    const one = offered.find((o) => o["label"] === value) ?? byKind(value.replace(/^kind /, ""));
    if (state.algorithms.length >= mostAlgorithms) return void showWrong("algorithms", `The page compares at most ${mostAlgorithms} algorithms.`);
    const label = String(one["label"]);
    const taken = state.algorithms.filter((a) => String(a["label"]).startsWith(label)).length;
    change({ algorithms: [...state.algorithms, taken === 0 ? one : { ...one, label: `${label} (${taken + 1})` }] });
  });
  return el("fieldset", { id: "algorithms" }, el("legend", {}, "Algorithms"),
    ...state.algorithms.map((_, i) => algorithmBox(state, i, change)),
    el("label", { for: "add", class: "visually-hidden" }, "Add an algorithm"), add, el("p", { class: "wrong", id: "algorithms-wrong", "aria-live": "polite" }));
}

/// Fills the form anew. `change` gets what a control has changed.
export function showControls(form: HTMLElement, state: State, change: Change): void {
  if (state.file !== null || state.view === "training") {
    const own = el("button", { type: "button", id: "own" }, "Back to the controls");
    own.addEventListener("click", () => change({ file: null, preset: "", view: "speedup" }));
    const text = el("textarea", { id: "text", rows: "24", spellcheck: "false" });
    text.value = state.file?.text ?? "";
    text.addEventListener("input", () => change({ preset: "", file: { name: state.file?.name ?? "training.json", text: text.value } }));
    form.replaceChildren(...measuredFields(state, change), field("text", state.file?.name ?? "Scenario", text), own);
    return;
  }
  const testbed = testbedOf(state);
  form.replaceChildren(
    ...measuredFields(state, change),
    netField(state, change),
    ...(state.net === "my net" ? [myNetForm(state, change)] : []),
    ...deviceFields(state, change),
    algorithmsField(state, change),
    field("wire", "Numbers on the wire", selected("wire", [["", "as each algorithm sets them"], ...pairs(["fp32", "fp16", "bf16"])], state.wire, (wire) => change({ wire }))),
    testbed === null ? linkField(state, change) : testbedPanel(testbed, () => change(removed(state))),
    slider("bandwidth", "Bandwidth of a link", state.bandwidth, bandwidths, (bandwidth) => change({ bandwidth })),
    slider("second", "Second bandwidth (empty: none)", state.second, bandwidths, (second) => change({ second })),
    ...((testbed === null ? state.link === "" : hasLatency(testbed)) ? [slider("latency", "Latency of a link", state.latency, latencies, (latency) => change({ latency }))] : []),
    slider("nodes", "Nodes, up to", state.nodes, counts(1024), (nodes) => change({ nodes })),
    ...(testbed === null ? [...machineFields(state, change), fabricField(state, change)] : []),
    slider("target", "Efficiency to reach (%)", state.target, linear(10, 100, 1), (target) => change({ target })),
    el("div", { class: "halves" },
      field("samples", "Samples to train", entry("samples", state.samples, (samples) => change({ samples }))),
      field("memory", "Memory of a device (GB)", entry("memory", state.memory, (memory) => change({ memory })))),
    field("intervals", "90 % prediction intervals", selected("intervals", [["", "on a testbed"], ["yes", "always"], ["no", "never"]], state.intervals, (intervals) => change({ intervals }))),
    slider("jitter", "Jitter of compute (log-normal sigma)", state.jitter, linear(0, 1, 0.05), (jitter) => change({ jitter })),
    slider("straggler", "Straggler: slowdown factor, one node per step", state.straggler, linear(1, 10, 0.5), (straggler) => change({ straggler })));
}

// What was measured, which one view asks about.
function measuredFields(state: State, change: Change): HTMLElement[] {
  if (state.view !== "diagnose") return [];
  return [el("div", { class: "halves" },
    field("measuredOne", "Measured: a step on one node", entry("measuredOne", state.measuredOne, (measuredOne) => change({ measuredOne }))),
    field("measuredAll", "Measured: a step on all nodes", entry("measuredAll", state.measuredAll, (measuredAll) => change({ measuredAll }))))];
}

const fabricField = (state: State, change: Change): HTMLElement =>
  field("fabric", "Fabric", selected("fabric", pairs([...fabrics]), state.fabric, (fabric) => change({ fabric: fabric as State["fabric"] })));

// A preset has a latency and a share of payload of its own; its bandwidth goes into the control, where it may be changed.
function linkField(state: State, change: Change): HTMLElement {
  const presets = names.links.map((link): Choice => [link.name, `${link.name}, ${link.bandwidth}`]);
  return field("link", "Link", selected("link", [["", "by its figures"], ...presets], state.link, (link) => {
    const preset = names.links.find((one) => one.name === link);
    change({ link, ...(preset === undefined ? {} : { bandwidth: preset.bandwidth, second: "" }) });
  }));
}

function netField(state: State, change: Change): HTMLElement {
  const millions = (n: number): string => (n >= 1e9 ? `${Number((n / 1e9).toPrecision(3))} B` : `${Number((n / 1e6).toPrecision(3))} M`);
  const nets = names.profiles.map((net): Choice => [net.name, `${net.name} (${millions(net.parameters)})`]);
  return field("net", "Net", selected("net", [...nets, ["my net", "my net"]], state.net, (net) => change({
    net, ...(net === "my net" && !state.files["my-net.json"] ? { files: { ...state.files, "my-net.json": JSON.stringify(myNet(25e6, 4e9, 50)) } } : {}) })));
}

const usualEfficiency = "40";

// A device was measured with the net, or is estimated by its peak.
function deviceFields(state: State, change: Change): HTMLElement[] {
  const measured = (names.profiles.find((net) => net.name === state.net)?.measured ?? []).filter((row) => row.precision === state.precision);
  const withNet = [...new Set(measured.map((row) => row.device))];
  const withPeak = names.devices.filter((one) => one.peak_flops[state.precision] !== undefined).map((one) => one.name);
  const estimated = state.efficiency.trim() !== "";
  const choices: Choices = [["step time", "step time"], { heading: `measured with ${state.net}`, choices: pairs(withNet) },
    { heading: "estimated by its peak", choices: withPeak.map((name): Choice => [`${name} estimated`, `${name}, estimated`]) }];
  const value = state.device === "step time" || !estimated ? state.device : `${state.device} estimated`;
  const choose = (chosen: string): void => {
    const device = chosen.replace(/ estimated$/, "");
    if (device !== chosen) return change({ device, efficiency: estimated ? state.efficiency : usualEfficiency });
    const batches = measured.filter((row) => row.device === device).map((row) => row.batch);
    const batch = batches.length === 0 || batches.includes(null) || batches.includes(numberOf(state.batch)) ? state.batch : String(batches[0]);
    change({ device, efficiency: "", batch });
  };
  return [
    el("div", { class: "halves" },
      field("device", "Device", selected("device", choices, value, choose)),
      field("batch", "Batch per device", entry("batch", state.batch, (batch) => change({ batch })))),
    ...(state.device === "step time" ? [field("stepTime", "Gradient of a batch takes", entry("stepTime", state.stepTime, (stepTime) => change({ stepTime })))] : [
      el("div", { class: "halves" },
        field("precision", "Precision", selected("precision", pairs(["fp32", "tf32", "fp16", "bf16"]), state.precision, (precision) => change({ precision }))),
        ...(estimated ? [field("efficiency", "Estimate at (% of peak)", entry("efficiency", state.efficiency, (efficiency) => change({ efficiency })))] : []))]),
  ];
}

function machineFields(state: State, change: Change): HTMLElement[] {
  const devices = slider("devices", "Devices per machine", state.devices, counts(8), (devicesPerNode) => change({ devices: devicesPerNode }));
  if (!(numberOf(state.devices) > 1)) return [devices];
  const fast = names.links.filter((link) => (bitsPerSecond(link.bandwidth) ?? 0) >= 1e11).map((link) => el("option", { value: link.name }, link.bandwidth));
  const bus = entry("bus", state.bus, (one) => change({ bus: one }));
  bus.setAttribute("list", "buses");
  return [devices, el("div", { class: "halves" },
    field("bus", "Bus (preset or bandwidth)", bus, el("datalist", { id: "buses" }, ...fast)),
    field("cards", "Network cards", entry("cards", state.cards, (cards) => change({ cards }))))];
}

/// Shows an error beside a control; an empty text removes it. Returns false if there is no such control.
export function showWrong(control: string, text: string): boolean {
  const place = document.getElementById(`${control}-wrong`);
  if (place === null) return false;
  place.textContent = text;
  const input = document.getElementById(control);
  if (text === "") input?.removeAttribute("aria-invalid");
  else if (input instanceof HTMLInputElement || input instanceof HTMLSelectElement || input instanceof HTMLTextAreaElement) {
    input.setAttribute("aria-invalid", "true");
    input.setAttribute("aria-describedby", `${control}-wrong`);
  }
  return true;
}

export function clearWrong(): void {
  for (const place of byId("controls").querySelectorAll<HTMLElement>(".wrong")) showWrong(place.id.replace(/-wrong$/, ""), "");
}
