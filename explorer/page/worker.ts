// A Web Worker with one instance of the engine. If the instance ends, the pool starts another worker.
import { Engine, EngineEnded } from "./engine.js";

type Incoming = { module: WebAssembly.Module } | { id: number; request: string };

let engine: Promise<Engine> | null = null;
let current = -1;

self.onmessage = async (event: MessageEvent<Incoming>) => {
  const message = event.data;
  if ("module" in message) {
    engine = Engine.start(message.module, (progress) => self.postMessage({ id: current, progress }));
    return;
  }
  current = message.id;
  try {
    const answer = (await engine!).ask(message.request);
    self.postMessage({ id: message.id, answer });
  } catch (error) {
    const why = error instanceof EngineEnded || error instanceof Error ? error.message : String(error);
    self.postMessage({ id: message.id, ended: why });
  }
};
