/**
 * What this client has seen, so that it notices a service which shows something older (encryption design §2, reading;
 * file-format §8).
 */
import type { Place, SeenStatement } from "@coffer/crypto";
import type { OpenVault } from "../open-vault.ts";

/** The subject of a statement: a file's content, or the name and place of a file or folder. */
export type SeenKind = "version" | "entry";

/** What was seen of one vault. It holds ids, numbers and digests: no name and no secret. */
export interface SeenMemory {
  /** null: nothing was seen, or later notes replaced it. */
  find(kind: SeenKind, id: string): SeenStatement | null;
  /**
   * Never goes back: a lower number changes nothing, and of two statements with one number the first stays. Does not fail.
   * It counts for this process at once, and is written without delay.
   */
  record(kind: SeenKind, id: string, seen: SeenStatement): void;
  /** Reads other processes' notes. Cheap enough to come before every read. */
  refresh(): Promise<void>;
  /**
   * Resolves when all notes that were made before outlive this process.
   * @throws the medium's errors; no note is lost by them.
   */
  flush(): Promise<void>;
  /** Forgets one file or folder, or with null the whole vault. Durable when it resolves. */
  forget(id: string | null): Promise<void>;
}

/** A store between runs; in memory unless one is given. Only notes that are not flushed yet may be lost with the process. */
export interface SeenStore {
  /** `chainObjectId`: 0x and 64 hex digits. */
  open(chainObjectId: string): Promise<SeenMemory>;
}

/** How many statements of one kind are remembered in memory; the oldest notes give way. */
const MOST = 10_000;

/** Forgets with the process. */
export function rememberSeen(): SeenMemory {
  const memories = { version: new Map<string, SeenStatement>(), entry: new Map<string, SeenStatement>() };
  return {
    find: (kind, id) => memories[kind].get(id) ?? null,
    record: (kind, id, seen) => {
      note(memories[kind], id, seen);
    },
    refresh: () => Promise.resolve(),
    flush: () => Promise.resolve(),
    forget: (id) => {
      for (const memory of Object.values(memories))
        if (id === null) memory.clear();
        else memory.delete(id);
      return Promise.resolve();
    },
  };
}

function note(memory: Map<string, SeenStatement>, id: string, seen: SeenStatement): void {
  const before = memory.get(id);
  // A late, slow answer does not replace a newer one.
  if (before !== undefined && before.number >= seen.number) return;
  memory.delete(id);
  memory.set(id, seen);
  const oldest = memory.size > MOST ? memory.keys().next().value : undefined;
  if (oldest !== undefined) memory.delete(oldest);
}

/** One memory for each vault, however often it is opened. A failure is not remembered. `store`: absent forgets with the process. */
export function rememberMemories(store?: SeenStore): (chainObjectId: string) => Promise<SeenMemory> {
  const memories = new Map<string, Promise<SeenMemory>>();
  return (chainObjectId) => {
    const cached = memories.get(chainObjectId);
    if (cached !== undefined) return cached;
    const opening = store?.open(chainObjectId) ?? Promise.resolve(rememberSeen());
    memories.set(chainObjectId, opening);
    opening.catch(() => memories.delete(chainObjectId));
    return opening;
  };
}

/** The form for the other modules of a vault. */
export function seenBy(memory: SeenMemory, noteSigned: (place: Place) => void = () => undefined): OpenVault["seen"] {
  return {
    version: (fileId) => memory.find("version", fileId),
    entry: (id) => memory.find("entry", id),
    recordVersion: (fileId, seen) => {
      memory.record("version", fileId, seen);
      noteSigned(seen);
    },
    recordEntry: (id, seen) => {
      memory.record("entry", id, seen);
      noteSigned(seen);
    },
    // Where nothing can be written, this process remembers: a read-only disk stops no reading.
    flush: () => memory.flush().catch(() => undefined),
    forget: (id) => memory.forget(id),
  };
}
