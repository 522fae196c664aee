// Where texts stand in a chart, so that none is cut and none covers another.

export interface Box { left: number; top: number; width: number; height: number }
export interface Label extends Box { lines: string[] }
type Measure = (text: string) => number;

/// Breaks a text at its blanks, and a word that is too wide at any character.
export function wrap(text: string, width: number, measure: Measure): string[] {
  const lines: string[] = [];
  let line = "";
  for (let word of text.split(/\s+/)) {
    const joined = line === "" ? word : `${line} ${word}`;
    if (measure(joined) <= width) { line = joined; continue; }
    if (line !== "") lines.push(line);
    while (measure(word) > width && word.length > 1) {
      const letters = [...word];
      let fitting = letters.length - 1;
      while (fitting > 1 && measure(letters.slice(0, fitting).join("")) > width) --fitting;
      lines.push(letters.slice(0, fitting).join(""));
      word = letters.slice(fitting).join("");
    }
    line = word;
  }
  return line === "" ? lines : [...lines, line];
}

const overlap = (a: Box, b: Box): boolean =>
  a.left < b.left + b.width && b.left < a.left + a.width && a.top < b.top + b.height && b.top < a.top + a.height;

// Returns places along lines, a few pixels apart.
function along(lines: [number, number][][]): [number, number][] {
  const step = 5;
  return lines.flatMap((line) => line.flatMap(([x, y], i): [number, number][] => {
    const [px, py] = line[i - 1] ?? [x, y];
    const pieces = Math.min(400, Math.max(1, Math.ceil(Math.hypot(x - px, y - py) / step)));
    return Array.from({ length: pieces }, (_, k) => [x + ((px - x) * k) / pieces, y + ((py - y) * k) / pieces]);
  }));
}

/// Places the labels of vertical lines beside them: on the right if there is room, else on the left, else broken into
/// lines on the wider side, or across both. No label covers another one; each covers as little of the `lines` as it can,
/// and stands as high as it can. Where the plot is full they go on below it, and it should be made higher.
export function placeMarks(marks: { at: number; label: string }[], plot: Box, measure: Measure, lineHeight: number, lines: [number, number][][] = []): Label[] {
  const gap = 5;
  const right = plot.left + plot.width;
  const points = marks.length === 0 ? [] : along(lines);
  const made: Label[] = [];
  for (const { at, label } of [...marks].sort((a, b) => a.at - b.at)) {
    const rooms = [{ isRight: true, room: right - at - 2 * gap }, { isRight: false, room: at - plot.left - 2 * gap }];
    const whole = measure(label);
    const fitting = rooms.filter(({ room }) => whole <= room);
    const wider = rooms[0]!.room >= rooms[1]!.room ? rooms : [...rooms].reverse();
    const sides = fitting.length > 0 ? fitting : wider.filter(({ room }, i) => i === 0 || room >= 90);
    const candidates = sides.map(({ isRight, room }): Label => {
      const narrow = room < Math.min(whole, 60); // a word would be broken: the label goes across
      const broken = wrap(label, narrow ? plot.width - 2 * gap : room, measure);
      const width = Math.max(...broken.map((line) => measure(line)));
      const left = Math.min(right - gap - width, Math.max(plot.left + gap, isRight ? at + gap : at - gap - width));
      return { left, top: plot.top + 4, width, height: broken.length * lineHeight, lines: broken };
    });
    let best: Label | null = null;
    let least = Infinity;
    for (const candidate of candidates)
      for (let { top } = candidate; top + candidate.height <= plot.top + plot.height - 2 && least > 0; top += lineHeight / 2) {
        const one = { ...candidate, top };
        if (made.some((other) => overlap(one, other))) continue;
        const covered = points.filter(([x, y]) => x > one.left - 3 && x < one.left + one.width + 3 && y > top - 2 && y < top + one.height + 2).length;
        if (covered < least) { least = covered; best = one; }
      }
    if (best === null) {
      best = candidates[0]!;
      for (let other = made.find((m) => overlap(best!, m)); other !== undefined; other = made.find((m) => overlap(best!, m)))
        best.top = other.top + other.height + 2;
    }
    made.push(best);
  }
  return made;
}

/// Returns the heights of labels beside `wanted` ones, apart by `lineHeight`, or null if they do not fit between top and
/// bottom.
export function placeEnds(wanted: number[], top: number, bottom: number, lineHeight: number): number[] | null {
  if (wanted.length * lineHeight > bottom - top) return null;
  const order = wanted.map((_, i) => i).sort((a, b) => wanted[a]! - wanted[b]!);
  const places = [...wanted];
  let least = top + lineHeight / 2;
  for (const i of order) { places[i] = Math.max(wanted[i]!, least); least = places[i]! + lineHeight; }
  let most = bottom - lineHeight / 2;
  for (const i of [...order].reverse()) { places[i] = Math.min(places[i]!, most); most = places[i]! - lineHeight; }
  return places;
}
