import { EVENT_KINDS } from "@coffer/contract";
import { findActor, untrusted } from "@coffer/tasks";
import type { Change } from "@coffer/sdk";
import type { Context } from "../../context.ts";
import { command, count, text, toggle } from "../../declarations.ts";
import { exitOfFollowing } from "../../exit-codes.ts";
import { usage } from "../../failure.ts";
import { listing, written, type Column, type Result, type Printable } from "../../result.ts";
import { flagWord } from "../../shell-word.ts";
import { timeText } from "../../terminal/visible.ts";
import { visibleText } from "../../terminal/visible.ts";
import { boundOf, LOOKS_BACK } from "../../times.ts";
import { plain } from "./item-rows.ts";
import { VAULT, vaultIdOf } from "./vault-paths.ts";

export default command({
  brief: "List changes since a moment, with their actors",
  description: `Oldest first. With --follow it waits for more: until Ctrl-C (exit code 130), until --timeout is over, or until nobody reads what it prints (exit code 0). ${LOOKS_BACK}`,
  examples: [
    { line: "coffer changes --since 3h --vault Team", does: "the last three hours" },
    { line: "coffer changes --follow --json-lines", does: "one JSON document for each change, as it happens" },
  ],
  flags: {
    vault: VAULT,
    since: text("Only changes since this time", { placeholder: "TIME" }),
    after: count("Only changes after the one with this number", 0),
    by: text("Only changes by this key (its id or name) or this chain address", { placeholder: "WHO" }),
    kind: text("Only this kind, such as file.uploaded, or this group, such as file", { placeholder: "KIND" }),
    limit: count("At most so many; without it 1000, or with --follow no end"),
    follow: toggle("Wait for more, and print changes as they happen"),
  },
  isList: true,
  run: async (context, { after, by, follow, kind, limit, since, vault }) => {
    const { task } = context;
    if (follow && context.globals.json)
      throw usage("--follow prints many documents", "pass --json-lines in place of --json");
    const filters = {
      ...(vault === undefined ? {} : { vaultId: await vaultIdOf(task, vault) }),
      ...(by === undefined ? {} : { by: await findActor(task, by) }),
      ...(kind === undefined ? {} : { kind }),
    };
    const from = {
      ...(since === undefined ? {} : { since: boundOf(context, "--since", since) }),
      ...(after === undefined ? {} : { after }),
    };
    if (follow) return await followAll(context, filters, { ...from, limit });
    const { changes, isMore } = await listAll(context, { ...filters, ...from }, limit ?? 1_000);
    if (changes.length === 0 && kind !== undefined && !KNOWN.has(kind))
      context.printNote(untrusted(kind), ` is no kind of event. Those are: ${[...KNOWN].join(", ")}`);
    const last = changes.at(-1)?.sequence ?? null;
    return listing({
      name: "changes",
      items: changes,
      otherFields: { last, more: isMore },
      columns: COLUMNS,
      empty: "No changes.",
      after: isMore ? [`More: coffer changes --after ${String(last)}${sameAgain({ vault, by, kind, limit })}`] : [],
    });
  },
});

/** The flags that choose changes, for the line that goes on. The number is later than any `--since`. */
const sameAgain = (flags: Readonly<Record<string, string | number | undefined>>): string =>
  Object.entries(flags)
    .map(([name, value]) => (value === undefined ? "" : ` ${flagWord(`--${name}`, String(value))}`))
    .join("");

/** Groups of kinds, and the kinds. */
const KNOWN: ReadonlySet<string> = new Set([...EVENT_KINDS.map((kind) => kind.replace(/\..*/, "")), ...EVENT_KINDS]);

const COLUMNS: readonly Column<Change>[] = [
  { title: "number", of: ({ sequence }) => sequence, isNumber: true },
  { title: "time", of: ({ occurredAt }) => timeText(occurredAt) },
  { title: "kind", of: ({ kind }) => untrusted(kind) },
  { title: "id", of: ({ object }) => untrusted(object.id.slice(0, 8)) },
  { title: "vault", of: ({ object }) => untrusted(object.vaultId?.slice(0, 8) ?? "") },
  { title: "by", of: byText },
  { title: "name", of: ({ name }) => (name === null ? null : untrusted(name)) },
];

/** A signature proves the author; without one the service's word is shown. */
function byText({ actor, author }: Change): Printable {
  if (author?.verified === true && author.chainAddress !== null)
    return `${author.chainAddress.slice(0, 10)}… (verified)`;
  return untrusted(actor.id?.slice(0, 8) ?? actor.chainAddress ?? actor.type);
}

async function listAll({ client, signal }: Pick<Context, "client" | "signal">, query: object, limit: number) {
  const changes: Change[] = [];
  const { changes: feed } = await client();
  for await (const change of feed.list({ ...query, limit: Math.min(limit + 1, 1_000) }, { signal })) {
    if (changes.length >= limit) return { changes, isMore: true };
    changes.push(plain(change));
  }
  return { changes, isMore: false };
}

/** What there is since then, and from there on what comes. */
async function followAll(
  context: Context,
  filters: object,
  {
    limit = Infinity,
    ...from
  }: { readonly since?: string; readonly after?: number; readonly limit?: number | undefined },
): Promise<Result> {
  const { globals, signal, world } = context;
  const { changes: feed } = await context.client();
  let remaining = limit;
  const print = async (change: Change): Promise<void> => {
    remaining -= 1;
    if (globals.jsonLines) await context.writeLine(plain(change));
    else await context.write(`${COLUMNS.map(({ of }) => visibleText(of(change))).join("  ")}\n`);
  };
  let cursor: string | undefined;
  if (from.since !== undefined)
    // A wait of nothing returns a cursor at the end, too: no change is lost between the two.
    for (let isMore = true; isMore;) {
      const page = await feed.list(
        { ...filters, ...(cursor === undefined ? from : { cursor }), wait: 0, limit: 1_000 },
        { signal },
      );
      for (const change of page.changes.slice(0, remaining)) await print(change);
      if (remaining === 0) return written();
      isMore = page.changes.length > 0 && page.nextCursor !== null;
      cursor = page.nextCursor ?? cursor;
    }
  const onReconnect = (error: Error, waitMs: number): void =>
    context.printNote(untrusted(`${error.message}; trying again in ${String(Math.ceil(waitMs / 1000))} s`));
  const position = cursor === undefined ? (from.after === undefined ? {} : { after: from.after }) : { cursor };
  for await (const change of feed.follow({ ...filters, ...position, onReconnect, signal })) {
    await print(change);
    if (remaining === 0) return written();
  }
  return written(exitOfFollowing(world.interrupted));
}
