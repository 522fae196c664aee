// Runs the points of a study on the pool, coarse ones first, and puts their rows together as results.csv has them.
import type { Group } from "./pool.js";

export interface StudyPoint {
  choice: number[];
  algorithm: string;
  nodes: number;
  last_stage?: number; // its first step; before it are warm-ups
  whole_steps?: number | null; // the least number of steps that ends a period of the algorithm
}
export interface Study {
  title: string;
  axes: { path: string; names: string[] }[];
  points: StudyPoint[];
  trains: boolean;
}
export type Row = Record<string, string>;

export interface Evaluation {
  point: number;
  sim_time_s: number;
  iteration: number;
  train_loss: number;
  test_loss: number;
  test_accuracy?: number;
}

/// Returns the records of a CSV text. Fields in quotes may hold commas, quotes and ends of lines.
export function records(text: string): string[][] {
  const all: string[][] = [];
  let record: string[] = [];
  let field = "";
  let quoted = false;
  for (let i = 0; i < text.length; ++i) {
    const c = text[i]!;
    if (quoted && c === '"' && text[i + 1] === '"') field += text[++i]!;
    else if (c === '"') quoted = !quoted;
    else if (c === "," && !quoted) { record.push(field); field = ""; }
    else if (c === "\n" && !quoted) { all.push([...record, field]); record = []; field = ""; }
    else if (c !== "\r" || quoted) field += c;
  }
  if (field !== "" || record.length > 0) all.push([...record, field]);
  return all;
}

export function rowsOf(csv: string): Row[] {
  const [header, ...rest] = records(csv);
  if (header === undefined) return [];
  return rest.map((record) => Object.fromEntries(header.map((name, i) => [name, record[i] ?? ""])));
}

/// Results while they come in.
export class Results {
  private header = "";
  private readonly texts = new Map<number, string>();
  private readonly parsed = new Map<number, Row[]>();
  private timelineHeader = "";
  private readonly timelines = new Map<number, string>();

  constructor(readonly study: Study) {}

  add(point: number, csv: string, timeline: string | null): void {
    const end = csv.indexOf("\n") + 1;
    this.header = csv.slice(0, end);
    this.texts.set(point, csv.slice(end));
    this.parsed.set(point, rowsOf(csv));
    if (timeline === null) return;
    const timelineEnd = timeline.indexOf("\n") + 1;
    this.timelineHeader = timeline.slice(0, timelineEnd);
    this.timelines.set(point, timeline.slice(timelineEnd));
  }
  row(point: number): Row | undefined {
    return this.parsed.get(point)?.[0];
  }
  get done(): number {
    return this.texts.size;
  }
  get complete(): boolean {
    return this.done === this.study.points.length;
  }
  rows(): Row[] {
    return this.inOrder(this.parsed).flat();
  }
  /// The bytes of results.csv.
  csv(): string {
    return this.header + this.inOrder(this.texts).join("");
  }
  timelineCsv(): string {
    return this.timelineHeader + this.inOrder(this.timelines).join("");
  }
  private inOrder<T>(map: Map<number, T>): T[] {
    return [...map.keys()].sort((a, b) => a - b).map((key) => map.get(key)!);
  }
}

// Coarse first: the first and last values of the last axis, then those halfway, and so on. Of equals, the cheap first.
function order(study: Study): number[] {
  const length = study.axes.at(-1)?.names.length ?? 1;
  const rank = new Array<number>(length).fill(99);
  for (let step = length - 1, level = 0; step >= 1; step = Math.floor(step / 2), ++level)
    for (let i = 0; i < length; i += step) rank[i] = Math.min(rank[i]!, level);
  if (length > 0) rank[length - 1] = 0;
  const rankOf = (i: number) => rank[study.points[i]!.choice.at(-1) ?? 0]!;
  return study.points.map((_, i) => i).sort((a, b) => rankOf(a) - rankOf(b) || a - b);
}

// Points that take a millisecond travel together, because a message to a worker costs as much. A point of n nodes sends
// some n^2 messages a step, and on as many nodes as the first view has it takes two milliseconds at most.
function batches(study: Study): number[][] {
  const share = 64 * 64 + 64;
  const made: number[][] = [];
  let cost = share;
  for (const i of order(study)) {
    const own = study.trains ? share : study.points[i]!.nodes ** 2;
    if (cost + own > share) { made.push([]); cost = 0; }
    made.at(-1)!.push(i);
    cost += own;
  }
  return made;
}

// Splits the answer about several points into those of each.
function split(csv: string, points: number[]): Map<number, string> {
  const lines = csv.split("\n");
  const parts = new Map<number, string>(points.map((point) => [point, `${lines[0]!}\n`]));
  let point = "";
  for (const line of lines.slice(1)) {
    if (line === "") continue;
    const first = line.slice(0, line.indexOf(","));
    if (/^\d+$/.test(first)) point = first;
    const key = Number(point);
    parts.set(key, `${parts.get(key) ?? ""}${line}\n`);
  }
  return parts;
}

export interface Watch {
  study?: (study: Study) => void;
  point?: (results: Results) => void;
  evaluation?: (evaluation: Evaluation) => void;
}

/// Runs a scenario. Throws what the pool throws.
export async function runStudy(
  group: Group, scenario: string, files: Record<string, string>, watch: Watch,
): Promise<Results> {
  const base = { scenario, files };
  const study = (await group.ask({ ...base, do: "study" })) as unknown as Study;
  watch.study?.(study);
  const results = new Results(study);
  const run = async (points: number[]) => {
    const answer = await group.ask({ ...base, do: "run", points }, (progress) =>
      watch.evaluation?.(JSON.parse(progress) as Evaluation));
    const timeline = answer["timeline"] as string | null;
    const parts = split(answer["csv"] as string, points);
    const timelines = timeline === null ? null : split(timeline, points);
    for (const point of points) results.add(point, parts.get(point)!, timelines?.get(point) ?? null);
    watch.point?.(results);
  };
  await Promise.all(batches(study).map(run));
  return results;
}
