// What one agent run adds to its model calls. Pure: takes what Pi sees and gives the list that goes out.
//
// The first call of a run is asked about; from then on its additions are frozen, so that tool steps, retries and
// steering messages see the same bytes. A compaction ends that, any other change of what stands before ends injection.

export interface Item {
  id: string;
  /** Changes when the message of an entry does. */
  key: string;
  /** Whether this is a real message of the user. */
  request: boolean;
  role: string;
}

export interface Seen {
  items: Item[];
  /** Ids of all entries of the context, those without a message included. */
  entries: string[];
  /** Whether Pi's own list has system messages between the others. */
  patched: boolean;
  /** The compaction whose summary stands at the head of the list. */
  compaction: string | undefined;
}

export interface Added {
  content: string;
  entryId?: string;
  before: string;
  /** `evidence` or `view`. */
  source?: string;
  /** What a classifier cost that helped to make it. */
  usage?: unknown;
}

export interface Selection {
  messages: Added[];
  omitted: string[];
}

/** The messages of Pi's projection, each with the entry that it stands for; `session` messages carry no ids. */
export function see(projection: { entries: any[] }): Seen {
  const edits = new Map<string, string>();
  for (const { sourceEntry } of projection.entries) {
    if (sourceEntry.type === "context_edit") edits.set(sourceEntry.targetId, sourceEntry.id);
  }
  const items: Item[] = [];
  let patched = false;
  for (const { sourceEntry, messages } of projection.entries) {
    const { id, type } = sourceEntry;
    for (const { role } of messages) {
      if (role === "system") {
        patched ||= items.length > 0;
        continue;
      }
      items.push({ id, key: edits.has(id) ? `${id}@${edits.get(id)}` : id, request: type === "message" && role === "user", role });
    }
  }
  const first = projection.entries[0]?.sourceEntry;
  const entries = projection.entries.map(({ sourceEntry }) => sourceEntry.id);
  return { items, entries, patched, compaction: first?.type === "compaction" ? first.id : undefined };
}

/** Whether Pi's list is the projection: an extension that ran before may have changed it. */
export function matches(seen: Seen, messages: any[]): boolean {
  return messages.length === seen.items.length && messages.every((message, at) => message.role === seen.items[at].role);
}

export function findRequest(seen: Seen): number {
  return seen.items.findLastIndex((item) => item.request);
}

export type Decision = { kind: "ask" } | { kind: "reuse"; selection: Selection } | { kind: "leave"; reason: string };

export class Run {
  private boundary: string[] | undefined;
  private compaction: string | undefined;
  private selection: Selection = { messages: [], omitted: [] };
  private stopped = false;
  private provider: string | undefined;
  private stamp: string | undefined;

  /** Whether anything of ours is frozen. */
  get holds(): boolean {
    return this.selection.messages.length > 0;
  }

  /** Whether its first call has been asked about. */
  get asked(): boolean {
    return this.boundary !== undefined;
  }

  /** What to do about a call of this run. What was selected for one provider, or under one policy, may not go on under another. */
  decide(seen: Seen, provider: string | undefined, stamp: string | undefined): Decision {
    if (this.stopped) return { kind: "leave", reason: "history-rewritten" };
    if (!this.boundary || provider !== this.provider || (this.holds && stamp !== this.stamp)) return { kind: "ask" };
    if (this.boundary.every((key, at) => seen.items[at]?.key === key)) {
      return { kind: "reuse", selection: this.selection };
    }
    if (seen.compaction !== this.compaction) return { kind: "ask" };
    this.stopped = true;
    return { kind: "leave", reason: "history-rewritten" };
  }

  /** Whether a view is among what is frozen. */
  get hasView(): boolean {
    return this.selection.messages.some((added) => added.source === "view");
  }

  /** Takes the view out of what is frozen; the rest stays. */
  dropView(): void {
    this.selection = { ...this.selection, messages: this.selection.messages.filter((added) => added.source !== "view") };
  }

  /** Freezes the additions to the list up to and including its request. */
  freeze(seen: Seen, request: number, selection: Selection, provider: string | undefined, stamp: string | undefined): void {
    this.provider = provider;
    this.stamp = stamp;
    this.boundary = seen.items.slice(0, request + 1).map((item) => item.key);
    this.compaction = seen.compaction;
    this.selection = selection;
  }
}

/** Pi's list with the additions before their entries and without what is left out; system messages stay in place. */
export function weave(seen: Seen, messages: any[], selection: Selection): any[] {
  if (selection.messages.length === 0 && selection.omitted.length === 0) return messages;
  const before = new Map<string, Added[]>();
  for (const added of selection.messages) before.set(added.before, [...(before.get(added.before) ?? []), added]);
  const omitted = new Set(selection.omitted);
  const woven: any[] = [];
  let at = 0;
  for (const message of messages) {
    if (message.role === "system") {
      woven.push(message);
      continue;
    }
    const { id } = seen.items[at++];
    for (const { content, usage } of before.get(id) ?? []) {
      const made: any = { role: "user", content: [{ type: "text", text: content }], timestamp: message.timestamp ?? 0 };
      if (usage) made.classifierUsage = usage;
      woven.push(made);
    }
    before.delete(id);
    if (!omitted.has(id)) woven.push(message);
  }
  return woven;
}

/** How much of the previous list, in characters of its JSON, is the beginning of the next one. */
export class Prefix {
  private previous: string[] = [];
  private sizes = new Map<string, number>();

  share(keys: string[], size: (at: number) => number): number | undefined {
    keys.forEach((key, at) => {
      if (!this.sizes.has(key)) this.sizes.set(key, size(at));
    });
    const weigh = (from: string[]) => from.reduce((sum, key) => sum + (this.sizes.get(key) ?? 0), 0);
    const differs = this.previous.findIndex((key, at) => keys[at] !== key);
    const same = differs < 0 ? this.previous : this.previous.slice(0, differs);
    const whole = weigh(this.previous);
    this.previous = keys;
    return whole ? weigh(same) / whole : undefined;
  }
}
