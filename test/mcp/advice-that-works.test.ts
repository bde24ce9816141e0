/** What tools take without an argument more, and what they advise where they do not: against the service in this process. */
import { mkdir, realpath, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makeDirectory } from "../kit/directory.ts";
import { serviceOfFile, type AccountHere } from "../kit/service-here.ts";
import { openToolsHere, type ToolsHere } from "../kit/tools-here.ts";

const newAccount = serviceOfFile();
let service: AccountHere;
let vaultId: string;
let folder: string;
let tools: ToolsHere;

beforeEach(async () => {
  service = await newAccount();
  vaultId = (await service.client.vaults.create({ name: "Team", type: "public" })).id;
  folder = await realpath(makeDirectory());
  tools = await openToolsHere({ client: service.client, folders: [folder] });
});
afterEach(() => tools[Symbol.asyncDispose]());

const errorOf = ({ facts }: { readonly facts: Readonly<Record<string, unknown>> }) =>
  facts["error"] as { readonly code: string; readonly nextStep: string } | undefined;

describe("a name that is a path [issue 48]", () => {
  it.each([
    ["file_write", {}, "d/e/f.txt"],
    ["file_write", { folder: "A" }, "A/d/e/f.txt"],
    ["file_upload", { folder: "A" }, "A/d/e/f.txt"],
  ])("of %s is a path below the folder %j", async (tool, place, path) => {
    const local = join(folder, "local.txt");
    await writeFile(local, "text");
    const source = tool === "file_write" ? { text: "text" } : { paths: [local] };
    const stored = await tools.call(tool, { ...source, ...place, name: "d/e/f.txt", vaultId });
    expect(stored.code).toBeNull();
    const found = await tools.call("file_get", { files: [path], vaultId });
    expect(found.code).toBeNull();
    expect(JSON.stringify(found.facts)).toContain(String(stored.facts["fileId"]));
  });

  it("that no service takes is refused by what is wrong with it", async () => {
    for (const name of ["d/..", "d/\u0000"]) {
      const refused = await tools.call("file_write", { name, text: "x", vaultId });
      expect([name, refused.code]).toEqual([name, "invalid_arguments"]);
    }
  });
});

it("whoever names the version that is to be replaced need not say that it is to be replaced [issue 48]", async () => {
  const write = (text: string, expectedVersion?: unknown) =>
    tools.call("file_write", {
      name: "a.txt",
      text,
      vaultId,
      ...(expectedVersion === undefined ? {} : { expectedVersion }),
    });
  const first = await write("one");
  const taken = errorOf(await write("two"));
  expect(taken).toMatchObject({
    code: "name_exists",
    nextStep: expect.stringContaining("ifExists: version") as string,
  });
  const second = await write("two", first.facts["versionId"]);
  expect(second.text).toContain("new version");
  expect(errorOf(await write("three", first.facts["versionId"]))?.code).toBe("precondition_failed");
});

it("a file of a folder that is there already names an argument that the tool has [issue 48]", async () => {
  const site = join(folder, "site");
  await mkdir(site);
  const upload = async (text: string, ifExists?: string) => {
    await writeFile(join(site, "index.html"), text);
    return await tools.call("file_upload", { paths: [site], vaultId, ...(ifExists === undefined ? {} : { ifExists }) });
  };
  await upload("one");
  const second = await upload("other text");
  expect(second.facts).toMatchObject({ failed: 1 });
  expect(second.text).toContain("ifExists: version");
  expect(second.text).not.toContain("overwrite");
  expect((await upload("other text", "version")).facts).toMatchObject({ replaced: 1 });
});
