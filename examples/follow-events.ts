/**
 * Follow an account's event feed with nothing but fetch, as a listener in any language can. It reads server-sent
 * events, keeps the last sequence number, and comes back with it. The SDK's `client.events.follow` does the same in
 * one line.
 * Run it: `npm run example -- follow-events`, or copy it into a project of yours. The program checks each claim and
 * ends with 1 at the first that does not hold.
 */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { createClient } from "@coffer/sdk";
import { resolveSettings } from "@coffer/sdk/node";
import { isEvent, type ReceivedEvent } from "@coffer/sdk/webhooks";

// The address and the key come from SERVICE_BASE_URL and SERVICE_API_KEY, or from the file that SERVICE_CONFIG_FILE names.
const { baseUrl, apiKey } = await resolveSettings();
if (baseUrl === null || apiKey === null)
  throw new Error("Set SERVICE_CONFIG_FILE, or SERVICE_BASE_URL and SERVICE_API_KEY.");
const client = createClient({ baseUrl, credentials: apiKey });
const feed = { address: `${baseUrl}/api/events`, authorization: `Bearer ${apiKey.reveal()}` };

/** The fields of a block that this listener needs; it ignores the rest (`event`, comments). */
interface Block {
  /** The place to come back to. */
  readonly id: number;
  /** null: the block has a place and no event. */
  readonly event: ReceivedEvent | null;
}

/**
 * One connection, from the event after `after` on; without it, from now on. Ends when the server ends it. A real
 * listener then comes back after the time in `retry` with the last id. Leaving the loop closes the connection.
 */
async function* follow(after: number | null): AsyncGenerator<Block, void, undefined> {
  const headers: Record<string, string> = { authorization: feed.authorization, accept: "text/event-stream" };
  if (after !== null) headers["last-event-id"] = String(after);
  const answer = await fetch(feed.address, { headers });
  assert.equal(answer.status, 200);
  let rest = "";
  for await (const text of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    // An empty line ends a block; a partial block waits for the rest.
    const blocks = (rest + text).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const id = fieldOf(block, "id");
      const data = fieldOf(block, "data");
      if (id !== null) yield { id: Number(id), event: data === null ? null : (JSON.parse(data) as ReceivedEvent) };
    }
  }
}

function fieldOf(block: string, name: string): string | null {
  const line = block.split("\n").find((each) => each.startsWith(`${name}: `));
  return line === undefined ? null : line.slice(name.length + 2);
}

/** The next events that the program waits for, and the place after the last of them. */
async function take(blocks: AsyncIterable<Block>, count: number): Promise<{ events: ReceivedEvent[]; place: number }> {
  const events: ReceivedEvent[] = [];
  for await (const { id, event } of blocks) {
    if (event !== null) events.push(event);
    if (events.length === count) return { events, place: id };
  }
  throw new Error("the feed ended");
}

async function upload(vaultId: string, name: string): Promise<string> {
  return (await client.files.upload({ vaultId, name, body: Buffer.from("content") })).file.id;
}

const listening = follow(null);
const { value: first } = await listening.next();
claim("the feed says at once where it begins", first?.event === null && Number.isInteger(first.id));

const vault = await client.vaults.create({ name: `Example ${randomUUID()}`, type: "public" });
try {
  const fileId = await upload(vault.id, "seen.txt");
  const { events, place } = await take(listening, 2);
  const [made, stored] = events;
  claim("a new vault shows", made !== undefined && isEvent(made, "vault.created") && made.data.object.id === vault.id);
  claim(
    "an upload shows, with its place in the account's history",
    stored !== undefined &&
      isEvent(stored, "file.uploaded") &&
      stored.data.object.id === fileId &&
      stored.data.sequence === place,
  );
  claim("and never a name", !JSON.stringify(events).includes("seen.txt"));

  // Leaving the loop closed the connection: the listener misses events until it comes back.
  const missed = await Promise.all([upload(vault.id, "missed 1.txt"), upload(vault.id, "missed 2.txt")]);
  const back = follow(place);
  const caughtUp = await take(back, 2);
  const told = caughtUp.events.map((event) => (isEvent(event, "file.uploaded") ? event.data.object.id : event.type));
  claim(
    "a listener that comes back gets what it missed, once and in order",
    told.toSorted().join() === missed.toSorted().join(),
  );
  const sequences = caughtUp.events.map(({ data }) => data.sequence);
  claim(
    "each after the one before",
    sequences.every((sequence, at) => sequence > (sequences[at - 1] ?? place)),
  );

  for await (const event of client.events.follow({ after: place })) {
    claim("the SDK follows from the same place", event.data.sequence === sequences[0]);
    break;
  }
  console.log("every claim holds");
} finally {
  await client.vaults.delete(vault.id, { force: true });
}

function claim(sentence: string, holds: boolean): void {
  assert.ok(holds, sentence);
  console.log(`ok  ${sentence}`);
}
