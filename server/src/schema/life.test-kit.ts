/** TEST ONLY: a shared vault's life, for tests of the queries that it asks. */
import { randomUUID } from "node:crypto";
import { TUS_VERSION } from "@coffer/contract";
import { expect } from "vitest";
import { newTestVault } from "../drivers/chain/chain.test-kit.ts";
import {
  entryOf,
  newUpload,
  nextEntry,
  nextVersion,
  openWriting,
  put,
  replace,
} from "../features/files/shared-files.test-kit.ts";
import { deleteVault, emptyTrash, prove, purgeVault } from "../features/deletion/proofs.test-kit.ts";
import { publishKey } from "../features/shared-vaults/vaults.test-kit.ts";
import { answerOf, bodyOf, contextOf, type TestService } from "../features/service.test-kit.ts";
import { expireEntries, expireUploads, expireVersions } from "../jobs/expiry.ts";
import { finishTreeActs } from "../features/tree-acts/writing.ts";
import { finishHistoryRemovals } from "../features/files/history-removal.ts";
import { finishPurges } from "../features/vaults/purging.ts";
import { finishRetentionChanges } from "../features/vaults/retention.ts";
import { purgeTrash } from "../jobs/trash-purge.ts";
import { askEveryList, type Filters } from "./lists.test-kit.ts";

type Living = Awaited<ReturnType<typeof openWriting>>;

/** Everything that is done with a shared vault, once. Returns which filters of which lists were asked for. */
export async function liveOn(living: TestService): Promise<Filters> {
  const writing = await openWriting(living);
  const filled = await fill(living, writing);
  const { folderId } = filled;
  const asked = await look(living, writing, filled);
  await rename(living, writing, folderId);
  await throwAway(living, writing, folderId);
  await handOn(living, writing);
  return asked;
}

interface Filled {
  readonly folderId: string;
  readonly fileId: string;
}

async function makeFolder({ handlers }: TestService, { shared, by, keyId }: Living, name: string): Promise<string> {
  const entry = entryOf({ shared, by, keyId }, name, { kind: "folder", id: randomUUID() });
  const body = { vaultId: shared.vaultId, shared: entry };
  return answerOf(await handlers.folders.create({ body }, contextOf(by.principal))).folder.id;
}

async function fill(living: TestService, writing: Living): Promise<Filled> {
  const folderId = await makeFolder(living, writing, "folder");
  const first = await put(living, writing, "first", { folderId });
  await replace(living, writing, nextVersion(writing, first));
  const top = await put(living, { ...writing, by: writing.member }, "top");
  const renamed = { params: { fileId: top.id }, headers: {}, body: { shared: nextEntry(writing, "renamed", top) } };
  await living.handlers.files.update(renamed, contextOf(writing.by.principal));
  const { file, version, entry } = newUpload(writing, "begun");
  const told = Object.entries({ vaultId: writing.shared.vaultId, version, ...entry });
  const metadata = told.map(([key, value]) => `${key} ${Buffer.from(value).toString("base64")}`);
  const headers = {
    "tus-resumable": TUS_VERSION,
    "upload-length": file.bytes.length,
    "upload-metadata": metadata.join(","),
  };
  await living.handlers.uploads.create({ headers, body: bodyOf("", { length: 0 }) }, contextOf(writing.by.principal));
  return { folderId, fileId: first.id };
}

/** As the owner and as a member of another account, who are looked up differently. */
async function look(
  living: TestService,
  { shared, by, member, keyId }: Living,
  { folderId, fileId }: Filled,
): Promise<Filters> {
  const { handlers } = living;
  const { vaultId } = shared;
  const params = { vaultId };
  for (const { principal } of [by, member]) {
    const context = contextOf(principal);
    await handlers.members.list({ params }, context);
    for (const query of [{}, { folderId }]) await handlers.folderNames.get({ params, query }, context);
  }
  return askEveryList(living, { callers: [by.principal, member.principal], vaultId, folderId, fileId, keyId });
}

/** A member goes, and the folder's names come under the next key; of one the staged name is outdated first. */
async function rename(living: TestService, { member, ...old }: Living, folderId: string): Promise<void> {
  const { shared, by } = old;
  const context = contextOf(by.principal);
  const { files } = answerOf(
    await living.handlers.files.list({ query: { vaultId: shared.vaultId, folderId } }, context),
  );
  living.chain.remove(shared.objectId, member.chainAddress);
  const params = { vaultId: shared.vaultId };
  await living.handlers.members.remove({ params: { ...params, chainAddress: member.chainAddress } }, context);
  living.clock.advance(10_001);
  const now = { ...old, keyId: await publishKey(living, shared, by, 2), generation: 2 };
  const entries = files.map((file) => nextEntry(now, "first", file, { folderId }));
  const stage = (keyId: string, some: typeof entries) =>
    living.handlers.folderNames.stage({ params, body: { folderId, keyId, entries: some } }, context);
  const { build } = living.database;
  const staged = entries.map(({ nameIndex, ...entry }) => ({ ...entry, name_index: nameIndex, kind: "file" }));
  const place = { vault_id: shared.vaultId, folder_id: folderId };
  for (const row of staged)
    for (const keyId of ["0".repeat(64), "f".repeat(64), now.keyId])
      await living.database.run(
        build.insertInto("staged_names").values({ ...row, ...place, key_id: keyId, item_id: randomUUID() }),
      );
  expect(answerOf(await stage(now.keyId, []))).toMatchObject({ remaining: 1 });
  expect(answerOf(await stage(now.keyId, entries))).toMatchObject({ remaining: 0 });
}

async function throwAway(living: TestService, writing: Living, folderId: string): Promise<void> {
  const { handlers } = living;
  const kept = { params: { vaultId: writing.shared.vaultId }, headers: {}, body: { keepVersionsDays: 31 } };
  await handlers.vaults.update(kept, contextOf(writing.by.principal));
  await finishRetentionChanges(living, new AbortController().signal);
  const context = contextOf(writing.by.principal);
  const params = { folderId };
  const signal = new AbortController().signal;
  for (const act of ["delete", "restore", "delete"] as const) {
    if (act === "delete") await handlers.folders.delete({ headers: {}, params }, context);
    else await handlers.folders.restore({ headers: {}, params, body: undefined }, context);
    // While its rows are not written, where few are written at once.
    for (const trashed of [true, false]) await handlers.files.list({ query: { trashed } }, context);
    await handlers.folders.list({ query: { parentId: folderId } }, context);
    await finishTreeActs(living, signal);
  }
  await handlers.trash.list({ query: {} }, context);
  await handlers.trash.empty({ query: {}, headers: {} }, context);
  await emptyTrash(living, writing.shared, { proof: await prove(living, writing.shared, "empty-trash") });
  living.clock.advance(40 * 24 * 60 * 60_000);
  await expireVersions(living, signal);
  await expireEntries(living, signal);
  await expireUploads(living, signal);
  await purgeTrash(living, signal);
}

async function handOn(living: TestService, { shared, by, member }: Living): Promise<void> {
  const { chainAddress: address, publicKey: signingKey } = member;
  living.chain.set(shared.objectId, { ...newTestVault({ address, signingKey }), generation: 3 });
  const params = { vaultId: shared.vaultId };
  expect(by.principal.accountId).not.toBe(member.principal.accountId);
  await living.handlers.ownership.claim({ params, body: {} }, contextOf(member.principal));
  const claimed = { ...shared, owner: member };
  await deleteVault(living, claimed, { proof: await prove(living, claimed, "delete-vault") });
  const context = contextOf(member.principal);
  await living.handlers.trash.list({ query: { kind: "vaults" } }, context);
  await living.handlers.files.list({ query: {} }, context);
  await living.handlers.vaults.restore({ params, body: {} }, context);
  await purgeVault(living, claimed);
  await finishPurges(living, new AbortController().signal);
  await finishHistoryRemovals(living, new AbortController().signal);
  await purgeTrash(living, new AbortController().signal);
}
