/** A place that was meant and is not there, as after a forgotten `await` or a slip: nothing goes to the default public vault in its stead. */
import { open as openFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { makeDirectory } from "../../../../test/kit/directory.ts";
import type { Client } from "../index.ts";
import { uploadFile } from "../node/index.ts";
import { openService } from "../connection/service.test-kit.ts";

const ID = "5f0c1d9e-0000-4000-8000-0123456789ab";

/** What JavaScript passes; the types refuse it. */
function undefinedAs<const Name extends string>(name: Name): Record<Name, string> {
  return { [name]: undefined } as unknown as Record<Name, string>;
}

const directory = makeDirectory();
let path: string;
beforeAll(async () => {
  path = join(directory, "a.txt");
  await writeFile(path, "not for everybody");
});

const CALLS: [string, string, string, (client: Client) => Promise<unknown>][] = [
  [
    "files.upload",
    "vaultId",
    "where none is meant",
    (client) => client.files.upload({ ...undefinedAs("vaultId"), name: "a", body: "not for everybody" }),
  ],
  [
    "files.upload",
    "folderId",
    "for the top of the vault",
    (client) => client.files.upload({ vaultId: ID, ...undefinedAs("folderId"), name: "a", body: "x" }),
  ],
  ["files.replace", "vaultId", "", (client) => client.files.replace(ID, { ...undefinedAs("vaultId"), body: "x" })],
  ["files.update", "folderId", "", (client) => client.files.update(ID, { name: "b", ...undefinedAs("folderId") })],
  ["files.update", "vaultId", "", (client) => client.files.update(ID, { name: "b" }, undefinedAs("vaultId"))],
  [
    "folders.create",
    "vaultId",
    "where none is meant",
    (client) => client.folders.create({ ...undefinedAs("vaultId"), name: "a" }),
  ],
  [
    "folders.create",
    "parentId",
    "for the top of the vault",
    (client) => client.folders.create({ vaultId: ID, ...undefinedAs("parentId"), name: "a" }),
  ],
  ["folders.update", "parentId", "", (client) => client.folders.update(ID, { name: "b", ...undefinedAs("parentId") })],
  ["trash.empty", "vaultId", "for all vaults", (client) => client.trash.empty(undefinedAs("vaultId"))],
  ...(["vaultId", "folderId", "fileId"] as const).map((name): (typeof CALLS)[number] => [
    "uploadFile",
    name,
    "",
    (client) => uploadFile(client, path, undefinedAs(name)),
  ]),
  ["uploadFile", "vaultId", "", (client) => uploadFile(client, path, { fileId: ID, ...undefinedAs("vaultId") })],
];

describe("a place given as undefined", () => {
  it.each(CALLS)("is refused by %s as %s, and nothing is sent", async (endpoint, name, advice, call) => {
    const { client, sent } = await openService();
    const error: unknown = await call(client).then(String, (reason: unknown) => reason);
    expect(error).toMatchObject({ name: "ContractError", code: "invalid_request", retryable: false });
    expect(error).toMatchObject({ issues: [expect.stringMatching(`^${name}: .*leave it out ${advice}`) as unknown] });
    expect(String(error)).toContain(`${endpoint}: `);
    expect(sent).toEqual([]);
  });

  it("is told with every field that has none", async () => {
    const { client } = await openService();
    const places = { ...undefinedAs("vaultId"), ...undefinedAs("folderId") };
    await expect(client.files.upload({ ...places, name: "a", body: "x" })).rejects.toMatchObject({
      issues: [expect.stringContaining("vaultId: "), expect.stringContaining("folderId: ")],
    });
  });

  it.each<[string, string, (client: Client, slip: object) => Promise<unknown>]>([
    ["files.upload", "vaultID", (client, slip) => client.files.upload({ name: "a", body: "x", ...slip })],
    ["files.upload", "vaultId", (client, slip) => client.files.upload({ name: "a", body: "x" }, slip)],
    ["files.replace", "ifNoneMatch", (client, slip) => client.files.replace(ID, { body: "x", ...slip })],
    ["files.replace", "ifMatch", (client, slip) => client.files.replace(ID, { body: "x" }, slip)],
    ["uploadFile", "folder", (client, slip) => uploadFile(client, path, slip)],
  ])("is not lost to a slip: %s names the field %s that it does not take", async (endpoint, name, call) => {
    const { client, sent } = await openService();
    const error: unknown = await call(client, { [name]: "x" }).then(String, (reason: unknown) => reason);
    expect(error).toMatchObject({ name: "ContractError", issues: [`${name}: unknown field`] });
    expect(String(error)).toContain(`${endpoint}: `);
    expect(sent).toEqual([]);
  });

  it("leaves no file open that the caller handed over", async () => {
    const { client } = await openService();
    const handle = await openFile(path);
    const upload = uploadFile(client, path, { handle, ...undefinedAs("vaultId") });
    await expect(upload).rejects.toMatchObject({ code: "invalid_request" });
    expect(handle.fd).toBe(-1);
  });

  it("is another thing than none: without one, the default public vault takes it, as before", async () => {
    const { client } = await openService();
    const { file } = await client.files.upload({ name: "a", body: "for everybody" });
    const folder = await client.folders.create({ name: "f" });
    expect(folder.vaultId).toBe(file.vaultId);
    expect(await client.files.update(file.id, { folderId: folder.id })).toMatchObject({ folderId: folder.id });
    expect(await client.files.update(file.id, { folderId: null })).toMatchObject({ folderId: null });
    expect((await uploadFile(client, path)).file.vaultId).toBe(file.vaultId);
  });
});
