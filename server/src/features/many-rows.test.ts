/** Acts over more rows than one statement takes: the whole of each happens, or nothing of it, and nobody sees a part. */
import { randomUUID } from "node:crypto";
import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import { type File, MAX_PAGE } from "@coffer/contract";
import { expect, test } from "vitest";
import { purgeVault } from "./deletion/proofs.test-kit.ts";
import { newTestVault } from "../drivers/chain/chain.test-kit.ts";
import type { FileRow } from "../ports/tables.ts";
import {
  encryptedFile,
  entryOf,
  indexOf,
  nextEntry,
  openWriting,
  put,
  type Writing,
  usageOf,
} from "./files/shared-files.test-kit.ts";
import { PIECE } from "./in-pieces.ts";
import { publishKey } from "./shared-vaults/vaults.test-kit.ts";
import { answerOf, contextOf, openTestService } from "./service.test-kit.ts";
import { finishTreeActs } from "./tree-acts/writing.ts";
import { finishPurges } from "./vaults/purging.ts";
import { ofEachTest } from "../each.test-kit.ts";

const service = ofEachTest(openTestService);

const MANY = process.env["COFFER_TEST_COUNTS"] === "full" ? 5 * PIECE : PIECE + 20;

type Named = Pick<File, "id" | "shared"> & { readonly name: string };

/** That many files in a folder, or at the top. All but the first were never uploaded: their rows are copies of its row. */
async function addMany(writing: Writing, folderId?: string): Promise<Named[]> {
  const { build } = service.database;
  const first = await put(service, writing, "0", folderId === undefined ? {} : { folderId });
  const row = await service.database.first(build.selectFrom("files").selectAll().where("id", "=", first.id));
  if (row === null || first.shared === null) throw new Error("the first file is not there");
  const { shared } = first;
  const files: Named[] = [{ ...first, name: "0" }];
  const rows: FileRow[] = [];
  for (let index = 1; index < MANY; index += 1) {
    const { fileId: id, versionId } = encryptedFile();
    const entry = entryOf(writing, `${index}`, { kind: "file", id, folderId: folderId ?? null });
    const content = { id, version_id: versionId, blob_key: randomUUID() };
    rows.push({ ...row, ...content, name: entry.nameIndex, shared_json: JSON.stringify({ ...shared, ...entry }) });
    files.push({ id, name: `${index}`, shared: { ...shared, ...entry } });
  }
  const added = { usage_files: MANY, usage_bytes: MANY * row.size };
  await service.database.transaction(async (transaction) => {
    for (let at = 0; at < rows.length; at += PIECE)
      await transaction.run(build.insertInto("files").values(rows.slice(at, at + PIECE)));
    await transaction.run(build.updateTable("accounts").set(added).where("id", "=", row.account_id));
  });
  return files;
}

async function openFull() {
  const { member, ...writing } = await openWriting(service);
  const context = contextOf(writing.by.principal);
  const shared = entryOf(writing, "folder", { kind: "folder", id: randomUUID() });
  const body = { vaultId: writing.shared.vaultId, shared };
  const { folder } = answerOf(await service.handlers.folders.create({ body }, context));
  const files = await addMany(writing, folder.id);
  return { member, writing, context, folder, files };
}

/** What the rows of files are while `act` is at work: each state once, in the order of its coming. */
function statesDuring(stateOf: (row: FileRow) => string, act: () => Promise<unknown>) {
  const read = async () => {
    const rows = await service.database.all(service.database.build.selectFrom("files").selectAll());
    return [...new Set(rows.map(stateOf))].sort().join();
  };
  return viewsDuring(read, act);
}

/** What others see while `act` is at work. */
async function viewsDuring(read: () => Promise<string>, act: () => Promise<unknown>) {
  const states: string[] = [];
  let looks = 0;
  let isOver = false;
  const look = async () => {
    const state = await read();
    if (states.at(-1) !== state) states.push(state);
    looks += 1;
  };
  await look();
  const looking = (async () => {
    while (!isOver) {
      await turnOfTheLoop();
      await look();
    }
  })();
  await act();
  isOver = true;
  await looking;
  await look();
  expect(looks).toBeGreaterThan(1);
  return states;
}

test("a folder's names change keys together, as others see them", async () => {
  const { member, writing, context, folder, files } = await openFull();
  service.chain.remove(writing.shared.objectId, member.chainAddress);
  service.clock.advance(10_001);
  const keyId = await publishKey(service, writing.shared, writing.by, 2);
  const now = { ...writing, keyId, generation: 2 };
  const entries = files.map((file) => nextEntry(now, file.name, file as File, { folderId: folder.id }));
  const params = { vaultId: writing.shared.vaultId };
  const stage = async (some: typeof entries) =>
    answerOf(
      await service.handlers.folderNames.stage(
        { params, body: { folderId: folder.id, keyId, entries: some } },
        context,
      ),
    );
  for (let at = 0; at < MANY - 1; at += 200) await stage(entries.slice(at, Math.min(at + 200, MANY - 1)));
  const names = new Set(files.map(({ name }) => indexOf(keyId, name)));
  const states = await statesDuring(
    ({ name, shared_json }) => {
      const index = (JSON.parse(shared_json ?? "") as { nameIndex: string }).nameIndex;
      return `${names.has(name) ? "new" : "old"}${index === name ? "" : ", not as it says"}`;
    },
    async () => expect(await stage(entries.slice(-1))).toMatchObject({ keyId, remaining: 0 }),
  );
  expect(states).toEqual(["old", "new"]);
  expect(await service.database.all(service.database.build.selectFrom("staged_names").select("item_id"))).toEqual([]);
});

test("a folder goes to the trash and comes back with all that lies in it", async () => {
  const { context, folder, writing } = await openFull();
  const params = { folderId: folder.id };
  const { vaultId } = writing.shared;
  const view = async () => {
    const counts = [];
    for (const trashed of [false, true]) {
      const query = { vaultId, folderId: folder.id, trashed, limit: MAX_PAGE };
      counts.push(answerOf(await service.handlers.files.list({ query }, context)).files.length);
    }
    return counts.join("/");
  };
  const finish = () => finishTreeActs(service, new AbortController().signal);
  const most = Math.min(MANY, MAX_PAGE);
  const trash = () => service.handlers.folders.delete({ headers: {}, params }, context).then(finish);
  // The two lists are two requests.
  const [live, trashed] = [`${most}/0`, `0/${most}`];
  const between = `${most}/${most}`;
  expect((await viewsDuring(view, trash)).filter((state) => state !== between)).toEqual([live, trashed]);
  const restore = () =>
    service.handlers.folders.restore({ headers: {}, params, body: undefined }, context).then(finish);
  expect((await viewsDuring(view, restore)).filter((state) => state !== "0/0")).toEqual([trashed, live]);
});

test("a claimed vault changes its account with all that lies in it, and then goes with all of it", async () => {
  const { member, writing } = await openFull();
  const { vaultId, objectId, owner } = writing.shared;
  const before = await usageOf(service, owner.principal.accountId);
  const heir = { address: member.chainAddress, signingKey: member.publicKey };
  service.chain.set(objectId, { ...newTestVault(heir), generation: 2 });
  const context = contextOf(member.principal);
  const params = { vaultId };
  const accounts = await statesDuring(
    (row) => row.account_id,
    () => service.handlers.ownership.claim({ params, body: {} }, context),
  );
  expect(accounts).toEqual([owner.principal.accountId, member.principal.accountId]);
  expect(await usageOf(service, member.principal.accountId)).toEqual(before);

  const remove = async () => {
    await purgeVault(service, { vaultId, objectId, owner: member });
    await finishPurges(service, new AbortController().signal);
  };
  expect(await statesDuring((row) => row.vault_id, remove)).toEqual([vaultId, ""]);
  expect(await usageOf(service, member.principal.accountId)).toEqual({ bytes: 0, files: 0 });
  const queued = service.database.build.selectFrom("blob_deletions").select("blob_key");
  expect(await service.database.all(queued)).toHaveLength(MANY);
});
