// `/context settings` → Extractive history: consent, the classifier, sizes. Loaded when somebody opens it.

import type { ExtensionCommandContext } from "@earendil-works/pi-coding-agent";

type Ask = (method: string, params: object) => Promise<any>;

const OFF = "Off";
const LOCAL = "Deterministic only (no classifier)";
const CLASSIFIER = "Enable classifier: send bounded user/assistant text; API charges";
const CONSENT = [
  "Text of this session, what you and the assistant said, is sent to the provider of the chosen classifier, which may",
  "charge for it. It is bounded, but it is not searched for everything that is private: it can hold personal data and",
  "secrets. Thinking, tool calls and their output, and summaries are not sent. Nothing is sent in the other modes.",
].join(" ");

const PRESETS: Record<string, Record<string, number>> = {
  "Small: 2,048 bytes, 64 bundles": { maxViewBytes: 2048, maxCandidates: 64 },
  "Standard: 8,192 bytes, 128 bundles": { maxViewBytes: 8192, maxCandidates: 128 },
  "Large: 32,768 bytes, 256 bundles": { maxViewBytes: 32_768, maxCandidates: 256 },
};
const NUMBERS = ["maxViewBytes", "maxCandidates", "maxSourceChars", "timeoutMs"];

/** Asks what to change, changes it, and says what counts now; undefined if nothing was chosen. */
export async function changeViews(ask: Ask, ctx: ExtensionCommandContext): Promise<string | undefined> {
  const get = async (name: string) => (await ask("config", { action: "get", key: `memory.extractive.${name}` })).values[0].value;
  const set = (name: string, value: unknown) => ask("config", { action: "set", key: `memory.extractive.${name}`, value });
  const [enabled, most, provider, model] = [
    await get("enabled"), await get("maxEvaluationsPerTurn"), await get("provider"), await get("model"),
  ];
  const mode = !enabled ? OFF : most > 0 ? CLASSIFIER : LOCAL;
  const menu = [`Consent / mode: ${mode}`, `Native classifier: ${provider}/${model}`, "Presets", ...NUMBERS];
  const chosen = await ctx.ui.select("Extractive history", menu);
  if (chosen === menu[0]) return changeMode(set, ctx);
  if (chosen === menu[1]) return chooseClassifier(set, ctx);
  if (chosen === "Presets") {
    const preset = await ctx.ui.select("Extractive history: presets", Object.keys(PRESETS));
    if (preset === undefined) return undefined;
    for (const [name, value] of Object.entries(PRESETS[preset] ?? {})) await set(name, value);
    return preset;
  }
  if (chosen === undefined || !NUMBERS.includes(chosen)) return undefined;
  const value = await ctx.ui.input(`memory.extractive.${chosen}`, String(await get(chosen)));
  if (value === undefined || value === "") return undefined;
  await set(chosen, value);
  return `memory.extractive.${chosen} is ${await get(chosen)}`;
}

async function changeMode(set: (name: string, value: unknown) => Promise<any>, ctx: ExtensionCommandContext): Promise<string | undefined> {
  const mode = await ctx.ui.select("Extractive history: consent / mode", [OFF, LOCAL, CLASSIFIER]);
  if (mode === OFF) await set("enabled", false);
  else if (mode === LOCAL) {
    // In this order there is no moment in which a classifier may be asked.
    await set("maxEvaluationsPerTurn", 0);
    await set("enabled", true);
  } else if (mode === CLASSIFIER) {
    if (!(await ctx.ui.confirm(CLASSIFIER, CONSENT))) return undefined;
    await set("maxEvaluationsPerTurn", 1);
    await set("enabled", true);
  } else return undefined;
  return `Extractive history: ${mode}`;
}

async function chooseClassifier(set: (name: string, value: unknown) => Promise<any>, ctx: ExtensionCommandContext): Promise<string | undefined> {
  const registry: any = ctx.modelRegistry;
  if (typeof registry?.getModelsOfType !== "function") return "this version of Pi has no classifiers";
  const usable = new Set((await registry.getAvailableOfType("classifier")).map((known: any) => `${known.provider}\n${known.id}`));
  const line = (known: any) => `${known.provider}/${known.id}${usable.has(`${known.provider}\n${known.id}`) ? " (available)" : ""}`;
  const models = [...registry.getModelsOfType("classifier")];
  models.sort((one, other) => Number(line(other).endsWith(")")) - Number(line(one).endsWith(")")));
  const chosen = await ctx.ui.select("Extractive history: classifier (choosing one does not enable it)", models.map(line));
  const known = models.find((one) => line(one) === chosen);
  if (!known) return undefined;
  await set("provider", JSON.stringify(known.provider));
  await set("model", JSON.stringify(known.id));
  return `classifier: ${known.provider}/${known.id}`;
}
