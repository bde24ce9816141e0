/** What the tools do with files alike, in a public vault and in a shared one. */
import { createHash, randomBytes } from "node:crypto";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { textFact, type ToolAnswer, type ToolClient } from "@coffer/devstack";
import { describe, expect, it } from "vitest";

const MIB = 1024 * 1024;

export interface FileScene {
  readonly tools: ToolClient;
  readonly vaultId: string;
  /** The one that the tools may name. */
  readonly folder: string;
  /** Of the service. */
  readonly dataDirectory: string;
  /** What has to be said to restore a file under another name. */
  readonly restoring: object;
}

export interface ToolFiles {
  /** A file in the folder; answers its path. */
  readonly place: (name: string, content: Uint8Array | string) => Promise<string>;
  readonly upload: (name: string, content: Uint8Array | string, more?: object) => Promise<ToolAnswer>;
}

export const sha256 = (content: Uint8Array | string): string => createHash("sha256").update(content).digest("hex");

/** In the folder and the vault of the scene. */
export function filesIn(scene: () => FileScene): ToolFiles {
  const place = async (name: string, content: Uint8Array | string): Promise<string> => {
    const path = join(scene().folder, name);
    await writeFile(path, content);
    return path;
  };
  const upload = async (name: string, content: Uint8Array | string, more: object = {}): Promise<ToolAnswer> => {
    const { tools, vaultId } = scene();
    return await tools.call("file_upload", { paths: [await place(name, content)], vaultId, ...more });
  };
  return { place, upload };
}

/** `shown`: what file_get says beside size and name; `damaged`: how it is said that stored bytes were changed. */
export function describeFiles(
  scene: () => FileScene,
  { shown, damaged }: { readonly shown: (content: Uint8Array) => object; readonly damaged: string },
): void {
  const { upload } = filesIn(scene);
  const call: ToolClient["call"] = (...given) => scene().tools.call(...given);
  const found = async (name: string): Promise<unknown[][]> => {
    const { facts } = await call("file_list", { vaultId: scene().vaultId, limit: 100 });
    return (facts["files"] as unknown[][]).filter((row) => String(row.at(-1)).includes(name));
  };

  it.each([
    ["empty", 0],
    ["one byte", 1],
    ["small", 100_000],
    ["in parts", 20 * MIB],
  ])("a file goes up, is found, comes back and is verified: %s", async (name, size) => {
    const content = randomBytes(size);
    const facts = { bytes: size, sha256: sha256(content) };
    const receipt = await upload(`${name}.bin`, content);
    expect(receipt.facts).toMatchObject({ ...facts, vaultId: scene().vaultId });
    const fileId = textFact(receipt, "fileId");
    const named = expect.stringContaining(`>${name}.bin<`) as string;
    const [row, ...others] = await found(`>${name}.bin<`);
    expect([row?.slice(1), others]).toEqual([[size, expect.any(String), named], []]);
    expect(fileId).toMatch(new RegExp(`^${String(row?.[0])}`));
    const got = await call("file_get", { files: [String(row?.[0])] });
    expect(got.facts).toMatchObject({ fileId, bytes: size, name: named, ...shown(content) });
    const destPath = join(scene().folder, `${name}.back`);
    const seen: number[] = [];
    const back = await call(
      "file_download",
      { files: [fileId], dest: destPath },
      { onProgress: (done) => seen.push(done) },
    );
    expect(back.facts).toMatchObject(facts);
    expect((await readFile(destPath)).equals(content)).toBe(true);
    expect((await stat(destPath)).mode & 0o777).toBe(0o600);
    expect(seen).toEqual(seen.toSorted((a, b) => a - b));
    // At the beginning, each second, and at the end.
    if (size > MIB) expect([seen.length > 1, seen.at(-1)]).toEqual([true, size]);
    const verified = await call("file_verify", { file: fileId, path: destPath });
    expect(verified.facts).toMatchObject({ intact: true, equal: true, ...facts });
    await writeFile(destPath, "other");
    const other = await call("file_verify", { file: fileId, path: destPath });
    expect(other.facts).toMatchObject({ intact: true, equal: false });
  });

  it("a file comes back in part, and it is told when the part lies outside", async () => {
    const content = randomBytes(200_000);
    const fileId = textFact(await upload("part.bin", content), "fileId");
    const destPath = join(scene().folder, "part.back");
    const answer = await call("file_download", { files: [fileId], dest: destPath, offset: 70_000, length: 500 });
    const part = { bytes: 500, sha256: sha256(content.subarray(70_000, 70_500)), fileBytes: 200_000 };
    expect(answer.facts).toMatchObject(part);
    for (const offset of [200_000, 200_001]) {
      const beyond = await call("file_download", { files: [fileId], dest: `${destPath}2`, offset });
      expect(beyond.text).toContain("Failed (invalid_arguments): offset must be below the file's 200000 bytes.");
    }
  });

  it("a file is deleted and restored, once", async () => {
    const fileId = textFact(await upload("gone.txt", "gone"), "fileId");
    const trashed = await call("file_delete", { files: [fileId] });
    const name = expect.stringContaining("gone.txt") as string;
    expect(trashed.facts).toMatchObject({ done: 1, rows: [[fileId.slice(0, 8), "trashed", name]] });
    expect(await found("gone")).toEqual([]);
    const restored = await call("file_restore", { files: [fileId], name: "back.txt", ...scene().restoring });
    expect(restored.facts).toMatchObject({ fileId, bytes: 4, name: expect.stringContaining("back.txt") as string });
    const again = await call("file_restore", { files: [fileId], name: "third.txt", ...scene().restoring });
    expect(again.code).toBe("not_trashed");
  });

  describe("names that are taken", () => {
    it("fail and say how to go on, are numbered, or become a new version", async () => {
      const fileId = textFact(await upload("many.txt", "one"), "fileId");
      const taken = await upload("many.txt", "two!");
      expect(taken.code).toBe("name_exists");
      expect(taken.text).toContain(fileId);
      for (const number of [1, 2])
        expect((await upload("many.txt", "two!", { ifExists: "rename" })).text).toContain(`many (${number}).txt`);
      const version = await upload("many.txt", "two!", { ifExists: "version" });
      expect(version.facts).toMatchObject({ fileId, bytes: 4, sha256: sha256("two!") });
      expect((await call("file_get", { files: [fileId] })).facts).toMatchObject({
        bytes: 4,
        ...shown(Buffer.from("two!")),
      });
    });

    it.each(["error", "version", "rename"])("with the same idempotencyKey make one file (%s)", async (ifExists) => {
      const more = { ifExists, idempotencyKey: `key-${ifExists}` };
      const content = randomBytes(3000);
      const first = await upload(`once-${ifExists}.bin`, content, more);
      const second = await upload(`once-${ifExists}.bin`, content, more);
      expect([first.code, second.facts["fileId"]]).toEqual([null, textFact(first, "fileId")]);
      expect(await found(`once-${ifExists}`)).toHaveLength(1);
    });
  });

  it("damage on the disk of the service is told, and never reaches a local file", async () => {
    const content = randomBytes(50_000);
    const before = new Set(await blobs());
    const fileId = textFact(await upload("fragile.bin", content), "fileId");
    const [blob = ""] = (await blobs()).filter((each) => !before.has(each));
    const bytes = await readFile(blob);
    bytes[25_000] = (bytes[25_000] ?? 0) ^ 1;
    await writeFile(blob, bytes);
    expect((await call("file_verify", { file: fileId })).facts).toMatchObject({ intact: false });
    const { folder } = scene();
    expect((await call("file_download", { files: [fileId], dest: join(folder, "fragile.back") })).code).toBe(damaged);
    const left = (await readdir(folder)).filter((name) => name.startsWith("fragile.back") || name.startsWith("."));
    expect(left).toEqual([]);
  });

  async function blobs(): Promise<string[]> {
    const directory = join(scene().dataDirectory, "blobs");
    const entries = await readdir(directory, { recursive: true, withFileTypes: true });
    return entries.filter((each) => each.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  }
}
