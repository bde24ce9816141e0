import { api } from "@coffer/contract";
import type { Flow } from "../subject.ts";
import { walkPages } from "../paging.ts";

export const trashFlow: Flow = async ({ owner, name, vaultId }) => {
  owner.step("trashed files are listed in the trash, and nowhere else");
  const made: string[] = [];
  for (const stem of ["a", "b", "c"]) {
    const input = { query: { vaultId, name: name(stem) }, headers: {}, body: new Uint8Array([1, 2]) };
    made.push((await owner.call(api.files.upload, input)).value().file.id);
  }
  for (const fileId of made) await owner.call(api.files.delete, { params: { fileId } });
  const trashed = await walkPages(
    async (cursor) => (await owner.call(api.trash.list, { query: { vaultId, limit: 2, ...cursor } })).value(),
    (page) => page.files,
  );
  owner.check(
    api.trash.list,
    made.every((id) => trashed.some((file) => file.id === id)),
    "a trashed file is missing",
  );
  owner.check(
    api.trash.list,
    trashed.every((file) => file.trashedAt !== null),
    "a file that is not trashed is listed",
  );
  const live = await walkPages(
    async (cursor) => (await owner.call(api.files.list, { query: { vaultId, ...cursor } })).value(),
    (page) => page.files,
  );
  owner.check(
    api.files.list,
    live.every((file) => file.trashedAt === null),
    "the list holds trashed files",
  );
  const listed = (await owner.call(api.files.list, { query: { vaultId, trashed: true } })).value().files;
  owner.check(
    api.files.list,
    listed.length > 0 && listed.every((file) => file.trashedAt !== null),
    "trashed=true does not list the trash",
  );

  owner.step("many come back, move and go again in one request each");
  const ids = [...made, "00000000-0000-4000-8000-000000000000"];
  const [trashMany, restoreMany, moveMany] = [api.files.trashMany, api.files.restoreMany, api.files.moveMany];
  const asked = [
    { endpoint: restoreMany, answer: await owner.call(restoreMany, { body: { ids } }) },
    { endpoint: moveMany, answer: await owner.call(moveMany, { body: { ids, folderId: null } }) },
    { endpoint: trashMany, answer: await owner.call(trashMany, { body: { ids } }) },
  ];
  for (const { endpoint, answer } of asked) {
    const { results } = answer.value();
    owner.check(endpoint, results.map(({ id }) => id).join() === ids.join(), "other ids, or another order");
    owner.check(
      endpoint,
      results.every(({ error }, at) => (at < made.length ? error === null : error?.code === "not_found")),
      "a made file failed, or a made-up one did not",
    );
  }
  const again = (await owner.call(api.files.get, { params: { fileId: made[0] ?? "" } })).value().file;
  owner.check(trashMany, again.trashedAt !== null, "the file is not in the trash");

  owner.step("emptied, its bytes come back to the quota");
  const before = (await owner.call(api.account.get, {})).value().account.usage;
  await owner.call(api.trash.empty, { query: { vaultId } });
  const left = (await owner.call(api.trash.list, { query: { vaultId } })).value().files;
  owner.check(api.trash.empty, left.length === 0, "the trash is not empty");
  const after = (await owner.call(api.account.get, {})).value().account.usage;
  owner.check(
    api.trash.empty,
    after.files <= before.files - made.length && after.bytes < before.bytes,
    "usage did not go down",
  );
  await owner.call(api.files.get, { params: { fileId: made[0] ?? "" } }, { expect: "not_found" });
};
