/** A shared vault that changes its owner: on the chain first, and then the service lets the new owner's account have it. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { NO_END } from "@coffer/crypto";
import { memoryPins } from "@coffer/sdk";
import { beforeAll, expect, test } from "vitest";
import { enlargeVault, strangerAt } from "../kit/large-vault.ts";
import { read, sharedStack } from "../kit/shared-scene.ts";
import { openSharedStack, type SharedPerson } from "../kit/shared-stack.ts";

const stack = sharedStack();
let heir: SharedPerson;

beforeAll(async () => {
  heir = await stack.signUp("heir");
});

async function openOffered(name: string) {
  const { owner } = stack;
  const vault = await owner.client.vaults.create({ name, type: "shared" });
  await owner.client.vaults.members.add(vault.id, heir.signer.chainAddress);
  const { file } = await owner.client.files.upload({
    vaultId: vault.id,
    name: "old.txt",
    body: encode(`${name}: before`),
  });
  await owner.client.vaults.offerOwnership(vault.id, heir.signer.chainAddress);
  return { vault, file };
}

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

test("the new owner has the vault, its files and its management, and the old owner nothing that comes after [S23 S24 E14]", async () => {
  const { owner } = stack;
  const { vault, file } = await openOffered("handed on");
  const before = (await owner.client.account.get()).account.usage;
  const { outcome, generation, effect } = await heir.client.vaults.acceptOwnership(vault.id);
  expect([outcome, generation]).toEqual(["done", 2]);
  const page = await readFile(join(import.meta.dirname, "../../docs/threat-model.md"), "utf8");
  expect(effect).toContain("The owner before cannot open what is written from now on");
  expect(page.replaceAll(/\s+/g, " ")).toContain(effect);
  expect(await heir.client.vaults.get(vault.id)).toMatchObject({ role: "owner", name: "handed on" });
  expect(await read(heir.client, file.id)).toBe("handed on: before");
  const after = (await owner.client.account.get()).account.usage;
  expect([before.files - after.files, (await heir.client.account.get()).account.usage.files]).toEqual([1, 1]);

  const { file: next } = await heir.client.files.upload({ vaultId: vault.id, name: "new.txt", body: encode("after") });
  await expect(owner.client.files.download(next.id)).rejects.toMatchObject({ code: "not_found" });
  await expect(owner.client.vaults.get(vault.id)).rejects.toMatchObject({ code: "not_found" });
  const { members } = owner.client.vaults;
  await expect(members.add(vault.id, stack.owner.signer.chainAddress)).rejects.toMatchObject({ code: "not_owner" });

  // The new owner can add the old one again; a client that has pinned another owner asks its user first.
  await heir.client.vaults.members.add(vault.id, owner.signer.chainAddress);
  await expect(read(owner.client, next.id)).rejects.toMatchObject({
    code: "vault_changed",
    message: expect.stringContaining(heir.signer.chainAddress) as string,
  });
  await expect(owner.client.vaults.trustOwner(vault.id, owner.signer.chainAddress)).rejects.toMatchObject({
    code: "vault_changed",
  });
  await owner.client.vaults.trustOwner(vault.id, heir.signer.chainAddress);
  expect(await read(owner.client, next.id)).toBe("after");
});

test("a process that runs on takes the owner whom its user has trusted in another one [E14]", async () => {
  const { owner } = stack;
  const { vault } = await openOffered("trusted");
  const guest = await stack.signUp("guest");
  await owner.client.vaults.members.add(vault.id, guest.signer.chainAddress);
  const pins = memoryPins();
  const [running, other] = [guest.another({ shared: { pins } }), guest.another({ shared: { pins } })];
  await running.files.list({ vaultId: vault.id });
  await heir.client.vaults.acceptOwnership(vault.id);
  const { file } = await heir.client.files.upload({ vaultId: vault.id, name: "after.txt", body: encode("after") });
  await expect(read(running, file.id)).rejects.toMatchObject({ code: "vault_changed" });
  // Nor is it said to be well meanwhile.
  const { chain, api } = await running.vaults.checkAccess(vault.id);
  expect([api.state, chain.cause]).toEqual(["ok", "vault_changed"]);
  await other.vaults.trustOwner(vault.id, heir.signer.chainAddress);
  expect(await read(running, file.id)).toBe("after");
  expect((await running.vaults.checkAccess(vault.id)).chain.state).toBe("ok");
});

test("a transfer that was cut off between chain and service is finished by the same call", async () => {
  const { vault, file } = await openOffered("cut off");
  const dying = heir.another({
    retry: { limit: 0 },
    middleware: [
      (request, next) => {
        if (new URL(request.url).pathname.endsWith("/claim")) throw new TypeError("died");
        return next(request);
      },
    ],
  });
  await expect(dying.vaults.acceptOwnership(vault.id)).rejects.toThrow();
  expect((await heir.another().vaults.get(vault.id)).role).toBe("member");
  const { outcome } = await heir.another().vaults.acceptOwnership(vault.id);
  expect(outcome).toBe("already");
  expect((await heir.another().vaults.get(vault.id)).role).toBe("owner");
  expect(await read(heir.another(), file.id)).toBe("cut off: before");
  expect(await stack.owner.client.vaults.list({ type: "shared" }).then(({ vaults }) => vaults)).toEqual([]);
});

test("a name that the new owner has already is no dead end: the same call with another name finishes", async () => {
  const { vault } = await openOffered("twice");
  await heir.client.vaults.create({ name: "twice", type: "public" });
  await expect(heir.client.vaults.acceptOwnership(vault.id)).rejects.toMatchObject({ code: "name_exists" });
  await heir.client.vaults.acceptOwnership(vault.id, { name: "twice, inherited" });
  expect(await heir.client.vaults.get(vault.id)).toMatchObject({ role: "owner", name: "twice, inherited" });
});

test("nobody else comes to it, and an offer that was withdrawn is none", async () => {
  const { vault } = await openOffered("kept");
  const stranger = await stack.signUp("stranger");
  await expect(stranger.client.vaults.acceptOwnership(vault.id)).rejects.toMatchObject({ code: "not_found" });
  await stack.owner.client.vaults.offerOwnership(vault.id, null);
  await expect(heir.client.vaults.acceptOwnership(vault.id)).rejects.toMatchObject({ code: "not_offered" });
  expect(await stack.owner.client.vaults.get(vault.id)).toMatchObject({ role: "owner" });
});

test("acts warn from 1,500 former entries on that the oldest will give way, until the vault was rotated", async () => {
  const { vaults } = stack.owner.client;
  const { id, chainObjectId } = await vaults.create({ name: "crowded", type: "shared" });
  const { chainAddress } = (await stack.invite("member")).signer;
  const held = { signingKey: new Uint8Array(32).fill(3), since: "1", until: "1", endsAt: String(NO_END) };
  await enlargeVault(stack.localnet, chainObjectId ?? "", () => ({
    former: Array.from({ length: 1499 }, (_, at) => ({ chainAddress: strangerAt("cc", at), ...held })),
  }));
  expect((await vaults.members.add(id, chainAddress)).warnings).toEqual([]);
  const message = expect.stringMatching(/ room for 300 more entries\..* vaults\.rotate /) as string;
  expect((await vaults.members.remove(id, chainAddress)).warnings).toEqual([{ code: "former_nearly_full", message }]);
  expect((await vaults.reseal(id)).warnings).toEqual([{ code: "former_nearly_full", message }]);
  expect((await vaults.rotate(id)).warnings).toEqual([]);
  expect((await vaults.members.remove(id, chainAddress)).warnings).toEqual([]);
});

test("making a vault and rotating it hand on what the chain's transactions warn of, once each", async () => {
  await using older = await openSharedStack({ localnet: { validEpochs: 1 } });
  const { vaults } = older.owner.client;
  const made = await vaults.create({ name: "one epoch", type: "shared" });
  expect(made.warnings).toMatchObject([{ code: "valid_one_epoch" }]);
  expect((await vaults.rotate(made.id)).warnings).toEqual(made.warnings);
  expect((await vaults.reseal(made.id)).warnings).toEqual([]);
  expect((await vaults.create({ name: "no transaction", type: "public" })).warnings).toEqual([]);
});
