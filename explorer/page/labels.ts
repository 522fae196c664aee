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

/// Places the labels of vertical lines beside them: on the right if there is room, else on the left, else broken into
/// lines on the wider side, or across both. They stand below each other where they would overlap; then the lowest may
/// end below the plot, which should be made higher.
export function placeMarks(marks: { at: number; label: string }[], plot: Box, measure: Measure, lineHeight: number): Label[] {
  const gap = 5;
  const right = plot.left + plot.width;
  const made: Label[] = [];
  for (const { at, label } of [...marks].sort((a, b) => a.at - b.at)) {
    const roomRight = right - at - 2 * gap;
    const roomLeft = at - plot.left - 2 * gap;
    const whole = measure(label);
    const isRight = whole <= roomRight || (whole > roomLeft && roomRight >= roomLeft);
    const room = isRight ? roomRight : roomLeft;
    const narrow = room < Math.min(whole, 60); // a word would be broken: the label goes across
    const lines = wrap(label, narrow ? plot.width - 2 * gap : room, measure);
    const width = Math.max(...lines.map((line) => measure(line)));
    const beside = isRight ? at + gap : at - gap - width;
    const left = Math.min(right - gap - width, Math.max(plot.left + gap, beside));
    const one = { left, top: plot.top + 4, width, height: lines.length * lineHeight, lines };
    for (let other = made.find((m) => overlap(one, m)); other !== undefined; other = made.find((m) => overlap(one, m)))
      one.top = other.top + other.height + 2;
    made.push(one);
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
