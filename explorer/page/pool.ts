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

/// Something that a person is told as it stands. Any other error is a fault of the page.
export class PageError extends Error {}

export interface Request {
  do: string;
  scenario: string;
  files?: Record<string, string>;
  [key: string]: unknown;
}

interface Task {
  id: number;
  group: Group;
  request: Request;
  told: (json: string) => void;
  resolve: (answer: Record<string, unknown>) => void;
  reject: (error: Error) => void;
}

interface Seat {
  worker: Worker;
  task: Task | null;
}

/// Tasks that are cancelled together.
export class Group {
  cancelled = false;
  constructor(private readonly pool: Pool) {}
  ask(request: Request, told: (json: string) => void = () => {}): Promise<Record<string, unknown>> {
    return this.pool.ask(this, request, told);
  }
  cancel(): void {
    if (this.cancelled) return;
    this.cancelled = true;
    this.pool.drop(this);
  }
}

export class Pool {
  private readonly seats: Seat[] = [];
  private waiting: Task[] = [];
  private next = 0;
  private module: WebAssembly.Module | null = null;
  readonly size = Math.max(1, Math.min(4, navigator.hardwareConcurrency || 2));
  started = 0; // workers, for tests

  async start(url: string): Promise<void> {
    const response = await fetch(url);
    if (!response.ok) throw new PageError(`${url} could not be loaded (${response.status}).`);
    this.module = await WebAssembly.compile(await response.arrayBuffer());
    for (let i = 0; i < this.size; ++i) this.seats.push({ worker: this.startWorker(), task: null });
    this.hand();
  }

  group(): Group {
    return new Group(this);
  }

  ask(group: Group, request: Request, told: (json: string) => void): Promise<Record<string, unknown>> {
    if (group.cancelled) return Promise.reject(new CancelledError());
    return new Promise((resolve, reject) => {
      this.waiting.push({ id: this.next++, group, request, told, resolve, reject });
      this.hand();
    });
  }

  drop(group: Group): void {
    for (const task of this.waiting) if (task.group === group) task.reject(new CancelledError());
    this.waiting = this.waiting.filter((task) => task.group !== group);
    for (const seat of this.seats)
      if (seat.task?.group === group) {
        seat.task.reject(new CancelledError());
        this.replace(seat);
      }
    this.hand();
  }

  private startWorker(): Worker {
    ++this.started;
    const worker = new Worker("worker.js", { type: "module" });
    worker.postMessage({ module: this.module });
    worker.onmessage = (event) => this.receive(worker, event.data);
    worker.onerror = (event) => {
      const seat = this.seats.find((one) => one.worker === worker);
      if (seat?.task) this.end(seat, `the worker has failed: ${event.message}`);
    };
    return worker;
  }

  private replace(seat: Seat): void {
    seat.worker.terminate();
    seat.task = null;
    seat.worker = this.startWorker();
  }

  private end(seat: Seat, why: string): void {
    const task = seat.task!;
    this.replace(seat);
    task.reject(new PageError(why));
    this.hand();
  }

  private receive(worker: Worker, message: { id: number; answer?: string; told?: string; ended?: string }): void {
    const seat = this.seats.find((one) => one.worker === worker);
    const task = seat?.task;
    if (seat === undefined || !task || task.id !== message.id) return;
    if (message.told !== undefined) return task.told(message.told);
    if (message.ended !== undefined) return this.end(seat, message.ended);
    seat.task = null;
    const answer = JSON.parse(message.answer!) as Record<string, unknown>;
    if (answer["error"] !== undefined) task.reject(new RefusedError(answer["error"] as Refusal));
    else task.resolve(answer);
    this.hand();
  }

  private hand(): void {
    for (const seat of this.seats) {
      if (seat.task !== null) continue;
      const task = this.waiting.shift();
      if (task === undefined) return;
      seat.task = task;
      seat.worker.postMessage({ id: task.id, request: JSON.stringify(task.request) });
    }
  }
}
