// Quantities as people write them. The engine reads one spelling of each unit; here the others are read, too, or answered
// with a hint.
//
//   1,5 Gbps   1.5gbps   1.5 Gb/s   1.5 Gbit/s      1.5Gbps         a comma is a decimal point
//   50 µs   50 us   50usec                           50us
//   5 GB/s                                           a hint: bytes are no bits; 40Gbps

const rates: Record<string, number> = { bps: 1, kbps: 1e3, Mbps: 1e6, Gbps: 1e9, Tbps: 1e12 };
const durations: Record<string, number> = { ps: 1e-12, ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1 };

const quantity = /^\s*((?:[0-9]+(?:[.,][0-9]+)?|[.,][0-9]+)(?:e[+-]?[0-9]+)?)\s*([a-zA-Zµμ/]+)\s*$/;

/// Returns the number of a text; NaN if it is none. A comma is a decimal point.
export function numberOf(text: string): number {
  const plain = text.trim().replace(/^([+-]?\d*),(\d+)/, "$1.$2");
  return plain === "" ? Number.NaN : Number(plain);
}

// A text in the spelling of the engine; or a hint at what may be meant.
export type Spelled = { text: string } | { hint: string } | null;

function spelled(text: string, unitOf: (written: string, value: number) => Spelled, unit: string): Spelled {
  const match = quantity.exec(text);
  if (match !== null) {
    const value = match[1]!.replace(",", ".");
    const found = unitOf(match[2]!, Number(value));
    return found !== null && "text" in found ? { text: value + found.text } : found;
  }
  const bare = numberOf(text);
  return Number.isNaN(bare) ? null : { hint: `Did you mean ${text.trim()}${unit}?` };
}

/// Returns a bandwidth as the engine reads it.
export const spelledBandwidth = (text: string): Spelled => spelled(text, (written, value) => {
  const parts = /^([kKmMgGtT]?)(b|B|bits?|bytes?)(ps|\/s|\/sec)$/i.exec(written);
  if (parts === null) return null;
  const prefix = parts[1]!.toLowerCase() === "k" ? "k" : parts[1]!.toUpperCase();
  const bytes = parts[2] === "B" || /^byte/i.test(parts[2]!);
  return bytes ? { hint: `${written} are bytes. Did you mean ${Number((value * 8).toPrecision(6))}${prefix}bps?` } : { text: `${prefix}bps` };
}, "Gbps");

/// Returns a duration as the engine reads it.
export const spelledDuration = (text: string): Spelled => spelled(text, (written) => {
  const unit = written.replace(/[µμ]/, "u").replace(/^(ps|ns|us|ms|s)(ec)?$/i, "$1").toLowerCase();
  return Object.hasOwn(durations, unit) ? { text: unit } : null;
}, "ms");

function inBase(found: Spelled, units: Record<string, number>): number | null {
  if (found === null || !("text" in found)) return null;
  const [, value, unit] = /^(.*?)([a-zA-Z]+)$/.exec(found.text)!;
  return Number(value) * units[unit!]!;
}
/// Returns bits per second; null if the text is no bandwidth.
export const bitsPerSecond = (text: string): number | null => inBase(spelledBandwidth(text), rates);
/// Returns seconds; null if the text is no duration.
export const seconds = (text: string): number | null => inBase(spelledDuration(text), durations);

function inUnits(value: number, units: Record<string, number>): string {
  const names = Object.keys(units);
  const name = [...names].reverse().find((n) => value >= units[n]! * 0.9995) ?? names[0]!;
  return `${Number((value / units[name]!).toPrecision(3))}${name}`;
}
export const bandwidthText = (bps: number): string => inUnits(bps, rates);
export const durationText = (s: number): string => (s === 0 ? "0s" : inUnits(s, durations));

/// Returns a time for people: 90 s, 2.5 h, 12 days.
export function timeText(s: number): string {
  for (const [unit, size] of [["days", 172_800], ["h", 7200], ["min", 120]] as const)
    if (s >= size) return `${Number((s / { days: 86_400, h: 3600, min: 60 }[unit]).toPrecision(3))} ${unit}`;
  return s >= 1 ? `${Number(s.toPrecision(3))} s` : durationText(s);
}
