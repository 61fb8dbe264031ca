// `/context …`: shows what the service says. Nothing of it reaches the model.

import type { ExtensionCommandContext } from "@earendil-works/pi-coding-agent";
import type { Bridge } from "./index.ts";
import { ServiceError } from "./service.ts";

const PATIENCE_MS = 10_000;
const REBUILD_MS = 600_000;
const VIEWS = "Extractive history …";

export async function answer(bridge: Bridge, words: string, ctx: ExtensionCommandContext): Promise<void> {
  const topic = words.trim().split(/\s+/).join(" ") || "status";
  try {
    const show = { session: bridge.handle, topic, host: { ...facts(bridge), usedTokens: ctx.getContextUsage()?.tokens ?? null } };
    if (topic === "settings") await settings(bridge, ctx);
    else {
      const { text } = (await ask(bridge, "session/show", show, topic === "rebuild-index" ? REBUILD_MS : PATIENCE_MS)) ?? {};
      if (typeof text !== "string") throw new ServiceError("bad-answer", "the service gave an answer of another version", "restart Pi");
      say(ctx, text);
    }
  } catch (error) {
    const { message, hint } = error instanceof ServiceError ? error : new ServiceError("internal", String(error));
    const lines = [`aforesaid: ${message}${hint ? `; ${hint}` : ""}`];
    if (bridge.service.trouble && bridge.service.trouble !== message) lines.push(`service: ${bridge.service.trouble}`);
    if (topic === "status" || topic === "health") lines.push(...own(bridge));
    say(ctx, lines.join("\n"), "error");
  }
}

/** What is known here, for when the service says nothing. */
function own({ facts: { calls, outcome, handlerMs, firstCallMs }, service }: Bridge): string[] {
  const lines = [`service: started ${service.starts} ${service.starts === 1 ? "time" : "times"}; the last model call: ${outcome}`];
  if (firstCallMs !== null) lines.push(`the first model call was held up for ${firstCallMs.toFixed(1)} ms in all`);
  if (calls) lines.push(`model calls were held up for up to ${Math.max(...handlerMs).toFixed(1)} ms, the last one for ${handlerMs.at(-1)?.toFixed(1)} ms`);
  return lines;
}

function ask(bridge: Bridge, method: string, params: object, timeoutMs = PATIENCE_MS): Promise<any> {
  return bridge.service.call(method, params, timeoutMs);
}

function facts({ facts: known, service }: Bridge): object {
  return { ...known, pid: service.pid ?? null, starts: service.starts, ready: service.ready, trouble: service.trouble };
}

/** Choose an option, choose a value, and it counts. */
async function settings(bridge: Bridge, ctx: ExtensionCommandContext): Promise<void> {
  const { options } = await ask(bridge, "host/settings", { session: bridge.handle });
  if (!ctx.hasUI) {
    say(ctx, options.map((option: any) => `${option.key} = ${JSON.stringify(option.value)}`).join("\n"));
    return;
  }
  const line = (option: any) => `${option.key} = ${JSON.stringify(option.value)}`;
  const chosen = await ctx.ui.select("aforesaid: which setting?", [...options.map(line), VIEWS]);
  if (chosen === VIEWS) {
    const { changeViews } = await import("./view-settings.ts");
    const told = await changeViews((method, params) => ask(bridge, method, { ...params, session: bridge.handle }), ctx);
    await adopt(bridge);
    if (told) say(ctx, told);
    return;
  }
  const option = options.find((known: any) => line(known) === chosen);
  if (!option) return;
  const value = option.choices
    ? await ctx.ui.select(`${option.key}: ${option.meaning}`, option.choices)
    : await ctx.ui.input(`${option.key}: ${option.meaning} (${option.allowed})`, JSON.stringify(option.value));
  if (value === undefined || value === "") return;
  const set = await ask(bridge, "config", { action: "set", key: option.key, value, session: bridge.handle });
  await adopt(bridge);
  say(ctx, `${option.key} is ${JSON.stringify(set.values[0].value)} (${set.values[0].source})`);
}

/** What was set counts at once. */
async function adopt(bridge: Bridge): Promise<void> {
  bridge.service.adopt(await ask(bridge, "initialize", bridge.service.hello));
  bridge.changeConfiguration();
}

function say(ctx: ExtensionCommandContext, text: string, kind: "info" | "error" = "info"): void {
  if (ctx.hasUI) ctx.ui.notify(text, kind);
  else process.stdout.write(`${text}\n`); // Pi keeps standard output for the answer of the model and sends this to standard error
}
