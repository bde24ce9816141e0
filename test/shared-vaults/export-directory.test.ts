/** Directories with exports of shared vaults: what else lies there, and who else is at it. */
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readdir, readFile, symlink, unlink, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { exportVault, openExport } from "@coffer/sdk/node";
import { beforeAll, describe, expect, test } from "vitest";
import { allOf } from "../kit/bytes.ts";
import { tampered } from "../kit/changed-export.ts";
import { makeDirectory } from "../kit/directory.ts";
import { sharedStack } from "../kit/shared-scene.ts";

const stack = sharedStack();
const place = makeDirectory();
let bundle: string;
let vaultId: string;
let fileIds: string[];

beforeAll(async () => {
  bundle = join(place, "bundle");
  const { client } = stack.owner;
  vaultId = (await client.vaults.create({ name: "exported", type: "shared" })).id;
  const { file } = await client.files.upload({ vaultId, name: "one.txt", body: Buffer.from("content of one") });
  fileIds = [file.id];
  await exportVault(client, vaultId, bundle);
}, 60_000);

const open = (directory: string) => openExport(directory, { signer: stack.owner.signer, network: stack.network });

describe("a directory", () => {
  const own = async (directory: string): Promise<string> => {
    const path = join(directory, "files", "notes.txt");
    await writeFile(path, "somebody's own");
    return path;
  };

  test("in which something else lies keeps it: the export fails, and says so", async () => {
    const directory = await tampered(bundle);
    const path = await own(directory);
    await expect(exportVault(stack.owner.client, vaultId, directory)).rejects.toMatchObject({ code: "damaged" });
    expect(await readFile(path, "utf8")).toBe("somebody's own");
  });

  test("takes one export at a time: two would sign what the other has left", async () => {
    const directory = await tampered(bundle);
    const [begun, goOn] = [Promise.withResolvers<null>(), Promise.withResolvers<null>()];
    const slow = stack.owner.another({
      middleware: [
        async (request, next, { endpointId }) => {
          if (endpointId === "folders.list") {
            begun.resolve(null);
            await goOn.promise;
          }
          return next(request);
        },
      ],
    });
    const first = exportVault(slow, vaultId, directory);
    await begun.promise;
    const second = exportVault(stack.owner.client, vaultId, directory);
    await expect(second).rejects.toMatchObject({ code: "locked", retryable: true });
    goOn.resolve(null);
    const { files } = await first;
    const opened = await open(directory);
    expect((await allOf(opened.files())).length).toBe(files);
    expect(await readdir(directory)).not.toContain("export.lock");
  });

  test("is not changed by who reads it, while its owner may be writing there", async () => {
    const part = join("content", `${fileIds[0] ?? ""}.file.${randomUUID()}.part`);
    const directory = await tampered(bundle, (d) => writeFile(join(d, part), "on its way"));
    const opened = await open(directory);
    expect(await opened.verify()).toEqual([]);
    expect(await readFile(join(directory, part), "utf8")).toBe("on its way");
    await exportVault(stack.owner.client, vaultId, directory);
    expect(await readdir(join(directory, "content"))).not.toContain(basename(part));
  });

  test("in which a pipe or a device stands for a file is refused, and not waited for", async () => {
    for (const stand of [
      (path: string) => promisify(execFile)("mkfifo", [path]),
      (path: string) => symlink("/dev/zero", path),
    ])
      for (const path of [join("files", `${fileIds[0] ?? ""}.json`), "manifest.json", "manifest.statement"]) {
        const directory = await tampered(bundle, async (d) => {
          await unlink(join(d, path));
          await stand(join(d, path));
        });
        await expect(open(directory), path).rejects.toMatchObject({ code: "damaged" });
      }
  });
});
