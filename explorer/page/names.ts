// What a scenario can name, as the engine lists it (`paceline list --json`).

export interface Entry {
  name: string;
  summary: string;
  keys: string[];
}
export interface Net {
  name: string;
  title: string;
  sample: string;
  parameters: number;
  measured: { device: string; precision: string; batch: number | null }[];
}
export interface Names {
  algorithms: { family: string; summary: string; algorithms: Entry[] }[];
  fabrics: Entry[];
  codecs: Entry[];
  aggregations: Entry[];
  mixings: { name: string; summary: string }[];
  profiles: Net[];
  devices: { name: string; title: string; peak_flops: Record<string, number> }[];
  links: { name: string; bandwidth: string }[];
}

/// The names; empty until the engine has answered.
export let names: Names = { algorithms: [], fabrics: [], codecs: [], aggregations: [], mixings: [], profiles: [], devices: [], links: [] };
export function setNames(answer: Names): void {
  names = answer;
}

/// Returns the keys of a kind of algorithm; none for a kind that is not known.
export function keysOf(kind: unknown): string[] {
  return names.algorithms.flatMap((family) => family.algorithms).find((one) => one.name === kind)?.keys ?? [];
}
