import { createHash } from "node:crypto";
import { open as openHandle, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeDirectory } from "../../../../../test/kit/directory.ts";
import { openService } from "../../connection/service.test-kit.ts";
import { fileStore } from "../store/file-store.ts";
import { uploadFiles } from "./upload-files.ts";

const SMALL = 256 * 1024;

/** A fake with one public vault, and files of these sizes in a directory of its own. */
async function openWith(sizes: Readonly<Record<string, number>>) {
  const { client, sent } = await openService();
  const { id: vaultId } = await client.vaults.create({ name: "several", type: "public" });
  const directory = makeDirectory();
  const pathOf = (name: string): string => join(directory, name);
  for (const [name, size] of Object.entries(sizes)) await writeFile(pathOf(name), Buffer.alloc(size, name));
  sent.length = 0;
  const lines = () => sent.map(({ method, url }) => `${method} ${new URL(url).pathname}`);
  return { client, vaultId, pathOf, lines, store: fileStore(pathOf("store")) };
}

describe("uploadFiles", () => {
  it("sends small files in one request, and larger ones by themselves, each with its receipt in the order of the files", async () => {
    const sizes = { "a.txt": 0, "b.pdf": SMALL, "c.bin": SMALL + 1, "d.txt": 3 };
    const { client, lines, pathOf, store, vaultId } = await openWith(sizes);
    const seen: number[] = [];
    const files = Object.keys(sizes).map((name) => ({ path: pathOf(name), vaultId }));
    const onProgress = (progress: { readonly files: number }): void => void seen.push(progress.files);
    const outcomes = await uploadFiles(client, files, { store, onProgress });
    expect(outcomes.map(({ path, error }) => ({ path, error }))).toEqual(
      files.map(({ path }) => ({ path, error: null })),
    );
    expect(outcomes.map(({ result }) => [result?.file.name, result?.bytes, result?.sha256])).toEqual(
      Object.entries(sizes).map(([name, size]) => [
        name,
        size,
        createHash("sha256").update(Buffer.alloc(size, name)).digest("hex"),
      ]),
    );
    expect(outcomes[1]?.result?.file.contentType).toBe("application/pdf");
    expect(seen).toEqual([1, 2, 3, 4]);
    expect(lines().filter((line) => line === "POST /api/files/batch")).toHaveLength(1);
    expect(lines().filter((line) => line === "POST /api/files")).toHaveLength(1);
  });

  it("names what fails beside what is stored: a name that is taken, and a file that is not there", async () => {
    const { client, pathOf, vaultId } = await openWith({ "a.txt": 5, "b.txt": 6 });
    const files = [
      { path: pathOf("a.txt"), vaultId, name: "same" },
      { path: pathOf("gone.txt"), vaultId },
      { path: pathOf("b.txt"), vaultId, name: "same" },
    ];
    const [first, gone, second] = await uploadFiles(client, files);
    expect(gone).toMatchObject({ path: pathOf("gone.txt"), result: null, error: { code: "ENOENT" } });
    expect([first, second].filter((outcome) => outcome?.result != null)).toHaveLength(1);
    expect([first, second].map((outcome) => outcome?.error).find((error) => error != null)).toMatchObject({
      code: "name_exists",
    });
  });

  it("opens a file by the caller's function when its turn has come, and closes the handle", async () => {
    const { client, pathOf, vaultId } = await openWith({ "a.txt": 5, "large.bin": SMALL + 1 });
    const handles: Awaited<ReturnType<typeof openHandle>>[] = [];
    const files = ["a.txt", "large.bin"].map((name) => ({
      path: name,
      vaultId,
      open: async () => {
        const handle = await openHandle(pathOf(name));
        handles.push(handle);
        return handle;
      },
    }));
    const outcomes = await uploadFiles(client, files, { store: fileStore(pathOf("store")) });
    expect(outcomes.map(({ result }) => result?.bytes)).toEqual([5, SMALL + 1]);
    expect(handles.map(({ fd }) => fd)).toEqual(handles.map(() => -1));
  });

  it("ends all of it when the signal aborts, and refuses options that it does not know before it opens anything", async () => {
    const { client, pathOf, vaultId } = await openWith({ "a.txt": 5 });
    const files = [{ path: pathOf("a.txt"), vaultId }];
    await expect(uploadFiles(client, files, { signal: AbortSignal.abort(new Error("enough")) })).rejects.toThrow(
      "enough",
    );
    const misspelt = [{ path: pathOf("a.txt"), vaultID: vaultId }];
    await expect(uploadFiles(client, misspelt)).rejects.toMatchObject({ code: "invalid_request" });
    expect(await uploadFiles(client, [])).toEqual([]);
  });
});
