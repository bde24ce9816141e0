import { api } from "@coffer/contract";
import type { Change } from "@coffer/sdk";
import { findActor, parseMoment, shortIds, untrusted } from "@coffer/tasks";
import * as z from "zod/mini";
import type { Fact } from "../result.ts";
import { TEXT } from "../schema.ts";
import { defineTool } from "../tool.ts";
import { moment, token, word } from "../fact-values.ts";
import { cursorAfter, pageInput, readCursor } from "./page-input.ts";
import { namedVault, vaultRef } from "./reference-input.ts";
import { LOOKS_BACK } from "./times.ts";

/** Hosts give a call 60 s, some 30. */
const MOST_WAIT = 50;

export const changeList = defineTool({
  name: "change_list",
  profile: "read",
  title: "What changed",
  description:
    "Changes in your vaults with their authors, oldest first. With wait it waits for a change: pass the nextCursor of the answer before. Only authors marked verified are proven.",
  endpoints: [api.changes.list],
  input: {
    since: z.optional(z.string().check(z.maxLength(64))),
    by: z.optional(z.string().check(z.maxLength(128))),
    vaultId: z.optional(vaultRef),
    wait: z._default(z.int().check(z.gte(0), z.lte(MOST_WAIT)), 0),
    ...pageInput,
  },
  describe: {
    since: `${LOOKS_BACK}; default: all that is kept`,
    by: "key id or chain address; default: anyone",
    vaultId: "id or name; default: all",
    wait: "seconds to wait for a change",
  },
  output: { nextCursor: TEXT },
  table: "changes",
  run: async ({ since, by, vaultId, wait, limit, cursor }, call) => {
    const vault = await namedVault(call, vaultId);
    const start = readCursor(cursor);
    const client = await call.client();
    // A call that waits without a cursor is about changes from now on.
    const from = since ?? (wait > 0 ? "0m" : undefined);
    const page = await client.changes.list(
      {
        limit: Math.min(limit + start.skip, 1_000),
        ...(start.cursor === null ? {} : { cursor: start.cursor }),
        ...(from === undefined || start.cursor !== null ? {} : { since: parseMoment("since", from, "UTC") }),
        ...(by === undefined ? {} : { by: await findActor(call, by) }),
        ...(vault === null ? {} : { vaultId: vault }),
        wait,
      },
      { signal: call.signal },
    );
    const changes = page.changes.slice(start.skip);
    const short = shortIds(changes.flatMap(({ object }) => [object.id, object.vaultId ?? object.id]));
    return {
      summary: changes.length === 0 ? "No changes." : `${String(changes.length)} changes.`,
      facts: { nextCursor: token(page.nextCursor) },
      table: {
        name: "changes",
        columns: ["time", "kind", "id", "vaultId", "by", "name"],
        rows: changes.map((change) => rowOf(change, short)),
        cursorAfter: cursorAfter(start),
      },
    };
  },
});

function rowOf(change: Change, short: (id: string) => string): Fact[] {
  const { object, kind, occurredAt, name } = change;
  return [
    ...[moment(occurredAt), kindOf(kind), /^[0-9a-f-]{36}$/.test(object.id) ? short(object.id) : untrusted(object.id)],
    ...[
      object.vaultId === null ? null : short(object.vaultId),
      actorOf(change),
      name === null ? null : untrusted(name),
    ],
  ];
}

/** A group and an act, such as `file.uploaded`. */
function kindOf(kind: string): Fact {
  return /^[a-z_]{1,20}\.[a-z_]{1,24}$/.test(kind) ? kind : word(kind);
}

/** A signature proves the author; without one the service's word is shown. */
function actorOf({ actor, author }: Change): Fact {
  if (author?.verified === true && author.chainAddress !== null) return `${author.chainAddress} verified`;
  return actor.chainAddress ?? actor.id ?? word(actor.type);
}
