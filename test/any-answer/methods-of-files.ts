/** Methods of files and folders, with names and contents that are for the members of one vault. */
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as node from "@coffer/sdk/node";
import {
  blameContent,
  lookingIn,
  blameMade,
  itemIn,
  itemOf,
  placeOf,
  plain,
  secrets,
  sharedVault,
  undoDeletion,
} from "./arguments.ts";
import { exported } from "./methods-of-vaults.ts";
import { blameAsked, blameListed } from "./run.ts";
import { blameVault } from "./methods-of-vaults.ts";
import type { Method } from "./method.ts";

export const FOLDERS: Readonly<Record<string, Method>> = {
  "folders.create": async (run) => {
    const { place, meaning } = placeOf(run);
    const { name } = secrets(run);
    run.means({ ...meaning, name, kind: "folder" });
    const { folderId: parentId, ...rest } = place;
    const made = await run.client.folders.create({ ...rest, ...(parentId === undefined ? {} : { parentId }), name });
    return () => {
      blameMade(run, "folder", meaning, made);
    };
  },
  "folders.list": async (run) => {
    const { place, meaning } = placeOf(run);
    const { asked, name } = lookingIn(run, place);
    run.means({ ...meaning, name });
    const { folderId, ...rest } = asked;
    const page = await run.client.folders.list({
      ...{ ...rest, limit: 20 },
      ...(folderId === undefined ? {} : { parentId: folderId }),
    });
    return () => {
      blameListed(run, "folder", asked, page.folders);
    };
  },
  "folders.get": async (run) => {
    const { id, meaning } = itemOf(run, "folder");
    run.means(meaning);
    const folder = await run.client.folders.get(id);
    return () => {
      blameAsked(run, "folder", id, folder);
    };
  },
  "folders.update": async (run) => {
    const { id, meaning } = itemOf(run, "folder");
    const { name } = secrets(run);
    run.means({ ...meaning, name });
    const folder = await run.client.folders.update(id, { name });
    return () => {
      blameAsked(run, "folder", id, folder);
    };
  },
  "folders.delete": async (run) => {
    const { id, meaning } = itemOf(run, "folder");
    run.means(meaning);
    const folder = await run.client.folders.delete(id).finally(() => undoDeletion(run, "folders", id));
    return () => {
      blameAsked(run, "folder", id, folder);
    };
  },
  "folders.restore": async (run) => {
    const { id, meaning } = itemOf(run, "folder");
    const { name } = secrets(run);
    // Where the folder is gone the top is where it comes back to.
    run.means({ ...meaning, name, folderId: null });
    await run.world.owner.client.folders.delete(id).catch(() => undefined);
    const folder = await run.client.folders.restore(id, { name }).finally(() => undoDeletion(run, "folders", id));
    return () => {
      blameAsked(run, "folder", id, folder);
    };
  },
};

export const FILES: Readonly<Record<string, Method>> = {
  "files.list": async (run) => {
    const { place, meaning } = placeOf(run);
    const { asked, name } = lookingIn(run, place);
    run.means({ ...meaning, name });
    const page = await run.client.files.list({ ...asked, limit: 20 });
    return () => {
      blameListed(run, "file", asked, page.files);
    };
  },
  "files.get": async (run) => {
    const { id, meaning } = itemOf(run, "file");
    run.means(meaning);
    const file = await run.client.files.get(id);
    return () => {
      blameAsked(run, "file", id, file);
    };
  },
  "files.upload": async (run) => {
    const { place, meaning } = placeOf(run);
    const { name, content, body, options } = secrets(run);
    run.means({ ...meaning, name, content, kind: "file" });
    const { file } = await run.client.files.upload({ ...place, name, body }, options);
    return () => {
      blameMade(run, "file", meaning, file);
    };
  },
  "files.replace": async (run) => {
    const { id, vaultId, meaning } = itemOf(run, "file");
    const { content, body, options } = secrets(run);
    run.means({ ...meaning, content });
    const named = run.draw.chance(0.3) ? { vaultId } : {};
    const { file } = await run.client.files.replace(id, { body, ...named }, options);
    return () => {
      blameAsked(run, "file", id, file);
    };
  },
  "files.download": async (run) => {
    const { id, vaultId, meaning } = itemOf(run, "file");
    run.means(meaning);
    const range = run.draw.chance(0.3) ? { range: { offset: 1, length: 5 } } : {};
    const named = run.draw.chance(0.3) ? { vaultId } : {};
    const download = await run.client.files.download(id, { ...range, ...named });
    const content = Buffer.from(await download.bytes());
    return () => {
      blameContent(run, id, content, !("range" in range));
    };
  },
  "files.update": async (run) => {
    const { id, vaultId, meaning } = itemOf(run, "file");
    const { name } = secrets(run);
    const folderId = meaning.vaultId != null && run.draw.chance(0.3) ? itemIn(run, vaultId, "folder") : undefined;
    run.means({ ...meaning, name, folderId });
    const change = { name, ...(folderId === undefined ? {} : { folderId }) };
    const named = run.draw.chance(0.3) ? { vaultId } : {};
    const file = await run.client.files.update(id, change, named);
    return () => {
      blameAsked(run, "file", id, file);
    };
  },
  "files.delete": async (run) => {
    const { id, meaning } = itemOf(run, "file");
    run.means(meaning);
    const file = await run.client.files.delete(id).finally(() => undoDeletion(run, "files", id));
    return () => {
      if (file !== null) blameAsked(run, "file", id, file);
    };
  },
  "files.restore": async (run) => {
    const { id, meaning } = itemOf(run, "file");
    const { name } = secrets(run);
    run.means({ ...meaning, name, folderId: null });
    await run.world.owner.client.files.delete(id).catch(() => undefined);
    const file = await run.client.files.restore(id, { name }).finally(() => undoDeletion(run, "files", id));
    return () => {
      blameAsked(run, "file", id, file);
    };
  },
  "trash.list": async (run) => {
    const vaultId = sharedVault(run);
    const named = run.draw.chance(0.5) ? { vaultId } : {};
    const page = await run.client.trash.list({ ...named, limit: 20 });
    return () => {
      blameListed(run, "file", named, page.files);
    };
  },
  "trash.vaults": async (run) => {
    for (const vault of (await run.client.trash.vaults()).vaults) blameVault(run, vault);
    return undefined;
  },
  "trash.empty": plain((run) => run.client.trash.empty({ vaultId: sharedVault(run) })),
};
/** Of `@coffer/sdk/node`. */
export const NODE_METHODS: Readonly<Record<string, Method>> = {
  downloadFile: async (run) => {
    const { id, meaning } = itemOf(run, "file");
    run.means(meaning);
    const path = join(run.world.machine.directory, run.draw.word("download"));
    await node.downloadFile(run.client, id, path);
    const content = await readFile(path);
    await rm(path);
    return () => {
      blameContent(run, id, content);
    };
  },
  uploadFile: async (run) => {
    const { place, meaning } = placeOf(run);
    const { name, content, body, options } = secrets(run);
    run.means({ ...meaning, name, content, kind: "file" });
    const path = join(run.world.machine.directory, run.draw.word("upload"));
    const journalDirectory = join(run.world.machine.directory, "uploads");
    await writeFile(path, body);
    const { file } = await node
      .uploadFile(run.client, path, { ...place, ...options, name, journalDirectory })
      .finally(() => rm(path));
    return () => {
      blameMade(run, "file", meaning, file);
    };
  },
  exportVault: (run) => exported(run, (client, vaultId, directory) => node.exportVault(client, vaultId, directory)),
};
