// Axes: their ranges, and the ticks that a reader expects on them.

export interface Scale { log: boolean; least: number; most: number }

/// Returns where a value stands on the scale: 0 at its beginning, 1 at its end.
export function shareOf({ log, least, most }: Scale, value: number): number {
  return log ? Math.log(value / least) / Math.log(most / least) : (value - least) / (most - least);
}

/// Returns the scale from the first to the last of the values.
export function scaleX(values: number[], log: boolean): Scale {
  const least = Math.min(...values);
  const most = Math.max(...values);
  if (values.length === 0 || !Number.isFinite(least) || !Number.isFinite(most)) return { log, least: 1, most: 10 };
  if (least < most) return { log, least, most };
  return log ? { log, least: least / 2, most: most * 2 } : { log, least: least - 0.5, most: most + 0.5 };
}

/// Returns a scale with some room beyond the values; a linear one holds zero.
export function scaleY(values: number[], log: boolean): Scale {
  const least = Math.min(...values);
  const most = Math.max(...values);
  if (values.length === 0 || !Number.isFinite(least) || !Number.isFinite(most)) return log ? { log, least: 1, most: 10 } : { log, least: 0, most: 1 };
  if (log) {
    const room = Math.max(1.08, (most / least) ** 0.05);
    return { log, least: least / room, most: most * room };
  }
  const below = Math.min(0, least);
  return { log, least: below * 1.05, most: most > 0 ? most * 1.05 : below < 0 ? 0 : 1 };
}

const mostTicks = 60;

function multiples({ least, most }: Scale, step: number): number[] {
  const made: number[] = [];
  for (let i = Math.ceil(least / step - 1e-9); i * step <= most + step * 1e-9 && made.length <= mostTicks; ++i)
    made.push(Number((i * step).toPrecision(12)));
  return made;
}

// Multiples of 1, 2 or 5 times a power of ten; or of powers of two.
function* round(scale: Scale, base: 2 | 10): Generator<number[]> {
  const span = scale.most - scale.least;
  const steps = base === 2 ? [1] : [1, 2, 5];
  const first = Math.floor(Math.log(span / mostTicks) / Math.log(base));
  for (let power = base === 2 ? Math.max(0, first) : first; ; ++power)
    for (const step of steps) {
      if (step * base ** power > span) return;
      yield multiples(scale, step * base ** power);
    }
}

// 1, 2, 5, 10, 20, ...; then powers of ten, then every second, third, ... of them. Or powers of two.
function* logarithmic(scale: Scale, base: 2 | 10): Generator<number[]> {
  const from = Math.floor(Math.log(scale.least) / Math.log(base));
  const to = Math.ceil(Math.log(scale.most) / Math.log(base));
  const inside = (v: number) => v >= scale.least * (1 - 1e-9) && v <= scale.most * (1 + 1e-9);
  const powers = Array.from({ length: to - from + 1 }, (_, i) => Number((base ** (from + i)).toPrecision(12)));
  if (base === 10) yield powers.flatMap((p) => [1, 2, 5].map((f) => Number((f * p).toPrecision(12)))).filter(inside);
  for (let every = 1; every <= powers.length; ++every)
    yield powers.filter((_, i) => (from + i) % every === 0).filter(inside);
}

function* everyNth(ticks: number[]): Generator<number[]> {
  for (let every = 1; every < Math.max(2, ticks.length); ++every) yield ticks.filter((_, i) => i % every === 0);
}

/// Returns the most ticks that fit. `own` are those that the chart asks for where the scale is logarithmic.
export function ticksOf(scale: Scale, fits: (ticks: number[]) => boolean, base: 2 | 10 = 10, own?: number[]): number[] {
  const inside = (own ?? []).filter((t) => t >= scale.least && t <= scale.most);
  const candidates = scale.log && inside.length > 1 ? everyNth(inside) : scale.log ? logarithmic(scale, base) : round(scale, base);
  let sparse: number[] = [];
  for (const ticks of candidates) {
    if (ticks.length < 3 && scale.log && inside.length <= 1 && sparse.length === 0) break; // less than a decade: round numbers tell more
    if (ticks.length > 0) sparse = ticks;
    if (ticks.length <= mostTicks && fits(ticks)) return ticks;
  }
  if (!scale.log) return sparse.length > 0 ? sparse.slice(0, 1) : [scale.least];
  for (const ticks of round(scale, base === 2 && scale.most - scale.least < 2 ? 10 : base))
    if (ticks.length > 0 && fits(ticks)) return ticks;
  return sparse.length > 0 && fits(sparse) ? sparse : [scale.least];
}

/// Returns whether labels beside each other keep apart. `place` gives where a tick stands, `width` how wide its label is.
export const keepApart = (place: (tick: number) => number, width: (tick: number) => number, gap: number) => (ticks: number[]): boolean =>
  ticks.every((tick, i) => i === 0 || Math.abs(place(tick) - place(ticks[i - 1]!)) >= (width(tick) + width(ticks[i - 1]!)) / 2 + gap);
