// One instance of the engine (explorer/engine/exports.cpp): texts go in and come out.
import { Wasi } from "./wasi.js";

interface Exports {
  memory: WebAssembly.Memory;
  _initialize(): void;
  take(length: number): number;
  ask(): number;
  answer_length(): number;
}

export interface Fault {
  file: string;
  path: string;
  problem: string;
  text: string;
}

/// The first fault of a request, and all of them.
export interface Refusal extends Fault {
  all: Fault[];
}

/// The engine has ended: by a bug, or because it ran out of memory.
export class EngineEnded extends Error {}

export class Engine {
  private constructor(
    private readonly engine: Exports,
    private readonly wasi: Wasi,
  ) {}

  static async start(module: WebAssembly.Module, progress: (json: string) => void): Promise<Engine> {
    const wasi = new Wasi();
    const decoder = new TextDecoder();
    const page = {
      progress: (address: number, length: number) => {
        const memory = wasi.memory;
        if (memory !== undefined)
          progress(decoder.decode(new Uint8Array(memory.buffer, address, length)));
      },
    };
    const instance = await WebAssembly.instantiate(module, {
      wasi_snapshot_preview1: wasi.imports(module),
      page,
    });
    const engine = instance.exports as unknown as Exports;
    wasi.memory = engine.memory;
    engine._initialize();
    return new Engine(engine, wasi);
  }

  /// Returns the answer as JSON text. Throws EngineEnded; the instance must not be used then.
  ask(request: string): string {
    const bytes = new TextEncoder().encode(request);
    try {
      const address = this.engine.take(bytes.length);
      new Uint8Array(this.engine.memory.buffer, address, bytes.length).set(bytes);
      const answer = this.engine.ask();
      const length = this.engine.answer_length();
      return new TextDecoder().decode(new Uint8Array(this.engine.memory.buffer, answer, length));
    } catch (error) {
      throw new EngineEnded(this.why(error));
    }
  }

  get memoryBytes(): number {
    return this.engine.memory.buffer.byteLength;
  }

  private why(error: unknown): string {
    const said = this.wasi.said.trim();
    if (said !== "" && !said.includes("bad_alloc")) return said;
    const mib = Math.round(this.memoryBytes / 2 ** 20);
    const message = error instanceof Error ? error.message : String(error);
    return this.memoryBytes > 2 ** 31 || said !== "" || /memory/.test(message)
      ? `the engine ran out of memory (it held ${mib} MiB); try fewer nodes, a smaller net or fewer steps`
      : `the engine has ended: ${message}`;
  }
}
