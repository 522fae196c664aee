// The state in the page's address, and back. An address may hold anything: what is read here is a whole State, or there
// is a reason why not.
//
//   #<the keys that differ from the first view, as JSON, percent-encoded>
//
// Files that were opened stay out of it: they are in the history's state (main.ts). A link of earlier pages may hold them.
import { fabrics, firstState, type Json, type State, views } from "./state.js";

/// The longest entry, label or name. Entries are not longer, so that each link of the page can be read again.
export const mostCharacters = 255;
export const mostAlgorithms = 32;
const mostLevels = 32; // of lists and objects in an algorithm; the engine takes as many in a scenario

/// JSON is not what is looked for. The message is a clause: what should be where, and what is there.
export class Mismatch extends Error {}

// Returns what the JSON says, or throws Mismatch. `at` is its place.
type Reader<T> = (json: unknown, at: string) => T;

const quoted = (text: string): string => JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}...` : text);
const inside = (at: string, key: string): string => (/^[A-Za-z_]\w{0,39}$/.test(key) ? `${at}.${key}` : `${at}[${quoted(key)}]`);

function described(json: unknown): string {
  if (json === undefined) return "missing";
  if (typeof json === "string") return json.length > 40 ? `a text of ${json.length}` : quoted(json);
  if (Array.isArray(json)) return `a list of ${json.length}`;
  if (typeof json === "number") return `the number ${json}`;
  return typeof json === "object" && json !== null ? "an object" : String(json);
}

const wrong = (at: string, what: string): Mismatch => new Mismatch(`${at.length > 60 ? `${at.slice(0, 60)}...` : at} ${what}`);
const mismatch = (at: string, looked: string, found: unknown): Mismatch => wrong(at, `should be ${looked}, but is ${described(found)}`);

// Half a surrogate pair has no UTF-8, which the engine reads.
function checkUnicode(text: string, at: string): void {
  if (/\p{Surrogate}/u.test(text)) throw wrong(at, "should be Unicode text, but has half a surrogate pair");
}

function objectAt(json: unknown, at: string, looked = "an object"): Json {
  if (typeof json !== "object" || json === null || Array.isArray(json)) throw mismatch(at, looked, json);
  return json as Json;
}

function text(most = Number.POSITIVE_INFINITY): Reader<string> {
  return (json, at) => {
    if (typeof json !== "string") throw mismatch(at, "text", json);
    if (json.length > most) throw wrong(at, `should have at most ${most} characters, but has ${json.length}`);
    checkUnicode(json, at);
    return json;
  };
}

function oneOf<T extends string>(names: readonly T[], looked = `one of ${names.join(", ")}`): Reader<T> {
  return (json, at) => {
    if (!names.includes(json as T)) throw mismatch(at, looked, json);
    return json as T;
  };
}

// The engine judges settings. What never reaches it whole is refused here: JSON has no infinity, and recursion a limit.
function checkSettings(json: unknown, at: string, levels: number): void {
  if (typeof json === "number" && !Number.isFinite(json)) throw mismatch(at, "a finite number", json);
  if (typeof json === "string") checkUnicode(json, at);
  if (typeof json !== "object" || json === null) return;
  if (levels === 0) throw wrong(at, `should be nested at most ${mostLevels} levels deep, but is deeper`);
  if (Array.isArray(json)) return json.forEach((one, i) => checkSettings(one, `${at}[${i}]`, levels - 1));
  for (const [key, value] of Object.entries(json)) {
    checkUnicode(key, `a key of ${at}`);
    checkSettings(value, inside(at, key), levels - 1);
  }
}

/// Returns an algorithm: settings with a label. What else they must be, the engine says.
export const readAlgorithm: Reader<Json> = (json, at) => {
  const algorithm = objectAt(json, at, "an object with a label");
  text(mostCharacters)(algorithm["label"], `${at}.label`);
  checkSettings(algorithm, at, mostLevels);
  return algorithm;
};

const algorithms: Reader<Json[]> = (json, at) => {
  if (!Array.isArray(json) || json.length > mostAlgorithms) throw mismatch(at, `a list of at most ${mostAlgorithms} algorithms`, json);
  return json.map((one, i) => readAlgorithm(one, `${at}[${i}]`));
};

const file: Reader<State["file"]> = (json, at) => {
  if (json === null) return null;
  const { name, text: content, ...others } = objectAt(json, at, "null or an object with a name and a text");
  for (const key of Object.keys(others)) throw wrong(at, `has no key ${quoted(key)}`);
  return { name: text(mostCharacters)(name, `${at}.name`), text: text()(content, `${at}.text`) };
};

const files: Reader<State["files"]> = (json, at) => Object.fromEntries(Object.entries(objectAt(json, at, "an object of texts")).map(([name, content]) => {
  text(mostCharacters)(name, `a name in ${at}`);
  return [name, text()(content, inside(at, name))];
}));

const entry = text(mostCharacters);

const whole = 'what follows "#"';

// One reader for each key of the state: the compiler refuses a key without one.
const readers: { [Key in keyof State]: Reader<State[Key]> } = {
  view: oneOf(views),
  net: entry, device: entry, precision: entry, efficiency: entry,
  batch: entry, stepTime: entry,
  fabric: oneOf(fabrics),
  link: entry, bandwidth: entry, second: entry, latency: entry, nodes: entry, devices: entry, bus: entry, cards: entry,
  wire: entry, target: entry, samples: entry, memory: entry, jitter: entry, intervals: oneOf(["", "yes", "no"]), straggler: entry, measuredOne: entry, measuredAll: entry,
  preset: entry,
  algorithms, file, files,
};

/// Returns the state of a link's JSON: the first view's, with the link's changes. Throws Mismatch.
function readState(json: unknown): State {
  const changes = Object.entries(objectAt(json, whole, "a JSON object")).map(([key, value]) => {
    if (!Object.hasOwn(readers, key)) throw new Mismatch(`a link has no key ${quoted(key)}`);
    return [key, readers[key as keyof State](value, key)];
  });
  return { ...firstState(), ...(Object.fromEntries(changes) as Partial<State>) };
}

function jsonOf(hash: string): unknown {
  let decoded: string;
  try {
    decoded = decodeURIComponent(hash.slice(1));
  } catch {
    throw wrong(whole, 'should be percent-encoded text, but has a "%" that starts no character');
  }
  try {
    return JSON.parse(decoded);
  } catch {
    throw wrong(whole, "should be a JSON object, but is not JSON or was cut off");
  }
}

/// The longest address that the page makes.
export const mostAddress = 16_000;

/// Returns the address of a state, without its files; null if it would be too long.
export function toAddress(state: State): string | null {
  const first = firstState() as unknown as Json;
  const changed: Json = {};
  for (const [key, value] of Object.entries(state))
    if (key !== "file" && key !== "files" && JSON.stringify(value) !== JSON.stringify(first[key])) changed[key] = value;
  const address = Object.keys(changed).length === 0 ? "" : `#${encodeURIComponent(JSON.stringify(changed))}`;
  return address.length > mostAddress ? null : address;
}

/// Returns the state of an address, or why it holds none.
export function fromAddress(hash: string): { state: State } | { problem: string } {
  if (hash.length < 2) return { state: firstState() };
  try {
    return { state: readState(jsonOf(hash)) };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}
