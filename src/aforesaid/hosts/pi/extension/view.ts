// The history view of a run, as far as Pi has a part in it: it says ahead what a run is about to be asked, lets Pi's own
// classifier answer the service's questions, and sees to it that nothing waits longer than it may. Loaded only while
// views are wanted. Nothing here reads a session or makes a view.

import { statSync } from "node:fs";
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { Bridge } from "./index.ts";

/** What the service says of views. */
export interface ViewSettings {
  classifier: { provider: string; model: string } | null;
  timeoutMs: number;
}

/** How often the files are looked at while a classifier is waited for. */
const LOOK_MS = 50;

export class HistoryView {
  private controller: AbortController | undefined;
  private why = "classifier-aborted";
  private preparing: Promise<void> | undefined;
  private deadline = 0;
  private stamps = "";
  private ctx: ExtensionContext | undefined;

  constructor(private readonly bridge: Bridge) {}

  /** Begins to prepare; `ready` waits for it. */
  begin(prompt: string, ctx: ExtensionContext, settings: ViewSettings): void {
    this.invalidate("classifier-aborted");
    this.ctx = ctx;
    this.stamps = this.look();
    this.deadline = Date.now() + settings.timeoutMs;
    this.controller = new AbortController();
    const prepared = this.prepare(prompt, ctx, settings).catch(() => {});
    this.preparing = prepared;
  }

  private async prepare(prompt: string, ctx: ExtensionContext, settings: ViewSettings): Promise<void> {
    const { classifier, timeoutMs } = settings;
    let api: string | null = null;
    if (classifier) api = lookUp(ctx, classifier.provider, classifier.model)?.api ?? null;
    const told = await this.bridge.prepareView(prompt, ctx, api, timeoutMs);
    if (told?.status === "off") this.bridge.service.settings.view = null;
    // What the service asks back comes before its answer, so it is under way by now.
    await this.classifying;
  }

  private classifying: Promise<unknown> = Promise.resolve();

  /** Waits for what was begun, no longer than its time, a change of the configuration, or the run's end. */
  async ready(signal: AbortSignal | undefined): Promise<void> {
    const { preparing } = this;
    if (!preparing) return;
    this.preparing = undefined;
    const abort = () => this.invalidate("classifier-aborted");
    if (signal?.aborted) abort();
    signal?.addEventListener("abort", abort, { once: true });
    // Files are looked at only while somebody waits.
    const watch = setInterval(() => {
      if (this.stale) this.invalidate("config-changed");
    }, LOOK_MS);
    const timer = setTimeout(() => this.invalidate("classifier-timeout"), Math.max(0, this.deadline - Date.now()));
    try {
      await Promise.race([preparing, this.aborted()]);
    } finally {
      clearTimeout(timer);
      clearInterval(watch);
      signal?.removeEventListener("abort", abort);
    }
  }

  /** Answers a question of the service with Pi's own classifier; never throws. */
  classify(params: any): Promise<object> {
    const answered = this.ask(params).catch(() => ({ outcome: "classifier-error" }));
    this.classifying = answered;
    return answered;
  }

  private async ask({ provider, model, state, questions }: any): Promise<object> {
    const { ctx, controller } = this;
    if (!ctx || !controller || controller.signal.aborted) return { outcome: this.why };
    const registry: any = ctx.modelRegistry;
    if (typeof registry?.getAvailableOfType !== "function" || typeof registry?.classify !== "function") {
      return { outcome: "classifier-missing-api" };
    }
    const { signal } = controller;
    const left = () => this.deadline - Date.now();
    const timer = setTimeout(() => this.stop(controller, "classifier-timeout"), Math.max(0, left()));
    try {
      const work = (async () => {
        const available = await registry.getAvailableOfType("classifier", provider, { signal });
        const chosen = available.find((known: any) => known.provider === provider && known.id === model);
        if (!chosen) return { outcome: lookUp(ctx, provider, model) ? "classifier-missing-auth" : "classifier-missing-model" };
        if (signal.aborted) return { outcome: this.why };
        const options = { signal, timeoutMs: Math.max(1, left()), maxRetries: 0 };
        const { stopReason, answers, usage = null } = await registry.classify(chosen, { state, questions }, options);
        return { outcome: "answered", result: { stopReason, answers, usage } };
      })();
      work.catch(() => {});
      const told = await Promise.race([work, this.aborted(signal)]);
      return signal.aborted || !told ? { outcome: this.why } : told;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Ends what runs: nobody waits for it any more, and what still comes of it is nothing. */
  invalidate(why: string): void {
    if (this.controller) this.stop(this.controller, why);
    this.preparing = undefined;
  }

  /** Whether the configuration is another one than that of the view that is frozen; looks at its files. */
  get stale(): boolean {
    return this.look() !== this.stamps;
  }

  /** The configuration that counts from now on. */
  adopt(): void {
    this.stamps = this.look();
  }

  /** What tells the configuration's files from what they were. */
  private look(): string {
    return stampsOf(this.bridge.service.files);
  }

  private stop(controller: AbortController, why: string): void {
    if (controller.signal.aborted) return;
    this.why = why;
    controller.abort();
  }

  private aborted(signal = this.controller?.signal): Promise<undefined> {
    return new Promise((resolve) => {
      if (!signal || signal.aborted) resolve(undefined);
      else signal.addEventListener("abort", () => resolve(undefined), { once: true });
    });
  }
}

/** A classifier of Pi's catalog, whether or not it can be used. */
function lookUp(ctx: ExtensionContext, provider: string, model: string): any {
  const registry: any = ctx.modelRegistry;
  return typeof registry?.getModelOfType === "function" ? registry.getModelOfType("classifier", provider, model) : undefined;
}

function stampsOf(files: string[]): string {
  return files
    .map((file) => {
      const found = statSync(file, { bigint: true, throwIfNoEntry: false });
      return found ? `${found.mtimeNs} ${found.size} ${found.ino}` : "-";
    })
    .join("\n");
}
