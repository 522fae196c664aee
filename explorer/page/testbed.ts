// A file that `paceline calibrate` has written: its cluster in place of the page's, and what is known of its constants.
import { el, table } from "./dom.js";
import { names } from "./names.js";
import { PageError } from "./pool.js";
import type { Json, State } from "./state.js";

/// The name of the page's testbed among the files of a state, and in its scenarios.
export const testbedFile = "testbed.json";

type Written = string | number;
export interface Constant { path: string; value: Written; low: Written; high: Written; low_is_open: boolean; high_is_open: boolean }
interface Row { row: string; column: string; measured: number; before: number | null; fitted: number; misfit: boolean }
interface Open { constants: { path: string }[]; measure: { what: string } | null }
export interface Testbed { title: string; date: string; level: number; constants: Constant[]; rows: Row[]; open: Open[]; cluster: Json; workload: Json }

const objectIn = (json: unknown): Json => (typeof json === "object" && json !== null && !Array.isArray(json) ? json as Json : {});
const objectsIn = (json: unknown): Json[] => (Array.isArray(json) ? json.map(objectIn) : []);
const textOf = (json: unknown): string => (typeof json === "string" ? json : "");
const writtenOf = (json: unknown): Written => (typeof json === "number" ? json : textOf(json));

/// Returns whether a file that was opened is a testbed.
export const isTestbed = (json: Json | null): boolean => json !== null && Array.isArray(json["constants"]) && "cluster" in json && !("algorithm" in json);

function testbedIn(json: Json): Testbed {
  const constantOf = (one: Json): Constant => ({
    path: textOf(one["path"]), value: writtenOf(one["value"]), low: writtenOf(one["low"]), high: writtenOf(one["high"]),
    low_is_open: one["low_is_open"] === true, high_is_open: one["high_is_open"] === true });
  const rowOf = (one: Json): Row => ({
    row: textOf(one["row"]), column: textOf(one["column"]), measured: Number(one["measured"]), before: typeof one["before"] === "number" ? one["before"] : null,
    fitted: Number(one["fitted"]), misfit: one["misfit"] === true });
  const openOf = (one: Json): Open => ({
    constants: objectsIn(one["constants"]).map((share) => ({ path: textOf(share["path"]) })),
    measure: "what" in objectIn(one["measure"]) ? { what: textOf(objectIn(one["measure"])["what"]) } : null });
  return {
    title: textOf(json["title"]), date: textOf(json["date"]), level: typeof json["level"] === "number" ? json["level"] : 0.9,
    constants: objectsIn(json["constants"]).map(constantOf), rows: objectsIn(json["rows"]).map(rowOf), open: objectsIn(json["open"]).map(openOf),
    cluster: objectIn(json["cluster"]), workload: objectIn(json["workload"]) };
}

let last: { text: string; testbed: Testbed | null } = { text: "", testbed: null };

/// Returns the testbed of a state; null if it has none.
export function testbedOf(state: State): Testbed | null {
  const text = state.files[testbedFile] ?? "";
  if (text === last.text) return last.testbed;
  let testbed: Testbed | null = null;
  try { testbed = testbedIn(objectIn(JSON.parse(text))); } catch { /* a state of a link may hold anything */ }
  last = { text, testbed };
  return testbed;
}

const linkOf = (testbed: Testbed): Json => objectIn(objectIn(testbed.cluster["fabric"])["link"]);
/// Returns whether the link of a testbed has a latency of its own, which the control changes.
export const hasLatency = (testbed: Testbed): boolean => textOf(linkOf(testbed)["latency"]) !== "";
// How the testbed says how long a gradient takes.
const timeKeys = ["gradient_time", "step_time"];
export const timeKeyOf = (testbed: Testbed): string | undefined => timeKeys.find((key) => key in testbed.workload);

/// Returns what a testbed that is opened changes: controls get its values. Throws PageError if its cluster has no link
/// that the sliders could move.
export function opened(state: State, text: string): Partial<State> {
  const testbed = testbedIn(objectIn(JSON.parse(text)));
  const { cluster, workload } = testbed;
  const link = linkOf(testbed);
  const bandwidth = textOf(link["bandwidth"]) || names.links.find((one) => one.name === link["preset"])?.bandwidth || "";
  if (bandwidth === "") throw new PageError("This testbed has no cluster.fabric.link with a bandwidth, which the page varies. Open a scenario that names it.");
  const nodes = cluster["nodes"];
  const time = textOf(workload[timeKeyOf(testbed) ?? ""]);
  return {
    preset: "", file: null, view: state.view === "training" ? "speedup" : state.view, link: "", bandwidth, second: "",
    latency: textOf(link["latency"]) || "0s", devices: String(cluster["devices_per_node"] ?? 1), files: { ...state.files, [testbedFile]: text },
    ...(typeof nodes === "number" && nodes >= 2 && nodes <= 4096 ? { nodes: String(nodes) } : {}),
    ...(time === "" ? {} : { device: "step time", stepTime: time }),
  };
}

/// Returns what removes the testbed.
export function removed(state: State): Partial<State> {
  const { [testbedFile]: _, ...files } = state.files;
  return { files, devices: "1" };
}

/// Returns the workload of the controls, without what the testbed says of times that it does not take.
export function onTestbed(testbed: Testbed, workload: Json): Json {
  const gone = [...timeKeys, ...("device" in workload ? [] : ["efficiency"])].filter((key) => key in testbed.workload && !(key in workload));
  return { ...workload, ...Object.fromEntries(gone.map((key) => [key, null])) };
}

// "6.76595Gbps" is 6.77Gbps for people.
const shown = (value: Written): string => String(value).replace(/^[0-9.e+-]+/, (number) => String(Number(Number(number).toPrecision(3))));
const nameOf = (path: string): string => path.split(".").slice(-2).join(" ");

function interval(one: Constant, level: number): string {
  if (one.low_is_open && one.high_is_open) return "left open by the rows";
  if (one.low_is_open) return `at most ${shown(one.high)}`;
  if (one.high_is_open) return `at least ${shown(one.low)}`;
  return `${Number((level * 100).toPrecision(3))} %: ${shown(one.low)} to ${shown(one.high)}`;
}

function medianError(rows: Row[], of: (row: Row) => number | null): string {
  const errors = rows.flatMap((row) => { const value = of(row); return value === null ? [] : [Math.abs(value / row.measured - 1) * 100]; }).sort((a, b) => a - b);
  const [low, high] = [errors[Math.floor((errors.length - 1) / 2)], errors[Math.floor(errors.length / 2)]];
  return low === undefined || high === undefined ? "unknown" : `${Number(((low + high) / 2).toPrecision(3))}\u00a0%`;
}

/// Returns the panel of a testbed, in place of the controls of a cluster.
export function testbedPanel(testbed: Testbed, remove: () => void): HTMLElement {
  const constants = testbed.constants.map((one) => el("li", { title: one.path }, el("b", {}, `${nameOf(one.path)} ${shown(one.value)}`), `, ${interval(one, testbed.level)}`));
  const open = testbed.open.map(({ constants: apart, measure }) => el("p", { class: "open" },
    `The rows do not tell ${apart.map(({ path }) => nameOf(path)).join(" and ")}${apart.length > 1 ? " apart" : ""}.${measure === null ? "" : ` ${measure.what.charAt(0).toUpperCase()}${measure.what.slice(1)} would.`}`));
  const number = (value: number | null): string => (value === null ? "" : String(Number(value.toPrecision(3))));
  const rows = table(["row", "column", "measured", "before", "fitted"], testbed.rows.map((row) => [
    row.misfit ? `${row.row} (nothing explains it)` : row.row, row.column, number(row.measured), number(row.before), number(row.fitted)]));
  const button = el("button", { type: "button", id: "no-testbed", class: "small" }, "Back to a cluster of your own");
  button.addEventListener("click", remove);
  return el("fieldset", { id: "testbed" }, el("legend", {}, testbed.title === "" ? "Testbed" : `Testbed, ${testbed.title}`),
    el("ul", { class: "facts" }, ...constants), ...open,
    el("details", { class: "algorithm" }, el("summary", {}, `${testbed.rows.length} rows${testbed.date === "" ? "" : ` of ${testbed.date}`}: median error ${medianError(testbed.rows, (row) => row.before)} before, ${medianError(testbed.rows, (row) => row.fitted)} fitted`), rows), button);
}
