/** Methods of files and folders, with names and contents that are for the members of one vault. */
import { randomUUID } from "node:crypto";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { File, Folder } from "@coffer/sdk";
import * as node from "@coffer/sdk/node";
import {
  blameContent,
  blameMade,
  itemIn,
  itemOf,
  lookingIn,
  placeOf,
  plain,
  secrets,
  sharedVault,
  undoDeletion,
} from "./arguments.ts";
import { blameVault, exported } from "./methods-of-vaults.ts";
import type { Method, Run } from "./method.ts";
import { blameAsked, blameListed } from "./run.ts";
import type { ItemKind } from "./truth.ts";

type Item = ReturnType<typeof itemOf>;
type Place = ReturnType<typeof placeOf>;

/** Asks about one item by its id: what is answered must be that one. */
const asking =
  (kind: ItemKind, act: (run: Run, item: Item) => Promise<File | Folder | null>): Method =>
  async (run) => {
    const item = itemOf(run, kind);
    const answered = await act(run, item);
    return () => {
      if (answered !== null) blameAsked(run, kind, item.id, answered);
    };
  };

/** Puts something somewhere: there it must lie. */
const making =
  (kind: ItemKind, act: (run: Run, place: Place) => Promise<File | Folder>): Method =>
  async (run) => {
    const place = placeOf(run);
    const made = await act(run, place);
    return () => {
      blameMade(run, kind, place.meaning, made);
    };
  };

const listing =
  (
    kind: ItemKind,
    act: (run: Run, asked: ReturnType<typeof lookingIn>["asked"]) => Promise<readonly (File | Folder)[]>,
  ): Method =>
  async (run) => {
    const { place, meaning } = placeOf(run);
    const { asked, name } = lookingIn(run, place);
    run.means({ ...meaning, name });
    const items = await act(run, asked);
    return () => {
      blameListed(run, kind, asked, items);
    };
  };

const reading =
  (act: (run: Run, item: Item) => Promise<{ readonly content: Buffer; readonly isWhole: boolean }>): Method =>
  async (run) => {
    const item = itemOf(run, "file");
    run.means(item.meaning);
    const { content, isWhole } = await act(run, item);
    return () => {
      blameContent(run, item.id, content, isWhole);
    };
  };

/** Now and then the vault is named, too. */
const named = ({ draw }: Run, { vaultId }: Item) => (draw.chance(0.3) ? { vaultId } : {});

/** What files and folders have alike. */
function itemMethods(group: "files" | "folders", kind: ItemKind): Record<string, Method> {
  return {
    [`${group}.get`]: asking(kind, (run, { id, meaning }) => {
      run.means(meaning);
      return run.client[group].get(id);
    }),
    [`${group}.delete`]: asking(kind, (run, { id, meaning }) => {
      run.means(meaning);
      return run.client[group].delete(id).finally(() => undoDeletion(run, group, id));
    }),
    [`${group}.restore`]: asking(kind, async (run, { id, meaning }) => {
      const { name } = secrets(run);
      // Where the folder is gone the top is where it comes back to.
      run.means({ ...meaning, name, folderId: null });
      await run.world.owner.client[group].delete(id).catch(() => undefined);
      return run.client[group].restore(id, { name }).finally(() => undoDeletion(run, group, id));
    }),
    [`${group}.entries`]: async (run) => {
      const { id } = itemOf(run, kind);
      const { items } = await run.client[group].entries(id, { limit: 20 });
      return () => {
        for (const entry of items)
          blameAsked(run, kind, id, { ...entry, id, trashedAt: null, createdBy: entry.author });
      };
    },
  };
}

export const FOLDERS: Readonly<Record<string, Method>> = {
  ...itemMethods("folders", "folder"),
  "folders.create": making("folder", (run, { place: { folderId, ...place }, meaning }) => {
    const { name } = secrets(run);
    run.means({ ...meaning, name, kind: "folder" });
    return run.client.folders.create({ ...place, ...(folderId === undefined ? {} : { parentId: folderId }), name });
  }),
  "folders.list": listing("folder", async (run, { folderId, ...asked }) => {
    const parent = folderId === undefined ? {} : { parentId: folderId };
    return (await run.client.folders.list({ ...asked, ...parent, limit: 20 })).folders;
  }),
  "folders.update": asking("folder", (run, { id, meaning }) => {
    const { name } = secrets(run);
    run.means({ ...meaning, name });
    return run.client.folders.update(id, { name });
  }),
};

export const FILES: Readonly<Record<string, Method>> = {
  ...itemMethods("files", "file"),
  "files.list": listing("file", async (run, asked) => (await run.client.files.list({ ...asked, limit: 20 })).files),
  "files.search": async (run) => {
    const place = run.draw.chance(0.5) ? { vaultId: sharedVault(run) } : {};
    const page = await run.client.files.search({ ...place, q: "a", limit: 20 });
    return () => {
      blameListed(run, "file", place, page.files);
    };
  },
  search: async (run) => {
    const place = run.draw.chance(0.5) ? { vaultId: sharedVault(run) } : {};
    const page = await run.client.search({ ...place, q: "a", limit: 20 });
    return () => {
      blameListed(run, "file", place, page.files);
    };
  },
  "files.upload": making("file", async (run, { place, meaning }) => {
    const { name, content, body, options } = secrets(run);
    run.means({ ...meaning, name, content, kind: "file" });
    return (await run.client.files.upload({ ...place, name, body }, options)).file;
  }),
  "files.uploadMany": making("file", async (run, { place, meaning }) => {
    const { name, content, body } = secrets(run);
    run.means({ ...meaning, name, content, kind: "file" });
    const [outcome] = await run.client.files.uploadMany([{ ...place, name, body }]);
    if (outcome?.result == null) throw outcome?.error ?? new Error("no outcome");
    return outcome.result.file;
  }),
  "files.replace": asking("file", async (run, item) => {
    const { content, body, options } = secrets(run);
    run.means({ ...item.meaning, content });
    return (await run.client.files.replace(item.id, { body, ...named(run, item) }, options)).file;
  }),
  "files.download": reading(async (run, item) => {
    const range = run.draw.chance(0.3) ? { range: { offset: 1, length: 5 } } : {};
    const download = await run.client.files.download(item.id, { ...range, ...named(run, item) });
    return { content: Buffer.from(await download.bytes()), isWhole: !("range" in range) };
  }),
  "files.update": asking("file", (run, item) => {
    const { id, vaultId, meaning } = item;
    const { name } = secrets(run);
    const folderId = meaning.vaultId != null && run.draw.chance(0.3) ? itemIn(run, vaultId, "folder") : undefined;
    run.means({ ...meaning, name, folderId });
    const change = { name, ...(folderId === undefined ? {} : { folderId }) };
    return run.client.files.update(id, change, named(run, item));
  }),
  "files.versions": plain((run) => run.client.files.versions(itemOf(run, "file").id)),
  "files.restoreVersion": plain((run) => run.client.files.restoreVersion(itemOf(run, "file").id, randomUUID())),
  "files.deleteVersion": plain((run) => run.client.files.deleteVersion(itemOf(run, "file").id, randomUUID())),
  "files.trashMany": plain((run) => {
    const { id } = itemOf(run, "file");
    return run.client.files.trashMany([id]).finally(() => undoDeletion(run, "files", id));
  }),
  "files.restoreMany": plain((run) => run.client.files.restoreMany([itemOf(run, "file").id, itemOf(run, "folder").id])),
  "files.moveMany": plain((run) => {
    const item = itemOf(run, "file");
    run.means({ ...item.meaning, folderId: null });
    return run.client.files.moveMany([item.id], null, named(run, item));
  }),
  "files.commit": asking("file", async (run, item) => {
    const { content, body, name } = secrets(run);
    const brings = run.draw.chance(0.7) ? { body } : {};
    run.means({ ...item.meaning, content, name });
    const [committed] = await run.client.files.commit(item.vaultId, [{ id: item.id, ifMatch: "*", name, ...brings }]);
    return committed?.file ?? null;
  }),
  "trash.list": async (run) => {
    const place = run.draw.chance(0.5) ? { vaultId: sharedVault(run) } : {};
    const page = await run.client.trash.list({ ...place, limit: 20 });
    return () => {
      blameListed(run, "file", place, page.files);
    };
  },
  "trash.vaults": async (run) => {
    for (const vault of (await run.client.trash.vaults()).vaults) blameVault(run, vault);
    return undefined;
  },
  "trash.empty": plain((run) => run.client.trash.empty({ vaultId: sharedVault(run) })),
};

/** A folder of a shared vault with a directory of this machine, which has one secret file. */
const wholeFolder =
  (act: (run: Run, directory: string, place: node.FolderOptions) => Promise<node.FolderResult>): Method =>
  async (run) => {
    const { world, draw } = run;
    const vaultId = sharedVault(run);
    const folderId = itemIn(run, vaultId, "folder");
    const { name, content, body } = secrets(run);
    const directory = join(world.machine.directory, draw.word("tree"));
    await mkdir(directory);
    await writeFile(join(directory, name), body);
    run.means({ vaultId, folderId, name, content, kind: "file" });
    const { store } = world.machine;
    const { files } = await act(run, directory, { vaultId, folderId, store });
    const came = files.filter(({ act: done, path }) => done === "created" && path !== name);
    const contents = await Promise.all(came.map(({ path }) => readFile(join(directory, path))));
    await rm(directory, { recursive: true });
    return () => {
      for (const { fileId } of files)
        if (!world.truth.items.has(fileId ?? "")) run.blame(`${String(fileId)} was never made, and has a receipt`);
      for (const [at, { fileId }] of came.entries()) blameContent(run, fileId ?? "", contents[at] ?? Buffer.alloc(0));
    };
  };

/** Of `@coffer/sdk/node`. */
export const NODE_METHODS: Readonly<Record<string, Method>> = {
  downloadFile: reading(async (run, { id }) => {
    const path = join(run.world.machine.directory, run.draw.word("download"));
    await node.downloadFile(run.client, id, path);
    const content = await readFile(path);
    await rm(path);
    return { content, isWhole: true };
  }),
  uploadFile: making("file", async (run, { place, meaning }) => {
    const { name, content, body, options } = secrets(run);
    run.means({ ...meaning, name, content, kind: "file" });
    const path = join(run.world.machine.directory, run.draw.word("upload"));
    const { store } = run.world.machine;
    await writeFile(path, body);
    const to = { ...place, ...options, name, store };
    return (await node.uploadFile(run.client, path, to).finally(() => rm(path))).file;
  }),
  uploadFiles: making("file", async (run, { place, meaning }) => {
    const { name, content, body } = secrets(run);
    run.means({ ...meaning, name, content, kind: "file" });
    const path = join(run.world.machine.directory, run.draw.word("uploads"));
    const { store } = run.world.machine;
    await writeFile(path, body);
    const [outcome] = await node.uploadFiles(run.client, [{ path, ...place, name }], { store }).finally(() => rm(path));
    if (outcome?.result == null) throw outcome?.error ?? new Error("no outcome");
    return outcome.result.file;
  }),
  uploadFolder: wholeFolder((run, directory, place) => node.uploadFolder(run.client, directory, place)),
  downloadFolder: wholeFolder((run, directory, place) => node.downloadFolder(run.client, directory, place)),
  syncFolder: wholeFolder((run, directory, place) =>
    node.syncFolder(run.client, directory, { ...place, direction: "up", delete: true }),
  ),
  readServedNetwork: async ({ client }) => {
    await node.readServedNetwork(client);
    return undefined;
  },
  exportVault: (run) => exported(run, (client, vaultId, directory) => node.exportVault(client, vaultId, directory)),
};
