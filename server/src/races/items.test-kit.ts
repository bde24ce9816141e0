/** TEST ONLY: races for files, folders and vaults. */
import { MAX_FOLDER_DEPTH } from "@coffer/contract";
import { renderMetadata } from "../features/files/upload/resumable/metadata.ts";
import { PART, TUS } from "../features/files/upload/resumable/resumable.test-kit.ts";
import { expireVersions } from "../jobs/expiry.ts";
import { purgeTrash } from "../jobs/trash-purge.ts";
import { folderRow } from "../../../test/kit/rows.ts";
import type { TestAnswer } from "../app.test-kit.ts";
import { type Race, statusOf, successes } from "./race.test-kit.ts";
import { hold, type World } from "./world.test-kit.ts";

const MONTH = 31 * 24 * 60 * 60_000;

const rename = (world: World, kind: "files" | "folders", id: string, name: string) => () =>
  world.ask("PATCH", `/api/${kind}/${id}`, { json: { name } });
const replace = (world: World, id: string, payload: string) => () =>
  world.ask("PUT", `/api/files/${id}/content`, { payload });
const move = (world: World, id: string, parentId: string | null) => () =>
  world.ask("PATCH", `/api/folders/${id}`, { json: { parentId } });
const moveFile = (world: World, id: string, folderId: string) => () =>
  world.ask("PATCH", `/api/files/${id}`, { json: { folderId } });
const remove = (world: World, path: string) => () => world.ask("DELETE", path);
const restore = (world: World, path: string) => () => world.ask("POST", `${path}/restore`, { json: {} });
const upload =
  (world: World, name: string, place = "") =>
  () =>
    world.ask("POST", `/api/files?name=${name}${place}`, { payload: "1234567" });
const purge =
  ({ app: { deps } }: World) =>
  () =>
    purgeTrash(deps, new AbortController().signal);

async function find(world: World, table: "files" | "folders" | "vaults", id: string) {
  return (await world.rows(table)).find((row) => row.id === id) ?? null;
}

async function vault(world: World, name: string): Promise<string> {
  return (await world.make("POST", "/api/vaults", { json: { name, type: "public" } }))["vault"]?.id ?? "";
}

/** An acknowledged restore holds: a deletion for good deletes only what is in the trash. */
async function requireRestored(world: World, table: "files" | "folders" | "vaults", id: string, answer: unknown) {
  if (statusOf(answer) >= 300) return;
  hold((await find(world, table, id))?.trashed_at === null, `what was restored is gone from ${table}`);
}

/** A folder `depth` deep, written at once: made one by one they would be most of the race. */
async function deepFolder(world: World, depth: number, name: string): Promise<string> {
  const { database } = world.app.deps;
  const [{ id: vaultId } = { id: "" }] = await world.rows("vaults");
  let parent: string | null = null;
  const rows = Array.from({ length: depth }, (_, index) => {
    const row = folderRow({ account_id: world.id, vault_id: vaultId, name: `${name}${index}`, depth: index + 1 });
    const placed = { ...row, parent_id: parent };
    parent = row.id;
    return placed;
  });
  await database.run(database.build.insertInto("folders").values(rows));
  return rows.at(-1)?.id ?? "";
}

export const ITEM_RACES: readonly Race[] = [
  {
    name: "a rename × a replacement of one file: both are kept, and so are the bytes",
    bites: "early",
    async start(world) {
      const id = await world.file("a");
      return {
        acts: [rename(world, "files", id, "b"), replace(world, id, "1234567")],
        async holds(answers) {
          const row = await find(world, "files", id);
          hold(successes(answers) === 2, "one was refused");
          hold(row !== null && "size" in row && row.name === "b" && row.size === 7, "one was lost");
        },
      };
    },
  },
  {
    name: "a rename × a move of one folder: both are kept",
    bites: "early",
    async start(world) {
      const [id, to] = [await world.folder("a"), await world.folder("to")];
      return {
        acts: [rename(world, "folders", id, "b"), move(world, id, to)],
        async holds(answers) {
          const row = await find(world, "folders", id);
          hold(successes(answers) === 2, "one was refused");
          hold(row !== null && "parent_id" in row && row.name === "b" && row.parent_id === to, "one was lost");
        },
      };
    },
  },
  {
    name: "three replacements × a deletion for good of one file: the usage is that of what is left",
    bites: "early",
    async start(world) {
      const id = await world.file("a");
      const sizes = ["1", "123", "1234567"].map((text) => replace(world, id, text));
      return { acts: [...sizes, remove(world, `/api/files/${id}?permanent=true`)] };
    },
  },
  {
    name: "replacements × a version's restoring × its deletion × its end: every byte counts once, and none is lost",
    bites: "early",
    async start(world) {
      const id = await world.file("a");
      for (const payload of ["1", "123"]) await world.make("PUT", `/api/files/${id}/content`, { payload });
      const [{ version_id: first } = { version_id: "" }] = await world.rows("file_versions");
      const old = `/api/files/${id}/versions/${first}`;
      const { deps } = world.app;
      const end = async () => {
        await deps.database.run(
          deps.database.build
            .updateTable("file_versions")
            .set({ expires_at: deps.clock.now() })
            .where("file_id", "=", id),
        );
        return expireVersions(deps, new AbortController().signal);
      };
      return {
        acts: [
          replace(world, id, "12345"),
          replace(world, id, "1234567"),
          restore(world, old),
          remove(world, old),
          end,
        ],
      };
    },
  },
  {
    name: "emptying the trash × a file's restoring",
    bites: "early",
    async start(world) {
      const id = await world.file("a");
      await world.make("DELETE", `/api/files/${id}`);
      return {
        acts: [remove(world, "/api/trash"), restore(world, `/api/files/${id}`)],
        holds: (answers) => requireRestored(world, "files", id, answers[1]),
      };
    },
  },
  {
    name: "emptying the trash × a folder's restoring",
    bites: "holds: what is deleted for good must still lie in the trash, as a condition says",
    async start(world) {
      const id = await world.folder("a");
      await world.file("below", `&folderId=${id}`);
      await world.make("DELETE", `/api/folders/${id}`);
      return {
        acts: [remove(world, "/api/trash"), restore(world, `/api/folders/${id}`)],
        holds: (answers) => requireRestored(world, "folders", id, answers[1]),
      };
    },
  },
  {
    name: "the purge of old trash × a file's, a folder's and a vault's restoring",
    bites: "early",
    async start(world) {
      const [file, folder] = [await world.file("a"), await world.folder("b")];
      const inside = await vault(world, "c");
      await world.file("in it", `&vaultId=${inside}`);
      for (const path of [`files/${file}`, `folders/${folder}`, `vaults/${inside}?force=true`])
        await world.make("DELETE", `/api/${path}`);
      world.app.clock.advance(MONTH);
      return {
        acts: [
          purge(world),
          ...[`files/${file}`, `folders/${folder}`, `vaults/${inside}`].map((path) => restore(world, `/api/${path}`)),
        ],
        async holds(answers) {
          await requireRestored(world, "files", file, answers[1]);
          await requireRestored(world, "folders", folder, answers[2]);
          await requireRestored(world, "vaults", inside, answers[3]);
        },
      };
    },
  },
  {
    name: "two folders × each into the other: no circle",
    bites: "early",
    async start(world) {
      const [a, b] = [await world.folder("a"), await world.folder("b")];
      return {
        acts: [move(world, a, b), move(world, b, a)],
        holds: (answers) => hold(successes(answers) === 1, "both or none were moved"),
      };
    },
  },
  {
    name: "a folder made below × the folder above it moved down: no deeper than allowed",
    bites: "early",
    async start(world) {
      const top = await world.folder("top");
      const deep = await deepFolder(world, MAX_FOLDER_DEPTH - 1, "d");
      return {
        acts: [
          () => world.ask("POST", "/api/folders", { json: { name: "below", parentId: top } }),
          move(world, top, deep),
        ],
      };
    },
  },
  {
    name: "a folder's deletion × an upload, a move and a new folder into it: nothing live lies in the trash",
    bites: "early",
    async start(world) {
      const [id, file, other] = [await world.folder("a"), await world.file("b"), await world.folder("c")];
      return {
        acts: [
          remove(world, `/api/folders/${id}`),
          upload(world, "d", `&folderId=${id}`),
          moveFile(world, file, id),
          move(world, other, id),
        ],
      };
    },
  },
  {
    name: "the last part of a resumable upload × itself, and the deletion of its folder: one file at most",
    bites: "early",
    async start(world) {
      const id = await world.folder("a");
      const metadata = renderMetadata({ filename: "b", folderId: id });
      const begun = { ...TUS, "upload-length": "7", "upload-metadata": metadata };
      const location = String((await world.ask("POST", "/api/uploads", { headers: begun })).headers["location"]);
      const headers = { ...TUS, "upload-offset": "0", "content-type": PART.contentType };
      const part = () => world.ask("PATCH", location, { headers, payload: "1234567" });
      return {
        acts: [part, part, remove(world, `/api/folders/${id}`)],
        async holds(answers) {
          const { length } = await world.rows("files");
          const isAcknowledged = successes(answers.slice(0, 2)) > 0;
          hold(length <= 1 && (length === 1 || !isAcknowledged), `${length} files came of one upload`);
        },
      };
    },
  },
  {
    name: "a vault's deletion for good × an upload and a new folder in it: the usage fits the rest, and no name was taken",
    bites: "early",
    async start(world) {
      const id = await vault(world, "a");
      await world.file("in it", `&vaultId=${id}`);
      return {
        acts: [
          remove(world, `/api/vaults/${id}?force=true&permanent=true`),
          upload(world, "b", `&vaultId=${id}`),
          () => world.ask("POST", "/api/folders", { json: { name: "c", vaultId: id } }),
        ],
        holds(answers) {
          const codes = answers.map((answer) => (answer as TestAnswer).headers["x-error-code"]);
          hold(!codes.includes("name_exists"), "a vault that is gone was called a name that is taken");
        },
      };
    },
  },
  {
    name: "a vault's rename × its deletion × its restoring: the last state is one that somebody made",
    bites: "early",
    async start(world) {
      const id = await vault(world, "a");
      return {
        acts: [
          () => world.ask("PATCH", `/api/vaults/${id}`, { json: { name: "b" } }),
          remove(world, `/api/vaults/${id}`),
          restore(world, `/api/vaults/${id}`),
        ],
        async holds([renamed, removed, restored]) {
          const row = await find(world, "vaults", id);
          hold(row?.name === (statusOf(renamed) < 300 ? "b" : "a"), "the name was lost");
          const isTrashed = statusOf(removed) < 300 && statusOf(restored) >= 300;
          hold((row.trashed_at !== null) === isTrashed, "the deletion was lost");
        },
      };
    },
  },
  {
    name: "uploads of one name × each other: one has it",
    bites: "holds: the unique index decides",
    start: (world) =>
      Promise.resolve({
        acts: [upload(world, "a"), upload(world, "a"), upload(world, "a")],
        holds: (answers) => hold(successes(answers) === 1, `${successes(answers)} have one name`),
      }),
  },
  {
    name: "uploads × the quota: never above it, and what fits is taken",
    bites: "unlocked",
    environment: { SERVICE_PRO_STORAGE_BYTES: "15" },
    start: (world) =>
      Promise.resolve({
        acts: [upload(world, "a"), upload(world, "b"), upload(world, "c")],
        holds: (answers) => hold(successes(answers) <= 2, "more than the quota was taken"),
      }),
  },
  {
    name: "uploads of a key and of one that it made × its budgets: never above them, and what is there counts",
    bites: "holds: the statement that adds to a budget locks it",
    async start(world) {
      const parent = await keyOf(world, { name: "parent", budgets: { storedBytes: 20, filesPerDay: 2 } });
      const child = await keyOf(world, { name: "child" }, parent);
      const store = (name: string, key: string) => () =>
        world.ask("POST", `/api/files?name=${name}`, { payload: "1234567", key });
      return {
        acts: [store("a", parent), store("b", child), store("c", child)],
        async holds(answers) {
          const count = successes(answers);
          hold(count <= 2, "more than the budget was taken");
          const { body } = await world.ask("GET", "/api/account", { key: parent });
          const { budgetUse } = body["credential"] as { budgetUse: Record<string, { used: number }> };
          const used = [budgetUse["storedBytes"]?.used, budgetUse["filesPerDay"]?.used];
          hold(used.join() === [7 * count, count].join(), `${used.join()} are counted, of ${count} files`);
        },
      };
    },
  },
];

/** A new key's secret; `key`: who makes it. Default: the account's first key. */
async function keyOf(world: World, json: object, key?: string): Promise<string> {
  const made = await world.make("POST", "/api/auth/api-keys", { json, ...(key === undefined ? {} : { key }) });
  return (made as unknown as { key: string }).key;
}
