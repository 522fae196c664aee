// The form beside the charts: each control with its label, its entry and its error.
import { aggregations, codecs, devices, myNet, nets, offered, schedules } from "./algorithms.js";
import { byId, el } from "./dom.js";
import { Mismatch, mostAlgorithms, mostCharacters, readAlgorithm } from "./link.js";
import { bandwidthText, bitsPerSecond, durationText, fabrics, seconds, type Json, type State } from "./state.js";
import { aggregationOf, earlierAggregation } from "./words.js";

export type Change = (change: Partial<State>) => void;

function field(id: string, label: string, ...inputs: Node[]): HTMLElement {
  return el("div", { class: "field", id: `${id}-field` }, el("label", { for: id }, label), ...inputs,
    el("p", { class: "wrong", id: `${id}-wrong` }));
}

function selected(id: string, values: [string, string][], value: string, change: (value: string) => void): HTMLSelectElement {
  const select = el("select", { id }, ...values.map(([v, text]) => el("option", { value: v }, text)));
  select.value = value;
  select.addEventListener("change", () => change(select.value));
  return select;
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
  least: 0, most: Math.log2(most), step: 1, read: (t) => (Number(t) >= 1 ? Math.log2(Number(t)) : null), text: (p) => String(2 ** p),
});
const linear = (least: number, most: number, step: number): Scale => ({
  least, most, step, read: (t) => (t.trim() === "" || Number.isNaN(Number(t)) ? null : Number(t)), text: (p) => String(p),
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

const pairs = (names: string[]): [string, string][] => names.map((n) => [n, n]);

function myNetForm(state: State, change: Change): HTMLElement {
  const part = (id: string, label: string, value: string) => {
    const input = entry(id, value, () => {});
    return { box: el("div", {}, el("label", { for: id }, label), input), input };
  };
  const parameters = part("parameters", "Parameters (millions)", "25");
  const macs = part("macs", "MACs of a sample (10⁹)", "4");
  const layers = part("layers", "Layers", "50");
  const use = () => {
    const [p, m, l] = [parameters, macs, layers].map((one) => Number(one.input.value)) as [number, number, number];
    if (p > 0 && m >= 0 && Number.isInteger(l) && l >= 1 && l <= 2000) {
      showWrong("net", "");
      change({ files: { ...state.files, "my-net.json": JSON.stringify(myNet(p * 1e6, m * 1e9, l)) } });
    } else showWrong("net", "Parameters and layers must be above 0; at most 2000 layers.");
  };
  for (const one of [parameters, macs, layers]) one.input.addEventListener("change", use);
  return el("fieldset", {}, el("legend", {}, "My net (or drop a profile as JSON)"), parameters.box, macs.box, layers.box);
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
  if (algorithm["kind"] === "sgd") {
    const shown = (setting: unknown): string => (typeof setting === "string" ? setting : "");
    const codec = algorithm["codec"] ?? "none";
    const codecKind = typeof codec === "object" ? (codec as Json)["kind"] : codec;
    const part = (name: string, values: string[], value: string, make: (v: string) => Json) =>
      field(`${name}-${i}`, name, selected(`${name}-${i}`, values.map((v) => [v, v === "" ? "default" : v]), value, (v) => replace(make(v))));
    const without = (...keys: string[]): Json => Object.fromEntries(Object.entries(algorithm).filter(([k]) => !keys.includes(k)));
    const unsaid = without("aggregation", ...earlierAggregation);
    box.append(
      part("codec", codecs, shown(codecKind), (v) => ({ ...without("codec"), label: `SGD, ${v}`, codec: { kind: v } })),
      part("aggregation", aggregations, shown(aggregationOf(algorithm)?.["kind"]), (v) => (v === "" ? unsaid : { ...unsaid, aggregation: { kind: v } })),
      part("schedule", schedules, shown(algorithm["schedule"]), (v) => (v === "" ? without("schedule") : { ...algorithm, schedule: v })));
  }
  const text = el("textarea", { id: `json-${i}`, rows: "4", spellcheck: "false" });
  text.value = JSON.stringify(algorithm);
  text.addEventListener("change", () => {
    try {
      replace(readAlgorithm(JSON.parse(text.value), "this"));
    } catch (error) {
      if (error instanceof SyntaxError) showWrong(`json-${i}`, `This is no JSON: ${error.message}`);
      else if (error instanceof Mismatch) showWrong(`json-${i}`, `This is no algorithm: ${error.message}.`);
      else throw error;
    }
  });
  box.append(field(`json-${i}`, "All settings, as in a scenario", text), remove);
  return box;
}

function algorithmsField(state: State, change: Change): HTMLElement {
  const add = selected("add", [["", "Add an algorithm ..."], ...pairs(offered.map((o) => String(o["label"])))], "", (label) => {
    const one = offered.find((o) => o["label"] === label);
    if (one === undefined) return;
    if (state.algorithms.length >= mostAlgorithms) return void showWrong("algorithms", `The page compares at most ${mostAlgorithms} algorithms.`);
    const taken = state.algorithms.filter((a) => String(a["label"]).startsWith(label)).length;
    change({ algorithms: [...state.algorithms, taken === 0 ? one : { ...one, label: `${label} (${taken + 1})` }] });
  });
  return el("fieldset", { id: "algorithms" }, el("legend", {}, "Algorithms"),
    ...state.algorithms.map((_, i) => algorithmBox(state, i, change)),
    el("label", { for: "add", class: "visually-hidden" }, "Add an algorithm"), add, el("p", { class: "wrong", id: "algorithms-wrong" }));
}

/// Fills the form anew. `change` gets what a control has changed.
export function showControls(form: HTMLElement, state: State, change: Change): void {
  if (state.file !== null || state.view === "training") {
    const own = el("button", { type: "button", id: "own" }, "Back to the controls");
    own.addEventListener("click", () => change({ file: null, view: "speedup" }));
    const text = el("textarea", { id: "text", rows: "24", spellcheck: "false" });
    text.value = state.file?.text ?? "";
    text.addEventListener("input", () => change({ file: { name: state.file?.name ?? "training.json", text: text.value } }));
    form.replaceChildren(field("text", state.file?.name ?? "Scenario", text), own);
    return;
  }
  const devicesOf: [string, string][] = [["step time", "step time"], ...pairs(devices)];
  form.replaceChildren(
    field("net", "Net", selected("net", pairs([...nets, "my net"]), state.net, (net) => change({
      net, ...(net === "my net" && !state.files["my-net.json"] ? { files: { ...state.files, "my-net.json": JSON.stringify(myNet(25e6, 4e9, 50)) } } : {}) }))),
    ...(state.net === "my net" ? [myNetForm(state, change)] : []),
    el("div", { class: "halves" },
      field("device", "Device", selected("device", devicesOf, state.device, (device) => change({ device }))),
      field("batch", "Batch of a device", entry("batch", state.batch, (batch) => change({ batch })))),
    ...(state.device === "step time" ? [field("stepTime", "Gradient of a batch takes", entry("stepTime", state.stepTime, (stepTime) => change({ stepTime })))] : []),
    algorithmsField(state, change),
    slider("bandwidth", "Bandwidth of a link", state.bandwidth, bandwidths, (bandwidth) => change({ bandwidth })),
    slider("second", "Second bandwidth (empty: none)", state.second, bandwidths, (second) => change({ second })),
    slider("latency", "Latency of a link", state.latency, latencies, (latency) => change({ latency })),
    slider("nodes", "Nodes, up to", state.nodes, counts(1024), (nodes) => change({ nodes })),
    slider("devices", "Devices per machine", state.devices, counts(8), (devicesPerNode) => change({ devices: devicesPerNode })),
    field("fabric", "Fabric", selected("fabric", pairs([...fabrics]), state.fabric, (fabric) => change({ fabric: fabric as State["fabric"] }))),
    slider("jitter", "Jitter of compute (log-normal sigma)", state.jitter, linear(0, 1, 0.05), (jitter) => change({ jitter })),
    slider("straggler", "Straggler: times as long, one node a step", state.straggler, linear(1, 10, 0.5), (straggler) => change({ straggler })));
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
