/** Reads the change feed for a rewind: the actor's acts, and all that happened to the same files and folders. */
import type { Author } from "../storage/item-types.ts";
import { listChanges } from "../events/changes.ts";
import { everyPage, type PageCursor } from "../http/every-page.ts";
import type { Connection } from "../connection/options.ts";
import type { Change } from "../events/changes.ts";
import type { RewindInput, RewindOptions } from "./report.ts";

/** The actor that is rewound, and the time. */
export interface Actor {
  /** By a row of the change feed. */
  did(change: Pick<Change, "actor" | "occurredAt">): boolean;
  /** By the author of a version or an entry, made then. In shared vaults the author is the address that signed. */
  made(author: Author | null, at: string): boolean;
  /** Whether that time is rewound. */
  isThen(at: string): boolean;
  /** The call named an address: only that shows who signed. Which address a key has is the service's word. */
  readonly isAddress: boolean;
}

export function actorOf({ keyId, chainAddress, since, until }: RewindInput): Actor {
  const [from, to] = [timeOf("since", since), until === undefined ? Infinity : timeOf("until", until)];
  const isThen = (text: string): boolean => Date.parse(text) >= from && Date.parse(text) <= to;
  const is = (who: { id: string | null; chainAddress: string | null }): boolean =>
    keyId === undefined ? who.chainAddress === chainAddress : who.id === keyId;
  return {
    did: ({ actor, occurredAt }) => is(actor) && isThen(occurredAt),
    made: (author, at) => author !== null && is(author) && isThen(at),
    isThen,
    isAddress: chainAddress !== undefined,
  };
}

function timeOf(name: string, text: string): number {
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw new TypeError(`agents.rewind: ${name} must be a time like 2026-11-20T17:00:00.000Z`);
  return time;
}

/** The actor that a plan is about, and the options of the calls that read. */
export interface PlanScope {
  readonly actor: Actor;
  readonly call: Pick<RewindOptions, "signal">;
}

/** A file or folder that the actor touched. */
export interface TouchedItem {
  readonly kind: "file" | "folder";
  readonly id: string;
  /** What happened to it since then, by whomever, oldest first. */
  readonly rows: Change[];
  /** What happened since then to what lies in it, if it is a folder. */
  readonly inside: Change[];
}

export interface ActorHistory {
  /** Changes by the actor. */
  readonly count: number;
  readonly touched: readonly TouchedItem[];
  /** The actor's other acts. */
  readonly listed: readonly Change[];
}

/** The kinds of acts that can be undone. */
const REVERSIBLE = /^(file\.(uploaded|updated|trashed|restored)|folder\.(created|updated|trashed|restored))$/;

export async function readHistory(
  connection: Connection,
  input: RewindInput,
  { signal }: RewindOptions,
): Promise<ActorHistory> {
  const { keyId, chainAddress, vaultId } = input;
  const since = new Date(input.since).toISOString();
  const until = input.until === undefined ? {} : { until: new Date(input.until).toISOString() };
  const inVault = vaultId === undefined ? {} : { vaultId };
  const read = (query: object) => everyChange(connection, { ...query, since }, signal);
  const touched = new Map<string, TouchedItem>();
  const vaultIds = new Set<string>();
  const listed: Change[] = [];
  let count = 0;
  const by = keyId ?? chainAddress ?? "";
  for await (const change of read({ ...inVault, ...until, by })) {
    count += 1;
    const { type, id, vaultId: home } = change.object;
    if (!REVERSIBLE.test(change.kind) || home === null) listed.push(change);
    else if (type === "file" || type === "folder") {
      vaultIds.add(home);
      touched.set(id, touched.get(id) ?? { kind: type, id, rows: [], inside: [] });
    }
  }
  for (const home of vaultIds)
    for await (const change of read({ vaultId: home })) {
      touched.get(change.object.id)?.rows.push(change);
      touched.get(change.object.folderId ?? "")?.inside.push(change);
    }
  return { count, touched: [...touched.values()], listed };
}

async function* everyChange(
  connection: Connection,
  query: object,
  signal: AbortSignal | undefined,
): AsyncGenerator<Change, void, undefined> {
  const load = (place: PageCursor) =>
    listChanges(connection, { ...query, ...place, limit: 1000 }, { names: false, signal });
  for await (const { changes } of everyPage("changes.list", load)) yield* changes;
}
