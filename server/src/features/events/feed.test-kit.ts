/** TEST ONLY: a feed as a reader has it, and changes to read. */
import type { Deps } from "../../deps.ts";
import { systemRandom } from "../../ports/random.ts";
import { noteChanges } from "../changes/changes.test-kit.ts";

/** One block of WHATWG HTML §9.2.5; what it lacks is null. */
export interface ReadBlock {
  readonly id: string | null;
  readonly event: string | null;
  readonly data: string | null;
  readonly retry: string | null;
  readonly comment: string | null;
}

/** Every block of a body, as it arrives. Ending the loop lets the body go. */
export async function* readBlocks(body: AsyncIterable<Uint8Array>): AsyncGenerator<ReadBlock, void, undefined> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true });
    const blocks = rest.split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) yield toBlock(block);
  }
  if (rest !== "") throw new Error(`the feed ended within a block: ${rest}`);
}

function toBlock(text: string): ReadBlock {
  const fields = new Map(
    text.split("\n").map((line) => [line.split(":")[0] ?? "", line.slice(line.indexOf(":") + 1).trim()]),
  );
  const field = (name: string): string | null => fields.get(name) ?? null;
  return { id: field("id"), event: field("event"), data: field("data"), retry: field("retry"), comment: field("") };
}

/** The ids of the next `count` events. */
export async function takeIds(blocks: AsyncGenerator<ReadBlock, void, undefined>, count: number): Promise<number[]> {
  const ids: number[] = [];
  while (ids.length < count) {
    const { done, value } = await blocks.next();
    if (done === true) throw new Error(`the feed ended after ${ids.length} events`);
    if (value.data !== null) ids.push(Number(value.id));
  }
  return ids;
}

/** Makes one change in an act of its own; `kind` null: one that is not an event. Resolves with its sequence number. */
export function addChange(
  database: Deps["database"],
  accountId: string,
  kind: "vault.created" | null = "vault.created",
): Promise<number> {
  const id = systemRandom.uuid();
  return noteChanges(database, accountId, [
    {
      actor: null,
      target: { kind: "vault", id },
      occurredAt: Date.UTC(2026, 0, 1),
      ...(kind === null
        ? { action: "session.created" }
        : { action: kind, object: { type: "vault", id, vaultType: "public" } }),
    },
  ]);
}
