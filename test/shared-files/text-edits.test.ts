/** Edits of one text by eight writers at once: each is there exactly once, in both kinds of vault. */
import { appendText, replaceText, SdkError, type Client } from "@coffer/sdk";
import { expect, it } from "vitest";
import { read, sharedStack, UNLIMITED } from "../kit/shared-scene.ts";

const stack = sharedStack(UNLIMITED);
const WRITERS = Array.from({ length: 8 }, (_, at) => at);
const LINES = 5;
/** What is encrypted in one vault must be in the clear nowhere else. */
const WORD = { public: "open", shared: "kept" } as const;

const codeOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => null,
    (error: unknown) => (error instanceof SdkError ? error.code : error),
  );

async function fileWith(
  type: "public" | "shared",
  body: string,
): Promise<{ client: Client; vaultId: string; fileId: string }> {
  const { client } = stack.owner;
  const vaultId = (await client.vaults.create({ name: crypto.randomUUID(), type })).id;
  const { file } = await client.files.upload({ vaultId, name: "notes.txt", contentType: "text/plain", body });
  return { client, vaultId, fileId: file.id };
}

it.each(["public", "shared"] as const)("by eight writers in a %s vault [issue 54]", async (type) => {
  const word = WORD[type];
  const { client, vaultId, fileId } = await fileWith(
    type,
    WRITERS.map((at) => `${word} todo ${String(at)};\n`).join(""),
  );
  await Promise.all(
    WRITERS.map(async (at) => {
      const writer = stack.owner.another();
      for (let line = 0; line < LINES; line += 1)
        await appendText(writer, fileId, `${word} line ${String(at)}.${String(line)}\n`, { vaultId });
      await replaceText(
        writer,
        fileId,
        { find: `todo ${String(at)};`, replacement: `${word} done ${String(at)};` },
        { vaultId },
      );
    }),
  );
  const text = await read(client, fileId);
  const head = WRITERS.map((at) => `${word} ${word} done ${String(at)};\n`).join("");
  expect(text.slice(0, head.length)).toBe(head);
  const lines = text.slice(head.length).trimEnd().split("\n");
  expect(lines.toSorted()).toEqual(
    WRITERS.flatMap((at) =>
      Array.from({ length: LINES }, (_, line) => `${word} line ${String(at)}.${String(line)}`),
    ).toSorted(),
  );
  const { versions } = await client.files.versions(fileId, { limit: 100 });
  expect(versions).toHaveLength(1 + WRITERS.length * (LINES + 1));
  expect((await client.files.get(fileId)).contentType).toBe("text/plain");
});

it.each(["public", "shared"] as const)("that do not apply store nothing, in a %s vault [issue 54]", async (type) => {
  const word = WORD[type];
  const { client, vaultId, fileId } = await fileWith(type, `${word}: one two two`);
  const { tag } = await client.files.get(fileId);
  for (const replacement of [
    { find: "three", replacement: "3" },
    { find: "two", replacement: "2" },
    { find: "one", replacement: "1", count: 2 },
    { find: "", replacement: "x" },
  ])
    expect(await codeOf(replaceText(client, fileId, replacement, { vaultId }))).toBe("edit_refused");
  expect(await read(client, fileId)).toBe(`${word}: one two two`);
  await replaceText(client, fileId, { find: "two", replacement: "2", count: 2 }, { vaultId, ifMatch: tag });
  expect(await read(client, fileId)).toBe(`${word}: one 2 2`);
  expect(await codeOf(appendText(client, fileId, "!", { vaultId, ifMatch: tag }))).toBe("precondition_failed");
  expect(await read(client, fileId)).toBe(`${word}: one 2 2`);
});

it("are for texts of up to 16 MiB", async () => {
  const { client, vaultId, fileId } = await fileWith("public", "x");
  await client.files.replace(fileId, { vaultId, body: new Uint8Array([0xff, 0xfe]) });
  expect(await codeOf(replaceText(client, fileId, { find: "x", replacement: "y" }, { vaultId }))).toBe("edit_refused");
  // Bytes that are no text can be appended to.
  expect((await appendText(client, fileId, "!", { vaultId })).bytes).toBe(3);
  await client.files.replace(fileId, { vaultId, body: new Uint8Array(16 * 2 ** 20) });
  expect(await codeOf(appendText(client, fileId, "!", { vaultId }))).toBe("edit_refused");
  expect((await client.files.get(fileId)).size).toBe(16 * 2 ** 20);
});
