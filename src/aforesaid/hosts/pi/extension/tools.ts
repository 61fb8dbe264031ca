// The history tools. What is told about them stands in `tools.json`, which the MCP server reads too; what they answer is
// the service's. A call that fails is a result that says so, never an exception that names a path.

import { readFileSync } from "node:fs";
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { Bridge } from "./index.ts";

interface Definition {
  name: string;
  title: string;
  description: string;
  arguments: any;
}

interface Answer {
  content: { type: "text"; text: string }[];
  /** For whom it was judged: it must not be sent to anybody else (`clearing.ts`). Null if it quotes nothing. */
  details: { clearedFor: { provider: string | null; stamp: string } | null };
  isError: boolean;
}

const DEFINITIONS = new URL("../../tools.json", import.meta.url);
/** Milliseconds that a call may take; the first one after a start waits for the index. */
const PATIENCE_MS = 60_000;

export class HistoryTools {
  private readonly definitions: Definition[] = JSON.parse(readFileSync(DEFINITIONS, "utf8"));
  private readonly release: () => void;
  private on: boolean | undefined;
  private settled = false;

  constructor(
    private readonly pi: ExtensionAPI,
    private readonly bridge: Bridge,
  ) {
    this.release = bridge.service.onSettings(() => this.offer());
    this.offer();
  }

  /** Nothing is told any more; Pi forgets the tools with its session. */
  close(): void {
    this.release();
  }

  /** Before the first request: lets the service say whether the tools are on. */
  async settle(): Promise<void> {
    if (this.settled) return;
    this.settled = true;
    const { service } = this.bridge;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, service.settings.firstCallTimeoutMs)));
    await Promise.race([service.greeted(), late]);
    clearTimeout(timer);
  }

  /** Declares the tools to the model, or takes them back, as the user has set it. */
  private offer(): void {
    const on = this.bridge.service.settings.historyTools;
    if (on === this.on || (!on && this.on === undefined)) return;
    this.on = on;
    for (const { name, title, description, arguments: parameters } of this.definitions) {
      this.pi.registerTool({
        name,
        label: title,
        description,
        promptSnippet: title,
        parameters,
        annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
        // Nobody else calls it: what it brings back shall stand under its own name in the transcript and nowhere else.
        exposure: on ? "model-only" : "hidden",
        execute: (_id: string, given: any, signal: AbortSignal | undefined, _update: any, ctx: ExtensionContext) =>
          this.call(name, given, signal, ctx),
      });
    }
  }

  private async call(name: string, given: object, signal: AbortSignal | undefined, ctx: ExtensionContext): Promise<Answer> {
    const { service, handle } = this.bridge;
    this.bridge.append(ctx);
    const params = {
      session: handle,
      name,
      arguments: given,
      leaf: ctx.sessionManager.getLeafId(),
      provider: ctx.model?.provider ?? null,
    };
    try {
      const { text, failed, policy } = await unlessAborted(service.call("session/tool", params, PATIENCE_MS), signal);
      return said(text, failed, { clearedFor: { provider: params.provider, stamp: policy.stamp } });
    } catch (error: any) {
      return said(`the history does not answer (${error.code ?? "internal"}): go on without it, or try again later`, true);
    }
  }
}

function said(text: string, isError: boolean, details: Answer["details"] = { clearedFor: null }): Answer {
  return { content: [{ type: "text", text }], details, isError };
}

/** The same, given up as soon as the user stops the run. */
function unlessAborted<T>(answer: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return answer;
  answer.catch(() => {});
  let stop = () => {};
  const stopped = new Promise<never>((_, reject) => {
    stop = () => reject(Object.assign(new Error("stopped"), { code: "cancelled" }));
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
  return Promise.race([answer, stopped]).finally(() => signal.removeEventListener("abort", stop));
}
