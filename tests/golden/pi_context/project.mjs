// Prints what the real Pi sends for a session file: node project.mjs PI_DIST FILE [LEAF]
import { readFileSync } from "node:fs";
const [dist, file, leaf] = process.argv.slice(2);
const { parseSessionEntries, migrateSessionEntries, buildSessionProjection } = await import(dist + "/core/session-manager.js");
const { convertToLlm } = await import(dist + "/core/messages.js");
const entries = parseSessionEntries(readFileSync(file, "utf8"));
migrateSessionEntries(entries);
const body = entries.filter((e) => e.type !== "session");
const byId = new Map(body.map((e) => [e.id, e]));
const p = buildSessionProjection(body, leaf ?? body.at(-1)?.id ?? null, byId);
const out = [];
for (const { sourceEntry, messages } of p.entries)
  for (const m of convertToLlm(messages)) if (m.role !== "system") out.push({ role: m.role, content: m.content, index: entries.indexOf(sourceEntry) });
process.stdout.write(JSON.stringify(out));
