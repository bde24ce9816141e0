import { api } from "@coffer/contract";
import { ApiError, failureOf, inProcessTransport } from "@coffer/sdk";
import { expect, it } from "vitest";
import { allOf } from "../kit/bytes.ts";
import type { Accounts } from "./client-subject.ts";

const NOBODY = "5f0c1d9e-0000-4000-8000-0123456789ab";

/** Account, vaults, folders, pages, errors. */
export function resourcesSuite(accounts: () => Accounts): void {
  it("reads the account and what its key may do [D4-level-owner] [D4-chain-null]", async () => {
    const { client } = await accounts().signup();
    const { account, credential } = await client.account.get();
    expect(account).toMatchObject({ accessLevel: "owner", chainAddress: null, chainAddressSource: null });
    expect(credential).toMatchObject({ kind: "api-key", scopes: null, vaultIds: null });
  });

  it("makes, renames and deletes vaults [D5-vaults-paths] [D5-vault-delete]", async () => {
    const { client } = await accounts().signup();
    const vault = await client.vaults.create({ name: "Papers", type: "public" });
    expect((await client.vaults.get(vault.id)).name).toBe("Papers");
    expect((await client.vaults.update(vault.id, { name: "Notes" })).name).toBe("Notes");
    await client.files.upload({ vaultId: vault.id, name: "a", body: new Uint8Array(1) });
    await expect(client.vaults.delete(vault.id)).rejects.toMatchObject({ code: "vault_not_empty", status: 409 });
    expect(await client.vaults.delete(vault.id, { force: true, permanent: true })).toBeNull();
    await expect(client.vaults.get(vault.id)).rejects.toMatchObject({ code: "not_found" });
  });

  it("moves vaults to the trash and back with what lies in them [D5-vault-trash]", async () => {
    const { client } = await accounts().signup();
    const vault = await client.vaults.create({ name: "Papers", type: "public" });
    const { file } = await client.files.upload({ vaultId: vault.id, name: "a", body: new Uint8Array(1) });
    const trashed = await client.vaults.delete(vault.id, { force: true });
    expect(trashed?.trashedAt).not.toBeNull();
    expect(await client.vaults.delete(vault.id)).toEqual(trashed);
    expect((await client.trash.vaults()).vaults.map(({ id }) => id)).toEqual([vault.id]);
    expect((await client.vaults.list()).vaults.map(({ id }) => id)).not.toContain(vault.id);
    await expect(client.files.get(file.id)).rejects.toMatchObject({ code: "not_found" });
    expect((await client.files.list()).files).toEqual([]);
    await client.vaults.create({ name: "Papers", type: "public" });
    await expect(client.vaults.restore(vault.id)).rejects.toMatchObject({ code: "name_exists" });
    expect(await client.vaults.restore(vault.id, { name: "Old papers" })).toMatchObject({
      name: "Old papers",
      trashedAt: null,
    });
    expect((await client.files.get(file.id)).name).toBe("a");
    expect(await client.trash.empty()).toEqual({ leftVaults: [] });
  });

  it("moves folders to the trash and back [D5-folders-paths] [D5-folder-delete]", async () => {
    const { client } = await accounts().signup();
    const outer = await client.folders.create({ name: "outer" });
    const inner = await client.folders.create({ name: "inner", parentId: outer.id });
    expect((await client.folders.update(inner.id, { name: "renamed" })).name).toBe("renamed");
    expect((await client.folders.delete(outer.id)).trashedAt).not.toBeNull();
    expect((await client.folders.get(inner.id)).trashedAt).not.toBeNull();
    await client.folders.restore(outer.id);
    const found = await client.folders.list({ parentId: outer.id });
    expect(found.folders.map(({ id }) => id)).toEqual([inner.id]);
  });

  it("reads a list by page, by item and page after page [D1-list-cursor]", async () => {
    const { client } = await accounts().signup();
    for (const name of ["a", "b", "c", "d"]) await client.vaults.create({ name, type: "public" });
    const page = await client.vaults.list({ limit: 2 });
    expect(page.items).toBe(page.vaults);
    expect(page.vaults).toHaveLength(2);
    expect(page.nextCursor).not.toBeNull();
    expect((await allOf(client.vaults.list({ limit: 2 }))).map(({ name }) => name)).toEqual([
      "d",
      "c",
      "b",
      "a",
      "Files",
    ]);
    expect((await allOf(client.vaults.list({ limit: 2 }).pages())).map(({ items }) => items.length)).toEqual([2, 2, 1]);
  });

  it("shows an account nothing of another [D1-foreign-object-404]", async () => {
    const { client } = await accounts().signup();
    const { client: stranger } = await accounts().signup();
    const { file } = await client.files.upload({ name: "mine", body: new Uint8Array(3) });
    await expect(stranger.files.get(file.id)).rejects.toMatchObject({ code: "not_found" });
    await expect(stranger.files.download(file.id)).rejects.toMatchObject({ code: "not_found" });
    await expect(stranger.vaults.get(file.vaultId)).rejects.toMatchObject({ code: "not_found" });
    expect((await stranger.files.list()).files).toEqual([]);
  });

  it("types failures by what the endpoint declares", async () => {
    const { client } = await accounts().signup();
    const error: unknown = await client.files.get(NOBODY).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ApiError);
    const failure = failureOf(api.files.get, error);
    expect(failure?.code).toBe("not_found");
    expect(failure?.requestId).toMatch(/^[0-9a-f-]{36}$/);
    expect(failure?.nextStep).not.toBe("");
    expect(failureOf(api.account.get, error)).toBeNull();
  });

  it("sends nothing when the input breaks the contract", async () => {
    const client = accounts().connect(null, { transport: inProcessTransport(() => Promise.reject(new Error("sent"))) });
    await expect(client.files.get("no-id")).rejects.toMatchObject({
      code: "invalid_request",
      issues: ["params.fileId: expected a UUID in lower case"],
    });
    await expect(client.vaults.create({ name: "a/b", type: "public" })).rejects.toMatchObject({
      code: "invalid_request",
    });
    await expect(client.files.list({ limit: 5000 })).rejects.toMatchObject({ code: "invalid_request" });
  });
}
