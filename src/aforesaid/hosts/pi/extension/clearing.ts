// The last look at what leaves Pi: the final messages, judged for the provider that is called, while the privacy policy
// keeps anything from it. The service judges; what it said of a text is kept as long as the policy stays the same.
//
// Pi's own messages always go out: where nothing was said in time, as Pi made them, but for those with a marker in them.
// What aforesaid added goes out only if it was said to. `docs/decisions/0022-final-messages.md` has the reasons.

import type { Policy } from "./policy.ts";

type Kind = "said" | "result" | "added" | "answer";

/** A message as the service judges it. */
interface Text {
  texts: string[];
  kind: Kind;
  call?: string[];
  fresh?: boolean;
  entryId?: string;
}

/** Whether a message goes out as it is, or its texts as they go out. */
type Verdict = boolean | string[];

/** Asks the service about messages; rejects if it does not answer within that many milliseconds. */
export type Ask = (messages: Text[], timeoutMs: number) => Promise<{ policy: Policy; messages: Verdict[] }>;

/** Tools of aforesaid, whose answers are of entries that were judged for one provider. */
const OWN_TOOLS = new Set(["history_recall", "history_expand", "history_status"]);
const UNJUDGED = "[withheld by aforesaid: local-only]";
const FRAME = /\[AFORESAID HISTORICAL EVIDENCE[\s\S]*?\[END AFORESAID HISTORICAL EVIDENCE\]\s*/g;
/** A marker of a class, for when nobody can be asked. */
const MARKED = /\[\s*\/?\s*aforesaid\s*:/i;
/** Characters of texts that are judged at once: more could not be answered in time, and would be lost as a whole. */
const AT_ONCE = 400_000;
const FIELDS = ["content", "sections", "command", "output", "summary"];
const NO_TEXT = new Set(["type", "id", "name", "mimeType", "data", "textSignature", "thinkingSignature", "thoughtSignature"]);

/** What a model reads of a message, in order, each text passed through `visit`. */
function walk(message: any, visit: (text: string) => string): void {
  const enter = (holder: any, key: string | number, all: boolean): void => {
    const value = holder[key];
    if (typeof value === "string") {
      if (all || !NO_TEXT.has(String(key))) holder[key] = visit(value);
    } else if (value && typeof value === "object") {
      for (const inner of Object.keys(value)) enter(value, inner, all || key === "arguments");
    }
  };
  for (const field of FIELDS) if (field in message) enter(message, field, false);
}

function textsOf(message: any): string[] {
  const texts: string[] = [];
  walk(message, (text) => {
    texts.push(text);
    return text;
  });
  return texts;
}

/** The same message with other texts. What a model thought is signed, so that a changed thought is left out instead. */
function withTexts(message: any, texts: string[]): any {
  const changed = structuredClone(message);
  let at = 0;
  walk(changed, () => texts[at++]);
  if (Array.isArray(changed.content)) {
    changed.content = changed.content.filter(
      (block: any, place: number) => block?.type !== "thinking" || block.thinking === message.content[place].thinking,
    );
  }
  return changed;
}

function keyOf({ texts, kind, call, fresh }: Text): string {
  return `${kind} ${fresh} ${call?.join("\u0001") ?? "?"}\u0000${texts.join("\u0001")}`;
}

/** What was added to one call, and for whom it was cleared. */
export interface Carried {
  provider: string | undefined;
  policy: Policy | undefined;
  /** Whether the service did not answer in time for this call: then it is not asked again. */
  unheard: boolean;
  /** Entries by the text of their evidence. */
  contents: Map<string, string | undefined>;
}

export class Clearing {
  private judged = new Map<string, Verdict>();
  private judgedFor = "";
  /** Answers of aforesaid's own tools that went out last. */
  private answers = new Set<string>();

  /** Pi's messages as they may go out, or undefined if that is what they are. `trouble` hears of a service that fails. */
  async clear(messages: any[], carried: Carried, ask: Ask | undefined, timeoutMs: number, trouble: (error: unknown) => void): Promise<any[] | undefined> {
    this.answers.clear();
    const described = this.describe(messages, carried);
    const holder = `${carried.provider}\u0000${carried.policy?.stamp}`;
    if (holder !== this.judgedFor) this.judged.clear();
    this.judgedFor = holder;
    const keys = described.map(keyOf);
    if (ask) await this.judge(described, keys, ask, timeoutMs, trouble);
    const known = new Map<string, Verdict>();
    let changed = false;
    const cleared = messages.flatMap((message, at) => {
      const said = this.judged.get(keys[at]);
      if (said !== undefined) known.set(keys[at], said);
      const verdict = said ?? unjudged(described[at]);
      if (verdict === true) {
        if (described[at].kind === "answer") for (const text of described[at].texts) this.answers.add(text);
        return [message];
      }
      changed = true;
      return verdict === false ? [] : [withTexts(message, verdict)];
    });
    this.judged = known; // of messages that are gone nothing is kept
    return changed ? cleared : undefined;
  }

  /** Messages without anything of ours, for when judging them failed. */
  withoutOurs(messages: any[], carried: Carried): any[] {
    const described = this.describe(messages, carried);
    return messages.flatMap((message, at) => {
      const { kind, texts } = described[at];
      if (kind === "added") return [];
      return [kind === "answer" ? withTexts(message, texts.map(() => UNJUDGED)) : message];
    });
  }

  /** A payload without anything of ours, for a provider that it was not judged for. */
  strip(payload: unknown, { contents }: Carried): unknown {
    const gone = Symbol("gone");
    const pass = (value: any): any => {
      if (typeof value === "string") {
        if (this.answers.has(value)) return UNJUDGED;
        if (contents.has(value)) return gone;
        const left = value.replace(FRAME, "");
        return left === value ? value : left.trim() ? left : gone;
      }
      if (Array.isArray(value)) {
        const left = value.map(pass).filter((item) => item !== gone);
        return left.length || !value.length ? left : gone;
      }
      if (!value || typeof value !== "object" || ![Object.prototype, null].includes(Object.getPrototypeOf(value))) return value;
      const left = Object.entries(value).map(([name, inner]) => [name, pass(inner)]);
      return left.some(([, inner]) => inner === gone) ? gone : Object.fromEntries(left);
    };
    return pass(payload);
  }

  private describe(messages: any[], { provider, policy, contents }: Carried): Text[] {
    const calls = new Map<string, string[]>();
    return messages.map((message) => {
      const texts = textsOf(message);
      if (message.role === "assistant" && Array.isArray(message.content)) {
        for (const block of message.content) {
          if (block?.type === "toolCall") calls.set(block.id, textsOf({ content: { arguments: block.arguments } }));
        }
      }
      if (message.role === "toolResult") {
        if (OWN_TOOLS.has(message.toolName)) {
          if (message.details?.clearedFor === null) return { texts, kind: "said" };
          const made = message.details?.clearedFor;
          return { texts, kind: "answer", fresh: made?.provider === provider && made?.stamp === policy?.stamp };
        }
        return { texts, kind: "result", call: calls.get(message.toolCallId) };
      }
      if (message.role === "bashExecution") return { texts, kind: "result", call: [String(message.command)] };
      if (message.role === "user" && texts.length === 1 && contents.has(texts[0])) {
        return { texts, kind: "added", fresh: true, entryId: contents.get(texts[0]) };
      }
      return { texts, kind: "said" };
    });
  }

  /** Asks about what is not known, in parts: what was answered in time is known the next time. */
  private async judge(described: Text[], keys: string[], ask: Ask, timeoutMs: number, trouble: (error: unknown) => void): Promise<void> {
    const due = new Map<string, Text>();
    described.forEach((text, at) => {
      if (!this.judged.has(keys[at])) due.set(keys[at], text);
    });
    const deadline = Date.now() + timeoutMs;
    const left = [...due];
    try {
      while (left.length) {
        let size = 0;
        const enough = left.findIndex(([key]) => (size += key.length) > AT_ONCE);
        const part = left.splice(0, enough < 0 ? left.length : Math.max(1, enough));
        const told = await ask(part.map(([, text]) => text), Math.max(1, deadline - Date.now()));
        if (!Array.isArray(told?.messages) || told.messages.length !== part.length || !told.messages.every(sound)) {
          throw new Error("the service gave an answer of another version");
        }
        part.forEach(([key], at) => this.judged.set(key, told.messages[at]));
      }
    } catch (error) {
      trouble(error);
    }
  }
}

function sound(verdict: unknown): verdict is Verdict {
  return typeof verdict === "boolean" || (Array.isArray(verdict) && verdict.every((text) => typeof text === "string"));
}

/** What happens to a message that nobody judged in time. */
function unjudged({ kind, texts }: Text): Verdict {
  if (kind === "added") return false;
  const hidden = kind === "answer" || texts.some((text) => MARKED.test(text.normalize("NFKC").replace(/\p{Cf}/gu, "")));
  return hidden ? texts.map((text) => (text.trim() ? UNJUDGED : text)) : true;
}
