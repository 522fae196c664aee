// The part of WASI that the engine's C library asks for: no files, no arguments, no environment.
// What the engine writes to standard error before it ends is kept for the message.

const success = 0;
const badFile = 8;
const notSupported = 58;

export class Wasi {
  memory: WebAssembly.Memory | undefined;
  said = "";
  private readonly decoder = new TextDecoder();

  private view(): DataView {
    if (this.memory === undefined) throw new Error("the engine has no memory yet");
    return new DataView(this.memory.buffer);
  }

  private write(file: number, pieces: number, count: number, writtenAt: number): number {
    const view = this.view();
    let written = 0;
    for (let i = 0; i < count; ++i) {
      const address = view.getUint32(pieces + 8 * i, true);
      const length = view.getUint32(pieces + 8 * i + 4, true);
      if (file === 1 || file === 2)
        this.said += this.decoder.decode(new Uint8Array(view.buffer, address, length));
      written += length;
    }
    view.setUint32(writtenAt, written, true);
    return success;
  }

  private countNothing(count: number, size: number): number {
    this.view().setUint32(count, 0, true);
    this.view().setUint32(size, 0, true);
    return success;
  }

  // The names are those of WASI, preview 1. Whatever the engine's library names and never calls is refused.
  imports(module: WebAssembly.Module): WebAssembly.ModuleImports {
    const known: Record<string, (...args: number[]) => number> = {
      fd_write: (file, pieces, count, at) => this.write(file!, pieces!, count!, at!),
      environ_sizes_get: (count, size) => this.countNothing(count!, size!),
      environ_get: () => success,
      args_sizes_get: (count, size) => this.countNothing(count!, size!),
      args_get: () => success,
      fd_prestat_get: () => badFile,
      clock_time_get: (_id, _precision, at) => {
        this.view().setBigUint64(at!, 0n, true); // simulated time alone counts
        return success;
      },
      proc_exit: (code) => {
        throw new Error(`the engine has ended with code ${code}`);
      },
    };
    const made: WebAssembly.ModuleImports = {};
    for (const item of WebAssembly.Module.imports(module))
      if (item.module === "wasi_snapshot_preview1")
        made[item.name] = known[item.name] ?? (() => notSupported);
    return made;
  }
}
