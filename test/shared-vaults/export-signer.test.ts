/** Who signed an export may be removed afterwards, and sign another one: whoever opens it is told. */
import { createHash } from "node:crypto";
import { cp, readdir, readFile, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseExportStatement, signExportStatement, type ExportStatement } from "@coffer/crypto";
import { exportVault, openExport } from "@coffer/sdk/node";
import { expect, test } from "vitest";
import { allOf } from "../kit/bytes.ts";
import { unsigned } from "../kit/changed-export.ts";
import { makeDirectory } from "../kit/directory.ts";
import { sharedStack } from "../kit/shared-scene.ts";
import type { SharedPerson } from "../kit/shared-stack.ts";

const stack = sharedStack();
const directory = makeDirectory();

test("says when it is opened that who signed it is no member any more [X5 X6]", async () => {
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
  const { chainAddress } = leaving.signer;
  expect(await open()).toEqual([chainAddress, true, 2]);
  await client.vaults.members.remove(id, chainAddress);
  expect(await open()).toEqual([chainAddress, false, 2]);
  // It signs another one, as of before, with a file less.
  const statement = await statementIn(directory);
  const [left = ""] = await readdir(join(directory, "files"));
  await unlink(join(directory, "files", left));
  await unlink(join(directory, "content", left.replace(".json", ".file")));
  await signAgain(directory, statement, leaving);
  expect(await open()).toEqual([chainAddress, false, 1]);
  await client.vaults.rotate(id);
  await expect(open()).rejects.toMatchObject({ code: "rolled_back" });
});

test("holds nothing that was written after the place that its statement names, whoever puts it in [X6]", async () => {
  const { client, signer } = stack.owner;
  const { id } = await client.vaults.create({ name: "put in later", type: "shared" });
  const leaving = await stack.invite("putting in");
  await client.vaults.members.add(id, leaving.signer.chainAddress);
  const { file: early } = await client.files.upload({ vaultId: id, name: "early.txt", body: "early" });
  const [older, newer] = [makeDirectory(), makeDirectory()];
  await exportVault(leaving.client, id, older);
  await client.vaults.members.remove(id, leaving.signer.chainAddress);
  const { file: late } = await client.files.upload({ vaultId: id, name: "late.txt", body: "late" });
  await exportVault(client, id, newer);
  const open = async () => (await openExport(older, { signer, network: stack.network })).verify();
  expect(await open()).toEqual([]);

  await cp(join(newer, "records"), join(older, "records"), { recursive: true });
  for (const path of [`files/${late.id}.json`, `content/${late.id}.file`])
    await cp(join(newer, path), join(older, path));
  await signAgain(older, await statementIn(older), leaving);
  expect(await open()).toMatchObject([{ kind: "file", id: late.id, code: "damaged", step: "entry" }]);
  // The later upload has encrypted the older file's name again: that entry is of the later place, too.
  await cp(join(newer, "files", `${early.id}.json`), join(older, "files", `${early.id}.json`));
  await signAgain(older, await statementIn(older), leaving);
  expect(new Set((await open()).map(({ id }) => id))).toEqual(new Set([early.id, late.id]));
});

async function statementIn(directory: string): Promise<ExportStatement> {
  return parseExportStatement(await readFile(join(directory, "manifest.statement")));
}

/** The manifest of what lies there now, under the fields of an earlier statement. */
async function signAgain(directory: string, statement: ExportStatement, { signer }: SharedPerson): Promise<void> {
  await unsigned(directory);
  const manifest = await readFile(join(directory, "manifest.json"));
  const fields = { ...statement, manifestDigest: createHash("sha256").update(manifest).digest() };
  if (signer.statements === undefined) throw new Error("the signer signs no statements");
  await writeFile(join(directory, "manifest.statement"), (await signExportStatement(fields, signer.statements)).bytes);
}
