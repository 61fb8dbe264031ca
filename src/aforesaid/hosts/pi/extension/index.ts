// Floor 8, Pi's end: asks the service before each model call and inserts what it says. Everything else is in Python.
//
// Whatever fails here, Pi's own list goes out unchanged: handlers return nothing then. Loaded by the file that
// `aforesaid install pi` writes, which knows the interpreter.

import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { type Carried, Clearing } from "./clearing.ts";
import { answer } from "./commands.ts";
import { Policies } from "./policy.ts";
import type { HistoryView } from "./view.ts";
import { findRequest, matches, Prefix, Run, type Seen, see, type Selection, weave } from "./run.ts";
import { type Launch, Service, ServiceError } from "./service.ts";
import { HistoryTools } from "./tools.ts";

/** What the last model call was like; shown by `/context`. */
export interface Facts {
  calls: number;
  outcome: string;
  /** Milliseconds that the latest calls were held up, each. */
  handlerMs: number[];
  /** The same of the first call, from the moment it was known, what was waited for before its event included. */
  firstCallMs: number | null;
  factoryMs: number;
  startMs: number;
  /** Shares of the previous request that the next one began with: as sent, and as Pi alone would have sent it. */
  prefix: { sent: number; native: number }[];
}

interface Claim {
  session: unknown;
  service?: Service;
}

/** One copy of the extension works for a session; others see its claim and stay silent. */
const CLAIM = Symbol.for("aforesaid.pi");
/** Measurements that are kept of each kind. */
const KEPT = 256;
/** Turns of the microtask queue within which Pi writes a message after its event; it takes four. */
const TURNS_TO_WRITE = 32;

/** What the service was asked about a call before Pi made it. */
interface Ahead {
  seen: Seen;
  model: string;
  told: Promise<any>;
  /** The number of the call. */
  id: number;
  at: number;
  /** Its number for `session/withdraw`. */
  call: number | undefined;
}

/** Milliseconds after which it is told again that a service is slow. */
const SLOW_AGAIN_MS = 600_000;

export class Bridge {
  readonly facts: Facts = { calls: 0, outcome: "none", handlerMs: [], firstCallMs: null, factoryMs: 0, startMs: 0, prefix: [] };
  readonly handle: string;
  private run = new Run();
  private readonly file: string | undefined;
  private known: string[] = [];
  /** Lines of a session without a file that the service has been told. */
  private lines = 0;
  private firstCall = true;
  /** When the first call began to be held up. */
  private since = Date.now();
  private deferred: { seen: Seen; selection: Selection } | undefined;
  private followUps = new Set<string>();
  /** Since the last call that went well; further trouble is then no news. */
  private inTrouble = false;
  /** When it was told last that a service is slow. */
  private slowSince = Number.NEGATIVE_INFINITY;
  /** Number of the call that was asked about last, and of the one that is being made if it was. */
  private asked = 0;
  private planned: number | undefined;
  /** What Pi counted in the model's context when the agent settled; unknown after whatever changes it. */
  private used: number | null = null;
  private told = new Set<string>();
  private sent = new Prefix();
  private native = new Prefix();
  private clearing = new Clearing();
  /** What was added to the call that is being made. */
  private carried: Carried = { provider: undefined, policy: undefined, unheard: false, contents: new Map() };
  private readonly policies: Policies;
  private view: HistoryView | undefined;
  private ahead: Ahead | undefined;
  private looked: { leaf: string | null; seen: Seen } | undefined;

  constructor(
    readonly service: Service,
    readonly ctx: ExtensionContext,
  ) {
    const { sessionManager } = ctx;
    this.file = sessionManager.getSessionFile();
    this.handle = this.file ?? `memory:${sessionManager.getSessionId()}`;
    this.policies = new Policies(service, this.handle);
  }

  open(): void {
    const { sessionManager, cwd } = this.ctx;
    const params = {
      host: "pi",
      sessionId: sessionManager.getSessionId(),
      file: this.file ?? null,
      cwd,
      trusted: this.ctx.isProjectTrusted(),
    };
    this.service.onAsked = (method, params) =>
      this.view && method === "classify" ? this.view.classify(params) : Promise.resolve({ outcome: "classifier-missing-api" });
    this.service.open(params, () => {
      this.known = [];
      this.lines = 0;
    });
  }

  /** A message that waits for the end of the answer is a request of its own, although Pi's run goes on. */
  queueFollowUp(text: string): void {
    this.followUps.add(text);
  }

  beginRun(): void {
    if (this.firstCall) this.since = Date.now();
    this.run = new Run();
  }

  /** What was rehearsed last. */
  private rehearsed = "";

  /** Tells the service what the user said while Pi still prepares the call; it answers from that if nothing changes. */
  rehearse(request: string, ctx: ExtensionContext): void {
    const leaf = ctx.sessionManager.getLeafId();
    if (!this.file || !leaf || !this.service.ready) return;
    const told = `${leaf} ${request}`;
    if (told === this.rehearsed) return;
    this.rehearsed = told;
    this.service.notify("session/rehearse", { session: this.handle, leaf, request, model: modelOf(ctx) });
  }

  /** Asks about the call that a message of the user leads to as soon as that is written: Pi still prepares the call. */
  askAhead(message: any, ctx: ExtensionContext): void {
    const { sessionManager } = ctx;
    const leaf = sessionManager.getLeafId();
    if (!this.file || !this.service.ready || this.service.settings.view) return;
    if (this.run.asked && !this.followUps.has(textOf(message))) return; // it steers a run whose additions are frozen
    let turns = 0;
    const look = () => {
      if (sessionManager.getLeafId() !== leaf) this.sendAhead(ctx);
      else if (++turns < TURNS_TO_WRITE) queueMicrotask(look);
    };
    queueMicrotask(look);
  }

  private sendAhead(ctx: ExtensionContext): void {
    try {
      const seen = this.look(ctx);
      const request = findRequest(seen);
      if (request < 0) return;
      const { model } = ctx;
      // How long it may take is counted from the call; this is how long Pi may take to get there, and then the call.
      const { timeoutMs, firstCallTimeoutMs } = this.service.settings;
      const longest = timeoutMs + (this.firstCall ? firstCallTimeoutMs : timeoutMs);
      const told = this.context(seen.entries, seen.items[request].id, ctx, model, longest);
      told.catch(() => {
        this.known = [];
      });
      this.ahead = { seen, model: JSON.stringify(modelOf(ctx)), told, id: this.service.latest, at: Date.now(), call: this.planned };
    } catch {
      this.known = []; // the call itself asks, and tells of what fails
    }
  }

  /** The answer that was asked for ahead, if nothing has changed since: then it is the one that would come now. */
  private takeAhead(seen: Seen, ctx: ExtensionContext, first: boolean): Promise<any> | undefined {
    const { ahead } = this;
    this.ahead = undefined;
    if (!ahead) return undefined;
    const { timeoutMs, firstCallTimeoutMs } = this.service.settings;
    const same = ahead.seen === seen && ahead.model === JSON.stringify(modelOf(ctx));
    if (same && Date.now() - ahead.at < timeoutMs) {
      this.service.limit(ahead.id, first ? Math.max(0, this.since + firstCallTimeoutMs - Date.now()) : timeoutMs);
      return ahead.told;
    }
    this.withdraw("superseded");
    this.known = [];
    return undefined;
  }

  /** What Pi's projection of the current leaf holds; entries never change, so that a leaf names it. */
  private look({ sessionManager }: ExtensionContext): Seen {
    const leaf = sessionManager.getLeafId();
    if (!this.looked || this.looked.leaf !== leaf) this.looked = { leaf, seen: see(sessionManager.buildSessionProjection()) };
    return this.looked.seen;
  }

  /** Begins to prepare the history view of a run; loads nothing while none is wanted. */
  async beginView(prompt: unknown, ctx: ExtensionContext): Promise<void> {
    const { view: settings } = this.service.settings;
    if (!settings) return this.view?.invalidate("config-changed");
    if (typeof prompt !== "string") return;
    if (!this.view) {
      const { HistoryView } = await import("./view.ts");
      this.view = new HistoryView(this);
    }
    this.view.begin(prompt, ctx, settings);
  }

  /** Whatever was begun for a view is stale. */
  invalidateView(why: string): void {
    this.view?.invalidate(why);
  }

  /** The configuration was changed from here: what is frozen of a view does not count any more. */
  changeConfiguration(): void {
    this.view?.invalidate("config-changed");
    this.run.dropView();
  }

  /** Tells the service what a run is about to be asked. */
  prepareView(prompt: string, ctx: ExtensionContext, api: string | null, timeMs: number): Promise<any> {
    const { entries } = see(ctx.sessionManager.buildSessionProjection());
    this.append(ctx);
    const leaf = ctx.sessionManager.getLeafId();
    const params = { session: this.handle, leaf, prompt, entries: this.delta(entries), api, timeMs };
    return this.service.call("session/prepare", params, timeMs).catch((error) => {
      this.known = [];
      throw error;
    });
  }

  /** How the entries of the context differ from those that the service knows. */
  private delta(ids: string[]): { keep: number; add: string[] } {
    const differs = this.known.findIndex((id, at) => ids[at] !== id);
    const keep = Math.min(differs < 0 ? this.known.length : differs, ids.length);
    this.known = ids;
    return { keep, add: ids.slice(keep) };
  }

  async carry(messages: any[], ctx: ExtensionContext): Promise<any[] | undefined> {
    this.deferred = undefined;
    this.planned = this.ahead?.call;
    await this.view?.ready(ctx.signal);
    if (this.view?.stale && this.run.hasView) this.run.dropView();
    const { model } = ctx; // it may be another one at any time
    const provider = model?.provider;
    this.carried = { provider, policy: this.policies.of(provider), unheard: false, contents: new Map() };
    const seen = this.look(ctx);
    if (!matches(seen, messages)) return this.leave("another-extension");
    const request = findRequest(seen);
    if (request < 0) return this.leave("no-request");
    if (this.followUps.delete(textOf(messages[request]))) this.beginRun();
    if (this.run.holds && !this.carried.policy) {
      const policy = await this.policies.ask(provider);
      this.carried = { ...this.carried, policy, unheard: !policy };
      if (!policy) return this.leave("policy-unknown");
    }
    const decision = this.run.decide(seen, provider, this.policies.of(provider)?.stamp);
    if (decision.kind === "leave") return this.leave(decision.reason);
    let selection: Selection;
    if (decision.kind === "reuse") {
      selection = decision.selection;
      this.facts.outcome = selection.messages.length ? "frozen" : "frozen-native";
    } else {
      selection = await this.ask(seen, seen.items[request].id, ctx, model);
      this.run.freeze(seen, request, selection, provider, this.policies.of(provider)?.stamp);
    }
    const contents = new Map(selection.messages.map(({ content, entryId }) => [content, entryId]));
    this.carried = { ...this.carried, policy: this.policies.of(provider), contents };
    const woven = weave(seen, messages, selection);
    setImmediate(() => this.measure(seen, messages, woven)); // nobody waits for it
    if (woven === messages) return undefined;
    if (!seen.patched) return woven;
    // A changed list from this event makes Pi fold all system messages into the first one, which costs the provider's
    // cache; the event that follows leaves them where they are.
    this.deferred = { seen, selection };
    return undefined;
  }

  /** What `carry` left for the list with Pi's system messages. */
  private carryDeferred(messages: any[]): any[] | undefined {
    const deferred = this.deferred;
    this.deferred = undefined;
    if (!deferred) return undefined;
    const own = messages.filter((message) => message.role !== "system");
    if (!matches(deferred.seen, own)) return this.leave("another-extension");
    return weave(deferred.seen, messages, deferred.selection);
  }

  /** The list that goes out: with what `carry` left for Pi's system messages, judged. */
  async finish(messages: any[]): Promise<any[] | undefined> {
    const woven = this.carryDeferred(messages);
    try {
      return (await this.clear(woven ?? messages)) ?? woven;
    } catch (error) {
      this.fail(error);
      return this.clearing.withoutOurs(messages, this.carried);
    }
  }

  /** The final list as the privacy policy lets the provider see it; undefined if it is that already. */
  async clear(messages: any[]): Promise<any[] | undefined> {
    const { provider, unheard } = this.carried;
    const policy = this.carried.policy ?? this.policies.latest;
    // A provider that nobody told about is one that may not see everything; so is any while nobody told of a policy.
    const restricts = this.carried.policy ? this.carried.policy.restricts : (this.policies.latest?.enabled ?? true);
    if (!restricts) return undefined;
    const carried = { ...this.carried, policy };
    const { timeoutMs: patience } = this.service.settings;
    const ask = async (texts: object[], timeoutMs: number) => {
      const told = await this.service.call(
        "session/clear",
        { session: this.handle, provider, stamp: policy?.stamp, messages: texts },
        timeoutMs,
      );
      this.policies.adopt(provider, told?.policy);
      return told;
    };
    return this.clearing.clear(messages, carried, policy && !unheard ? ask : undefined, patience, (error) => {
      this.facts.outcome = "not-judged";
      this.withdraw("not-judged");
      const reason = error instanceof Error ? error.message : error;
      this.tell("not-judged", `aforesaid: the privacy policy could not judge the call in time, nothing was added: ${reason}`);
    });
  }

  /** Messages that are about to be summarised: what is in a summary goes out with every later call. */
  async clearForSummary(messages: any[], ctx: ExtensionContext): Promise<any[]> {
    if (!messages.length) return messages;
    const provider = ctx.model?.provider;
    const policy = this.policies.of(provider) ?? (await this.policies.ask(provider));
    this.carried = { provider, policy, unheard: !policy, contents: new Map() };
    return (await this.clear(messages)) ?? messages;
  }

  /**
   * The payload without anything of ours, if it turns out to go elsewhere than it was judged for, or if the policy may
   * have changed since: Pi sends a payload again to keep a provider's cache warm.
   */
  last(payload: any, ctx: ExtensionContext): unknown {
    const { provider, policy, contents } = this.carried;
    if (!policy && !contents.size) return undefined;
    const changed = !policy || this.policies.of(provider)?.stamp !== policy.stamp;
    if (!changed) {
      if (!policy.enabled) return undefined;
      const called = payload?.model ?? payload?.modelId;
      if (ctx.model?.provider === provider && called === ctx.model?.id) return undefined;
    }
    if (contents.size) {
      this.facts.outcome = changed ? "policy-changed" : "another-model";
      this.withdraw(this.facts.outcome);
    }
    return this.clearing.strip(payload, this.carried);
  }

  /** What the service says of a call; nothing to add if it fails or takes too long. */
  private async ask(seen: Seen, request: string, ctx: ExtensionContext, model: ExtensionContext["model"]): Promise<Selection> {
    const nothing: Selection = { messages: [], omitted: [] };
    const first = this.firstCall;
    this.firstCall = false;
    try {
      if (!first && this.service.late) throw this.service.why(0);
      const call = (timeoutMs: number) => this.context(seen.entries, request, ctx, model, timeoutMs);
      const told = await (this.takeAhead(seen, ctx, first) ?? within(this.service, first ? this.since : undefined, call));
      this.policies.adopt(model?.provider, told?.policy);
      const selection = checked(told);
      this.adoptView(told.view ?? null);
      if (told.view?.usage) {
        for (const added of selection.messages) if (added.source === "view") added.usage = told.view.usage;
      }
      this.facts.outcome = `${told.status}: ${told.reason}`;
      if (told.failed) throw new ServiceError(told.reason, `aforesaid failed: ${told.reason}`, "see `/context health`");
      this.inTrouble = false;
      this.service.recover();
      return selection;
    } catch (error) {
      this.known = [];
      this.lines = 0;
      const known = error instanceof ServiceError ? error : new ServiceError("internal", String(error));
      this.facts.outcome = known.code;
      this.carried.unheard = true;
      this.withdraw(known.code);
      this.announce(known);
      return nothing;
    } finally {
      if (first) this.facts.firstCallMs = Date.now() - this.since;
    }
  }

  /** Says what went wrong, once from the first call that it cost to the next one that went well. */
  private announce({ code, message, hint }: ServiceError): void {
    const news = !this.inTrouble;
    this.inTrouble = true;
    // A machine that is busy now and then is no news each time.
    const slow = code === "timeout";
    if (!news || (slow && Date.now() - this.slowSince < SLOW_AGAIN_MS)) return;
    if (slow) this.slowSince = Date.now();
    this.say(`aforesaid: nothing was added to the model call: ${message}${hint ? `; ${hint}` : ""}`);
  }

  /** A bug of ours: nothing was added. */
  fail(error: unknown): void {
    this.facts.outcome = "internal";
    this.withdraw("internal");
    this.tell("internal", `aforesaid: nothing was added to the model call: ${error}`);
  }

  /** Tells the service that what it planned for the call that is being made does not go out. */
  private withdraw(reason: string): void {
    if (this.planned !== undefined) this.service.notify("session/withdraw", { session: this.handle, call: this.planned, reason });
    this.planned = undefined;
  }

  private context(ids: string[], request: string, ctx: ExtensionContext, model: ExtensionContext["model"], timeoutMs: number): Promise<any> {
    this.append(ctx);
    this.planned = ++this.asked;
    const params = {
      session: this.handle,
      call: this.planned,
      leaf: ctx.sessionManager.getLeafId(),
      request,
      entries: this.delta(ids),
      model: modelOf(ctx),
      usedTokens: this.used,
    };
    return this.service.call("session/context", params, timeoutMs);
  }

  /** What an answer says of views; a configuration that was changed in its file counts from here on. */
  private adoptView(told: any): void {
    const settings = told?.settings ?? null;
    this.service.settings.view = settings;
    this.view?.adopt();
  }

  /** The agent is done: what it said is brought in, and what Pi counts is asked for, while nobody waits. */
  settle(ctx: ExtensionContext): void {
    const { tokens } = ctx.getContextUsage() ?? {};
    this.used = Number.isSafeInteger(tokens) && (tokens as number) > 0 ? (tokens as number) : null;
    if (this.file) this.service.notify("session/append", { session: this.handle });
  }

  /** What was counted is not what the model will see. */
  forgetUsage(): void {
    this.used = null;
  }

  /** Tells the service what it cannot read from a file; where there is one, that it has grown. */
  append(ctx: ExtensionContext): void {
    if (this.file) return;
    const rows: any[] = [ctx.sessionManager.getHeader(), ...ctx.sessionManager.getEntries()];
    const add = rows.slice(this.lines).map(withoutImages);
    this.service.notify("session/append", { session: this.handle, keep: this.lines, add });
    this.lines = rows.length;
  }

  /** Says a kind of trouble once a session. */
  tell(kind: string, text: string): void {
    if (this.told.has(kind)) return;
    this.told.add(kind);
    this.say(text);
  }

  private say(text: string): void {
    if (this.ctx.hasUI) this.ctx.ui.notify(text, "warning");
    else process.stderr.write(`${text}\n`);
  }

  private leave(reason: string): undefined {
    this.withdraw(reason);
    this.facts.outcome = reason;
    return undefined;
  }

  private measure({ items }: Seen, messages: any[], woven: any[]): void {
    const keys = items.map((item) => item.key);
    const size = (message: any) => JSON.stringify(message)?.length ?? 0;
    const own = new Map(messages.map((message, at) => [message, keys[at]]));
    const key = (message: any) => own.get(message) ?? `+${message.content[0].text}`;
    const sent = this.sent.share(woven.map(key), (at) => size(woven[at]));
    const native = this.native.share(keys, (at) => size(messages[at]));
    if (sent === undefined || native === undefined) return;
    this.facts.prefix.push({ sent, native });
    if (this.facts.prefix.length > KEPT) this.facts.prefix.shift();
  }
}

/** What the service selected, if that is what it said. */
function checked(told: any): Selection {
  const { messages, omitted = [] } = told ?? {};
  const isText = (value: unknown) => typeof value === "string";
  const sound =
    Array.isArray(messages) &&
    Array.isArray(omitted) &&
    messages.every((added) => isText(added?.content) && isText(added?.before)) &&
    omitted.every(isText);
  if (!sound) throw new ServiceError("bad-answer", "the service gave an answer of another version", "restart Pi");
  return { messages, omitted };
}

/** The model as the service wants to know it. */
function modelOf({ model }: ExtensionContext) {
  if (!model) return null;
  return { provider: model.provider, id: model.id, contextWindow: model.contextWindow, maxTokens: model.maxTokens };
}

function textOf({ content }: any): string {
  return typeof content === "string" ? content : (content ?? []).map((block: any) => block.text ?? "").join("");
}

/** A row without the bytes of its images, which are never searched. */
function withoutImages(row: unknown): unknown {
  const longest = 4_096;
  return JSON.parse(
    JSON.stringify(row, (name, value) => (name === "data" && typeof value === "string" && value.length > longest ? "" : value)),
  );
}

/** A call within the time that a host may wait; the settings that set it may come while the first call, `since`, waits. */
async function within(service: Service, since: number | undefined, call: (timeoutMs: number) => Promise<any>): Promise<any> {
  if (since === undefined) return call(service.settings.timeoutMs);
  const longest = 10_000;
  let timer: NodeJS.Timeout | undefined;
  let release = () => {};
  const late = new Promise<never>((_, reject) => {
    const arm = () => {
      clearTimeout(timer);
      const { firstCallTimeoutMs } = service.settings;
      const expire = () => reject(service.why(firstCallTimeoutMs));
      timer = setTimeout(expire, Math.max(0, since + firstCallTimeoutMs - Date.now()));
    };
    release = service.onSettings(arm);
    arm();
  });
  try {
    const called = call(longest);
    called.catch(() => {});
    return await Promise.race([called, late]);
  } finally {
    release();
    clearTimeout(timer);
  }
}

export default function aforesaid(pi: ExtensionAPI, launch: Launch, loadedMs = 0): void {
  const entered = performance.now();
  let bridge: Bridge | undefined;
  let tools: HistoryTools | undefined;
  const holder = globalThis as any;

  pi.on("session_start", (_event, ctx) => {
    const began = performance.now();
    const claim: Claim | undefined = holder[CLAIM];
    if (claim && claim.session === ctx.sessionManager) return;
    const service = claim?.service ?? new Service(launch);
    holder[CLAIM] = { session: ctx.sessionManager, service } satisfies Claim;
    bridge = new Bridge(service, ctx);
    bridge.open();
    const owner = bridge;
    pi.registerCommand("context", {
      description: "What aforesaid added to the last model call, what not, and why",
      getArgumentCompletions: (typed) => completions(typed),
      handler: (words, command) => answer(owner, words, command),
    });
    tools = new HistoryTools(pi, owner);
    bridge.facts.factoryMs = factoryMs;
    bridge.facts.startMs = performance.now() - began;
  });

  pi.on("input", (event, ctx) => {
    if (event.streamingBehavior === "followUp") bridge?.queueFollowUp(event.text);
    // What the user typed is the request unless a template or another extension changes it; the run says it again.
    if (!event.streamingBehavior && !event.text.startsWith("/")) bridge?.rehearse(event.text, ctx);
  });

  pi.on("before_agent_start", async (event, ctx) => {
    bridge?.beginRun();
    bridge?.rehearse(event.prompt, ctx);
    await tools?.settle(); // part of the time that the first call may take; what is wanted is known then
    try {
      await bridge?.beginView((event as any).prompt, ctx);
    } catch (error) {
      bridge?.tell("view", `aforesaid: no history view is made: ${error}`);
    }
  });

  pi.on("message_end", ({ message }, ctx) => {
    if (message.role === "user") bridge?.askAhead(message, ctx);
  });

  pi.on("session_tree", () => {
    bridge?.invalidateView("branch-changed");
    bridge?.forgetUsage();
  });

  pi.on("session_compact", () => bridge?.forgetUsage());

  pi.on("context", async (event, ctx) => {
    if (!bridge) return;
    const began = performance.now();
    try {
      const messages = await bridge.carry(event.messages, ctx);
      return messages && { messages };
    } catch (error) {
      bridge.fail(error);
    } finally {
      const { facts } = bridge;
      facts.calls += 1;
      facts.handlerMs.push(performance.now() - began);
      if (facts.handlerMs.length > KEPT) facts.handlerMs.shift();
    }
  });

  pi.on("context_with_system", async (event, ctx) => {
    if (!bridge) return;
    const began = performance.now();
    const messages = await bridge.finish(event.messages);
    const { handlerMs } = bridge.facts;
    handlerMs[handlerMs.length - 1] += performance.now() - began;
    return messages && { messages };
  });

  // The last event before a request: only here it shows which model is really called.
  pi.on("before_provider_request", (event, ctx) => bridge?.last(event.payload, ctx));

  // Requests for summaries pass none of these events; what they are made of is handed over before.
  pi.on("session_before_compact", async ({ preparation }, ctx) => {
    if (!bridge) return;
    preparation.messagesToSummarize = await bridge.clearForSummary(preparation.messagesToSummarize, ctx);
    preparation.turnPrefixMessages = await bridge.clearForSummary(preparation.turnPrefixMessages, ctx);
    if (preparation.previousSummary) {
      const previous: any[] = [{ role: "compactionSummary", summary: preparation.previousSummary }];
      preparation.previousSummary = (await bridge.clearForSummary(previous, ctx))[0].summary;
    }
  });

  pi.on("session_before_tree", async ({ preparation }, ctx) => {
    if (!bridge || !preparation.userWantsSummary) return;
    const entries: any[] = preparation.entriesToSummarize;
    const cleared = await bridge.clearForSummary(entries.map((entry) => entry.message ?? entry), ctx);
    cleared.forEach((message, at) => {
      entries[at] = entries[at].message ? { ...entries[at], message } : message;
    });
  });

  pi.on("agent_settled", (_event, ctx) => bridge?.settle(ctx));

  pi.on("session_shutdown", (event) => {
    if (!bridge) return;
    const { service, handle } = bridge;
    bridge.invalidateView("branch-changed");
    const keep = event.reason !== "quit" && event.reason !== "reload";
    if (keep) service.notify("session/close", { session: handle });
    if (!keep) service.stop();
    holder[CLAIM] = keep ? ({ session: undefined, service } satisfies Claim) : undefined;
    bridge = undefined;
    tools?.close();
    tools = undefined;
  });
  const factoryMs = loadedMs + performance.now() - entered;
}

const TOPICS = [
  ...["status", "retrieved", "manifest", "included", "excluded", "excluded all", "explain", "tokens", "health"],
  ...["rebuild-index", "config", "privacy", "view", "settings"],
];

function completions(typed: string): { value: string; label: string }[] | null {
  const found = TOPICS.filter((topic) => topic.startsWith(typed.trimStart())).map((topic) => ({ value: topic, label: topic }));
  return found.length ? found : null;
}
