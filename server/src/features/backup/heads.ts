/** The newest entry of each account's audit log, one a line: `<account> <sequence>:<hash>`. Kept elsewhere, it shows later what was altered. */
import type { AuditLink } from "@coffer/contract";
import type { Queries } from "../../ports/database.ts";
import { findChainEnds, listAccountIds } from "../audit/store.ts";

const LINE = /^([0-9a-f-]{36}) (\d{1,15}):([0-9a-f]{64})$/;

export async function* listHeads(queries: Queries): AsyncGenerator<string> {
  for (let after = ""; ;) {
    const ids = await listAccountIds(queries, after);
    for (const id of ids) {
      const ends = await findChainEnds(queries, id);
      if (ends !== null) yield `${id} ${String(ends.head.sequence)}:${ends.head.hash}\n`;
    }
    const last = ids.at(-1);
    if (last === undefined) return;
    after = last;
  }
}

/** @throws Error that names the first line that is none. */
export function parseHeads(text: string): ReadonlyMap<string, AuditLink> {
  const heads = new Map<string, AuditLink>();
  for (const [at, line] of text.split("\n").entries()) {
    if (line === "") continue;
    const [, account, sequence, hash] = LINE.exec(line) ?? [];
    if (account === undefined || hash === undefined)
      throw new Error(`line ${String(at + 1)} is not <account> <sequence>:<hash>, as a backup's heads.txt has it`);
    heads.set(account, { sequence: Number(sequence), hash });
  }
  return heads;
}
