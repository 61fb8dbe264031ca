// The child process `aforesaid serve` and the calls to it. Never throws into Pi: a call resolves or rejects within its
// time, whatever the child does. A child that dies is started again, later and later if it keeps dying.

import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { homedir } from "node:os";

export interface Launch {
  /** Absolute path of the interpreter that aforesaid is installed for. */
  python: string;
  /** What follows it, up to and including `serve`. */
  arguments: string[];
  /** The configuration's files, the one that counts more last. */
  files?: string[];
  /** What counts more than the files. */
  host?: Record<string, unknown>;
}

export interface Settings {
  timeoutMs: number;
  firstCallTimeoutMs: number;
  /** Whether the model is offered the history tools. */
  historyTools: boolean;
  /** What there is to know of history views; null while none are wanted. */
  view: any;
}

export class ServiceError extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly hint = "",
  ) {
    super(message);
  }
}

interface Pending {
  sent: number;
  resolve: (result: any) => void;
  reject: (error: ServiceError) => void;
  timer?: NodeJS.Timeout;
}

const PROTOCOL = 1;
const LONGEST_ANSWER = 64 * 1024 * 1024;
/** Milliseconds of silence after which a child that let a call run out of time is taken for hung. */
const HUNG_MS = 3_000;
/** The same while it brings a session up to date for the first time, which may take long. */
const BUSY_MS = 300_000;
/** The same before it has said anything at all. */
const STARTING_MS = 20_000;
/** A child that lived for less counts as one that keeps dying. */
const SHORT_LIFE_MS = 5_000;
const LONGEST_PAUSE_MS = 60_000;
const ADVICE = "if it stays so, run `aforesaid install pi` again";

/** How long Pi may wait, until the service says it: a machine on which it starts slowly is the one where that counts. */
function readTimes({ files = [], host = {} }: Launch): { timeoutMs: number; firstCallTimeoutMs: number } {
  const times = { timeoutMs: 250, firstCallTimeoutMs: 1_500 };
  const found: any[] = files.map((file) => {
    try {
      return JSON.parse(readFileSync(file, "utf8").replace(/^\uFEFF/, ""))?.host;
    } catch {
      return undefined; // none, or none that the service could read either
    }
  });
  for (const said of [...found, host]) {
    for (const name of ["timeoutMs", "firstCallTimeoutMs"] as const) {
      const value = said?.[name];
      if (Number.isInteger(value) && value >= 10 && value <= 10_000) times[name] = value;
    }
  }
  return times;
}

export class Service {
  settings: Settings;
  /** Where the configuration stands: a change of one of these files may be a change of what may be shown. */
  files: string[] = [];
  /** What went wrong last, in one line; empty while all is well. */
  trouble = "";
  starts = 0;
  /** Whether the child has brought its session up to date. */
  ready = false;

  private greeting: Promise<void> = Promise.resolve();
  /** Whether the child has answered anything. */
  private alive = false;
  /** How the child before this one ended, until a call has gone well again. */
  private lost = "";
  /** When the session was opened, now or after the last start. */
  private opened = 0;
  private child?: ChildProcess;
  private pending = new Map<number, Pending>();
  private last = 0;
  private pieces: Buffer[] = [];
  private held = 0;
  private heard = 0;
  /** When the latest call was sent that ran out of time. */
  private unanswered = 0;
  private began = 0;
  private failures = 0;
  private notBefore = 0;
  private stopped = false;
  private opening: { method: string; params: object }[] = [];
  private listeners = new Set<() => void>();

  constructor(private readonly launch: Launch) {
    this.settings = { ...readTimes(launch), historyTools: true, view: null };
  }

  get pid(): number | undefined {
    return this.child?.pid;
  }

  /** What a handshake says: what is told back is what counts for a session in this folder. */
  get hello(): object {
    const { cwd, trusted } = (this.opening[0]?.params ?? {}) as { cwd?: string; trusted?: boolean };
    return { protocol: PROTOCOL, client: { name: "pi" }, cwd, trusted };
  }

  /** Begins a session, now and after every restart. `onOpened` gets the answer of the service. */
  open(params: object, onOpened: (opened: any) => void): void {
    this.opening = [{ method: "session/open", params }];
    this.onOpened = onOpened;
    this.ready = false;
    if (this.child) this.greet();
    else setImmediate(() => this.start()); // to make a process may take the system long, and Pi has its own start to go on with
  }

  /** Ends with the handshake, also if that fails. */
  greeted(): Promise<void> {
    this.start();
    return this.greeting;
  }

  private onOpened: (opened: any) => void = () => {};

  /** Answers what the service asks of Pi; never rejects. */
  onAsked: (method: string, params: any) => Promise<unknown> = () => Promise.resolve(null);

  /** Tells when `settings` have come from the service. Returns what ends the telling. */
  onSettings(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Whether the session is being brought up to date for longer than anybody may wait: no call can be answered before. */
  get late(): boolean {
    return !!this.child && !this.ready && Date.now() - this.opened > this.settings.firstCallTimeoutMs;
  }

  /** A call has gone well. */
  recover(): void {
    this.lost = "";
  }

  /** What a call was waiting for that got no answer within that many milliseconds. */
  why(timeoutMs: number): ServiceError {
    if (this.lost) return new ServiceError("service-down", `${this.lost} and is being started again`);
    if (this.ready) return new ServiceError("timeout", `no answer within ${timeoutMs} ms`);
    if (this.alive) return new ServiceError("indexing", "the index of this session is still being made");
    return new ServiceError("service-down", `the service did not start within ${timeoutMs} ms`);
  }

  /** Asks the service. Rejects with a ServiceError after `timeoutMs`, or when the child is not there. */
  call(method: string, params: object, timeoutMs: number): Promise<any> {
    this.start();
    const child = this.child;
    if (!child?.stdin?.writable) {
      // A child whose end is not told yet is started again when it is.
      const ended = child ? new ServiceError("service-down", "the service has ended and is being started again") : undefined;
      return Promise.reject(ended ?? new ServiceError("service-down", this.lost || this.trouble || "the service does not run", ADVICE));
    }
    const id = ++this.last;
    return new Promise((resolve, reject) => {
      this.pending.set(id, { sent: Date.now(), resolve, reject });
      if (timeoutMs !== Number.POSITIVE_INFINITY) this.limit(id, timeoutMs);
      const deadline = timeoutMs === Number.POSITIVE_INFINITY ? {} : { deadlineMs: timeoutMs };
      this.write({ jsonrpc: "2.0", id, method, params: { ...params, ...deadline } });
    });
  }

  /** The number of the latest call, for `limit`. */
  get latest(): number {
    return this.last;
  }

  /** Gives a call that is under way so much time from now on, whatever it was given before. */
  limit(id: number, timeoutMs: number): void {
    const pending = this.pending.get(id);
    if (!pending) return;
    clearTimeout(pending.timer);
    pending.timer = setTimeout(() => this.giveUp(id, timeoutMs), timeoutMs);
  }

  /** Tells the service something that needs no answer. */
  notify(method: string, params: object): void {
    if (this.child?.stdin?.writable) this.write({ jsonrpc: "2.0", method, params });
  }

  /** Ends the child, which ends with its input. */
  stop(): void {
    this.stopped = true;
    this.child?.stdin?.end();
    if (this.unanswered > this.heard) this.child?.kill("SIGKILL"); // it may not even see the end of its input
    this.drop("the service was stopped", "");
    this.child = undefined;
  }

  private start(): void {
    if (this.child || this.stopped || Date.now() < this.notBefore) return;
    this.starts += 1;
    this.began = this.heard = Date.now();
    this.pieces = [];
    this.held = 0;
    this.ready = this.alive = false;
    let child: ChildProcess;
    try {
      child = spawn(this.launch.python, this.launch.arguments, {
        cwd: homedir(),
        env: { ...process.env, PYTHONUTF8: "1" },
        stdio: ["pipe", "pipe", "ignore"],
        windowsHide: true,
      });
    } catch (error) {
      this.trouble = String(error);
      this.notBefore = Date.now() + LONGEST_PAUSE_MS;
      return;
    }
    this.child = child;
    child.on("error", (error) => this.ended(child, error.message));
    child.on("exit", (code, signal) => this.ended(child, `the service ended with ${signal ?? code}`));
    child.stdin?.on("error", () => {});
    child.stdout?.on("error", () => {});
    child.stdout?.on("data", (piece: Buffer) => this.hear(child, piece));
    // Pi's end must not wait for the child: while a call is under way, its timer keeps Pi awake.
    child.unref();
    for (const stream of [child.stdin, child.stdout] as any[]) stream?.unref?.();
    this.greet();
  }

  /** Queues the handshake and the opening of the session; the child answers when it is up. */
  private greet(): void {
    const child = this.child;
    this.opened = Date.now();
    this.greeting = this.call("initialize", this.hello, Number.POSITIVE_INFINITY).then(
      (told) => this.adopt(told),
      () => {},
    );
    for (const { method, params } of this.opening) {
      this.call(method, params, Number.POSITIVE_INFINITY).then(
        (opened) => {
          if (this.child !== child) return;
          this.ready = true;
          this.onOpened(opened);
        },
        (error: ServiceError) => {
          if (error.code !== "service-down") this.trouble = error.message;
        },
      );
    }
  }

  /** Takes over what a handshake says of the time that a host may wait. */
  adopt(told: any): void {
    const { timeoutMs, firstCallTimeoutMs } = told?.host ?? {};
    if (!Number.isFinite(timeoutMs) || !Number.isFinite(firstCallTimeoutMs)) return;
    this.settings = { timeoutMs, firstCallTimeoutMs, historyTools: told.historyTools?.enabled !== false, view: told.view ?? null };
    this.files = Array.isArray(told.files) ? told.files.map(String) : [];
    for (const listener of this.listeners) listener();
  }

  private write(message: object): void {
    this.child?.stdin?.write(`${JSON.stringify(message)}\n`);
  }

  private hear(child: ChildProcess, piece: Buffer): void {
    if (child !== this.child) return;
    this.heard = Date.now();
    let rest = piece;
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      const line = Buffer.concat([...this.pieces, rest.subarray(0, end)]).toString("utf8");
      this.pieces = [];
      this.held = 0;
      rest = rest.subarray(end + 1);
      if (!this.take(line)) {
        this.fail(child, "the service said what is no answer");
        return;
      }
    }
    this.pieces.push(rest);
    this.held += rest.length;
    if (this.held > LONGEST_ANSWER) {
      this.fail(child, "the service said too much");
    }
  }

  /** Hands an answer to whoever waits; false if the line is none. */
  private take(line: string): boolean {
    let answer: any;
    try {
      answer = JSON.parse(line);
    } catch {
      return false;
    }
    if (answer?.jsonrpc !== "2.0") return false;
    this.alive = true;
    if (typeof answer.method === "string") {
      const child = this.child;
      this.onAsked(answer.method, answer.params).then((result) => {
        if (child === this.child) this.write({ jsonrpc: "2.0", id: answer.id, result });
      });
      return true;
    }
    const pending = this.pending.get(answer.id);
    if (!pending) return true; // it came too late
    this.pending.delete(answer.id);
    clearTimeout(pending.timer);
    if (answer.error) {
      const { code = "failed", message = answer.error.message, hint = "" } = answer.error.data ?? {};
      pending.reject(new ServiceError(code, message, hint));
    } else {
      this.trouble = "";
      pending.resolve(answer.result);
    }
    return true;
  }

  private giveUp(id: number, timeoutMs: number): void {
    const pending = this.pending.get(id);
    if (!pending) return;
    const { sent } = pending;
    this.pending.delete(id);
    this.unanswered = sent;
    this.notify("$/cancelRequest", { id });
    const child = this.child;
    const watch = setTimeout(
      () => {
        if (child && child === this.child && this.heard < sent) this.fail(child, "the service did not answer and was ended");
      },
      this.ready ? HUNG_MS : this.alive ? BUSY_MS : STARTING_MS,
    );
    watch.unref();
    pending.reject(this.why(timeoutMs));
  }

  /** Ends a child that does not do what a service does. */
  private fail(child: ChildProcess, trouble: string): void {
    this.ended(child, trouble);
    child.kill("SIGKILL");
  }

  private ended(child: ChildProcess, trouble: string): void {
    if (child !== this.child) return;
    this.child = undefined;
    this.ready = false;
    this.trouble = this.lost = trouble;
    this.failures = Date.now() - this.began < SHORT_LIFE_MS ? this.failures + 1 : 0;
    const pause = this.failures > 1 ? Math.min(LONGEST_PAUSE_MS, 500 * 2 ** (this.failures - 1)) : 0;
    this.notBefore = Date.now() + pause;
    if (pause === 0) this.drop(`${trouble} and is being started again`, "");
    else this.drop(trouble, ADVICE);
    if (pause === 0) this.start();
  }

  private drop(trouble: string, advice: string): void {
    for (const pending of this.pending.values()) {
      clearTimeout(pending.timer);
      pending.reject(new ServiceError("service-down", trouble, advice));
    }
    this.pending.clear();
  }
}
