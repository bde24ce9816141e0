/** Names of J24: a thousand that nobody looks for, and some among them that somebody does. */
import type { Client, UploadInput } from "@coffer/sdk";
import assert from "node:assert/strict";

const MANY = process.env["COFFER_TEST_COUNTS"] === "full" ? 2_000 : 300;
const TEXT = "text/plain";

/** What a search for `strasse` finds, best first: a word, its beginning, its inside; the newest first. */
export const STREETS = ["an der STRASSE.txt", "Straßenbau.pdf", "Hauptstraße 7.txt"];

interface Place {
  readonly client: Client;
  readonly vaultId: string;
  /** Below `plans`, where {@link STREETS} are not. */
  readonly inner: string;
}

/** Stores them in a vault. `inner` is the id of a folder in it. */
export async function storeNames({ client, vaultId, inner }: Place): Promise<void> {
  const body = new TextEncoder().encode("a page that somebody wrote");
  const others = Array.from({ length: MANY }, (_, at) => `invoice ${String(at)} of a quarter.txt`);
  const inputs: UploadInput[] = others.map((name) => ({ vaultId, name, contentType: TEXT, body }));
  inputs.push({ vaultId, folderId: inner, name: "Façade of the tower.pdf", contentType: "application/pdf", body });
  const outcomes = await client.files.uploadMany(inputs);
  assert.deepEqual(
    outcomes.flatMap(({ error }) => error ?? []),
    [],
  );
  for (const name of STREETS.toReversed())
    await client.files.upload({ vaultId, name, contentType: name.endsWith("pdf") ? "application/pdf" : TEXT, body });
}

export async function namesOf(found: AsyncIterable<{ readonly name: string }>): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of found) names.push(name);
  return names;
}
