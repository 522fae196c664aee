// Which of the two engines a browser takes.
//
// The engine's kernels need multiply-adds that are rounded once. Relaxed SIMD has relaxed_madd, which a browser rounds
// once or twice, as its processor does it best, and always in the same way (WebAssembly/relaxed-simd, Overview.md). Where
// it is rounded once, paceline_fused.wasm computes with it. paceline.wasm puts multiply-adds together from other
// operations, with the same bits in several times the time.

const splat = [[0xfd, 0x13], [0xfd, 0x14]];
const relaxedMadd = [[0xfd, 0x85, 0x02], [0xfd, 0x87, 0x02]];
const firstLane = [[0xfd, 0x1f, 0], [0xfd, 0x21, 0]];

/// A module of two functions (a, b, c) -> relaxed_madd(a, b, c): "0" of floats, "1" of doubles.
function tinyModule(): Uint8Array<ArrayBuffer> {
  const section = (id: number, items: number[][]) => {
    const content = [items.length, ...items.flat()];
    return [id, content.length, ...content];
  };
  const number = [0x7d, 0x7c]; // f32, f64
  const bodies = number.map((_, i) => {
    const argument = (k: number) => [0x20, k, ...splat[i]!];
    const body = [0, ...argument(0), ...argument(1), ...argument(2), ...relaxedMadd[i]!, ...firstLane[i]!, 0x0b];
    return [body.length, ...body];
  });
  return new Uint8Array([
    0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0,
    ...section(1, number.map((type) => [0x60, 3, type, type, type, 1, type])),
    ...section(3, [[0], [1]]),
    ...section(7, [[1, 0x30, 0, 0], [1, 0x31, 0, 1]]),
    ...section(10, bodies),
  ]);
}

/// Whether relaxed_madd exists and is rounded once: (1 + e)^2 - (1 + 2 e) is e^2 then, and 0 otherwise.
export function hasFusedMultiplyAdd(): boolean {
  const bytes = tinyModule();
  if (!WebAssembly.validate(bytes)) return false;
  const madd = new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports as Record<string, (a: number, b: number, c: number) => number>;
  return [2 ** -12, 2 ** -27].every((e, i) => madd[String(i)]!(1 + e, 1 + e, -1 - 2 * e) === e * e);
}
