/** What this client has seen, so that a service which shows something older is caught (encryption design §2, reading). */
import type { SeenStatement } from "@coffer/crypto";
import type { OpenVault } from "./open-vault.ts";

/** How many files and entries are remembered; the ones used longest ago give way. */
const MOST = 10_000;

export function rememberSeen(): OpenVault["seen"] {
  const [versions, entries] = [new Map<string, SeenStatement>(), new Map<string, SeenStatement>()];
  return {
    version: (fileId) => versions.get(fileId) ?? null,
    entry: (id) => entries.get(id) ?? null,
    noteVersion: (fileId, seen) => {
      note(versions, fileId, seen);
    },
    noteEntry: (id, seen) => {
      note(entries, id, seen);
    },
  };
}

/** Never goes back: what arrives late from a slow answer does not replace what is newer. */
function note(memory: Map<string, SeenStatement>, id: string, seen: SeenStatement): void {
  const before = memory.get(id);
  if (before !== undefined && before.number > seen.number) return;
  memory.delete(id);
  memory.set(id, seen);
  const oldest = memory.size > MOST ? memory.keys().next().value : undefined;
  if (oldest !== undefined) memory.delete(oldest);
}
