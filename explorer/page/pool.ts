// Up to four workers that answer requests. A task that nobody needs any more is dropped; if it runs, its worker is
// ended and another one started, so that the next task never waits for it. The module is compiled once.
import type { Refusal } from "./engine.js";

/// The engine has refused a request, as the command line would.
export class RefusedError extends Error {
  constructor(readonly refusal: Refusal) {
    super(refusal.all.map((fault) => fault.text).join("\n"));
  }
}
export class CancelledError extends Error {}

/// Something that a person is progress as it stands. Any other error is a fault of the page.
export class PageError extends Error {}

export interface Request {
  do: string;
  scenario?: string;
  files?: Record<string, string>;
  [key: string]: unknown;
}

interface Task {
  id: number;
  group: Group;
  request: Request;
  progress: (json: string) => void;
  resolve: (answer: Record<string, unknown>) => void;
  reject: (error: Error) => void;
}

interface Slot {
  worker: Worker;
  task: Task | null;
}

/// Tasks that are cancelled together.
export class Group {
  cancelled = false;
  constructor(private readonly pool: Pool) {}
  ask(request: Request, progress: (json: string) => void = () => {}): Promise<Record<string, unknown>> {
    return this.pool.ask(this, request, progress);
  }
  cancel(): void {
    if (this.cancelled) return;
    this.cancelled = true;
    this.pool.drop(this);
  }
}

export class Pool {
  private readonly slots: Slot[] = [];
  private waiting: Task[] = [];
  private next = 0;
  private module: WebAssembly.Module | null = null;
  readonly size = Math.max(1, Math.min(4, navigator.hardwareConcurrency || 2));
  started = 0; // workers, for tests

  async start(url: string): Promise<void> {
    const response = await fetch(url);
    if (!response.ok) throw new PageError(`${url} could not be loaded (${response.status}).`);
    this.module = await WebAssembly.compile(await response.arrayBuffer());
    for (let i = 0; i < this.size; ++i) this.slots.push({ worker: this.startWorker(), task: null });
    this.hand();
  }

  group(): Group {
    return new Group(this);
  }

  ask(group: Group, request: Request, progress: (json: string) => void): Promise<Record<string, unknown>> {
    if (group.cancelled) return Promise.reject(new CancelledError());
    return new Promise((resolve, reject) => {
      this.waiting.push({ id: this.next++, group, request, progress, resolve, reject });
      this.hand();
    });
  }

  drop(group: Group): void {
    for (const task of this.waiting) if (task.group === group) task.reject(new CancelledError());
    this.waiting = this.waiting.filter((task) => task.group !== group);
    for (const slot of this.slots)
      if (slot.task?.group === group) {
        slot.task.reject(new CancelledError());
        this.replace(slot);
      }
    this.hand();
  }

  private startWorker(): Worker {
    ++this.started;
    const worker = new Worker("worker.js", { type: "module" });
    worker.postMessage({ module: this.module });
    worker.onmessage = (event) => this.receive(worker, event.data);
    worker.onerror = (event) => {
      const slot = this.slots.find((one) => one.worker === worker);
      if (slot?.task) this.end(slot, `the worker has failed: ${event.message}`);
    };
    return worker;
  }

  private replace(slot: Slot): void {
    slot.worker.terminate();
    slot.task = null;
    slot.worker = this.startWorker();
  }

  private end(slot: Slot, why: string): void {
    const task = slot.task!;
    this.replace(slot);
    task.reject(new PageError(why));
    this.hand();
  }

  private receive(worker: Worker, message: { id: number; answer?: string; progress?: string; ended?: string }): void {
    const slot = this.slots.find((one) => one.worker === worker);
    const task = slot?.task;
    if (slot === undefined || !task || task.id !== message.id) return;
    if (message.progress !== undefined) return task.progress(message.progress);
    if (message.ended !== undefined) return this.end(slot, message.ended);
    slot.task = null;
    const answer = JSON.parse(message.answer!) as Record<string, unknown>;
    if (answer["error"] !== undefined) task.reject(new RefusedError(answer["error"] as Refusal));
    else task.resolve(answer);
    this.hand();
  }

  private hand(): void {
    for (const slot of this.slots) {
      if (slot.task !== null) continue;
      const task = this.waiting.shift();
      if (task === undefined) return;
      slot.task = task;
      slot.worker.postMessage({ id: task.id, request: JSON.stringify(task.request) });
    }
  }
}
