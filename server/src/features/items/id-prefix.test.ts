import { expect, test } from "vitest";
import { ofEachTest } from "../../each.test-kit.ts";
import { answerOf, codeOf, contextOf, openTestService, storeFile } from "../service.test-kit.ts";
import { MOST_ALIKE } from "./id-prefix.ts";

const service = ofEachTest(openTestService);

async function list(query: { idPrefix: string; vaultId?: string }, as = service.owner) {
  return answerOf(await service.handlers.files.list({ query }, contextOf(as))).files.map(({ id }) => id);
}

test("[D5-id-prefix] ids of others never show, and ids that somebody makes alike make no list slow", async () => {
  const file = await storeFile(service, "one");
  const begin = file.id.slice(0, 8);
  const other = await service.addAccount();
  expect(await list({ idPrefix: begin })).toEqual([file.id]);
  expect(await list({ idPrefix: begin }, other)).toEqual([]);
  const limited = { ...service.owner, vaultIds: new Set([crypto.randomUUID()]) };
  expect(await list({ idPrefix: begin }, limited)).toEqual([]);
  const { database } = service;
  const row = await database.first(database.build.selectFrom("files").selectAll().where("id", "=", file.id));
  if (row === null) throw new Error("the file has no row");
  // The search numbers each row by itself.
  const copied = Object.fromEntries(Object.entries(row).filter(([name]) => !name.startsWith("search"))) as typeof row;
  // As a member of a shared vault could: clients choose ids there.
  const alike = (at: number) => `${begin}-0000-4000-8000-${at.toString(16).padStart(12, "0")}`;
  for (let at = 0; at < MOST_ALIKE; at += 1)
    await database.run(
      database.build.insertInto("files").values({ ...copied, id: alike(at), name: `alike ${at}`, blob_key: alike(at) }),
    );
  expect(await codeOf(list({ idPrefix: begin }))).toBe("validation_failed");
  expect(await list({ idPrefix: file.id.slice(0, 18) })).toEqual([file.id]);
  expect(await list({ idPrefix: file.id.replaceAll("-", "") })).toEqual([file.id]);
  expect(await list({ idPrefix: `${begin}00004` })).toHaveLength(MOST_ALIKE);
});
