/** Who signed an export may be removed afterwards, and sign another one: whoever opens it is told. */
import { createHash } from "node:crypto";
import { readdir, readFile, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseExportStatement, signExportStatement } from "@coffer/crypto";
import { exportVault, openExport } from "@coffer/sdk/node";
import { expect, test } from "vitest";
import { allOf } from "../kit/bytes.ts";
import { unsigned } from "../kit/changed-export.ts";
import { makeDirectory } from "../kit/directory.ts";
import { sharedStack } from "../kit/shared-scene.ts";

const stack = sharedStack();
const directory = makeDirectory();

test("says when it is opened that who signed it is no member any more", async () => {
  const { client } = stack.owner;
  const { id } = await client.vaults.create({ name: "left behind", type: "shared" });
  const leaving = await stack.invite("leaving");
  await client.vaults.members.add(id, leaving.signer.chainAddress);
  for (const name of ["kept.txt", "left-out.txt"]) await client.files.upload({ vaultId: id, name, body: name });
  await exportVault(leaving.client, id, directory);
  const open = async () => {
    const opened = await openExport(directory, { signer: stack.owner.signer, network: stack.network });
    return [opened.exportedBy, opened.exporterIsMember, (await allOf(opened.files())).length];
  };
  const { chainAddress, statements } = leaving.signer;
  expect(await open()).toEqual([chainAddress, true, 2]);
  await client.vaults.members.remove(id, chainAddress);
  expect(await open()).toEqual([chainAddress, false, 2]);
  // It signs another one, as of before, with a file less.
  const statement = parseExportStatement(await readFile(join(directory, "manifest.statement")));
  const [left = ""] = await readdir(join(directory, "files"));
  await unlink(join(directory, "files", left));
  await unlink(join(directory, "content", left.replace(".json", ".file")));
  await unsigned(directory);
  const manifest = await readFile(join(directory, "manifest.json"));
  const fields = { ...statement, manifestDigest: createHash("sha256").update(manifest).digest() };
  const forged = await signExportStatement(fields, statements);
  await writeFile(join(directory, "manifest.statement"), forged.bytes);
  expect(await open()).toEqual([chainAddress, false, 1]);
  await client.vaults.rotate(id);
  await expect(open()).rejects.toMatchObject({ code: "rolled_back" });
});
