/** The key that a name is looked for by: a service that names one of its choice learns nothing of the name. */
import { vaultKeysGroup } from "@coffer/contract";
import {
  nameIndex,
  newVaultKeyRecord,
  parseRecord,
  placeOf,
  randomVaultKey,
  signRecord,
  type VaultKeyRecord,
  NO_END,
} from "@coffer/crypto";
import type { Client, Middleware, Vault } from "@coffer/sdk";
import { beforeAll, describe, expect, test } from "vitest";
import { lyingAt } from "../kit/lying-service.ts";
import { openVaultOutside, type OpenedVault } from "../kit/opened-vault.ts";
import { sharedStack } from "../kit/shared-scene.ts";
import type { SharedPerson } from "../kit/shared-stack.ts";

const NAME = "settlement draft.txt";

const stack = sharedStack();
let owner: Client;
let former: SharedPerson;
let vault: Vault;
/** What the former member kept of its time, and what the vault is under after its removal. */
let before: OpenedVault;
let after: OpenedVault;

const hexOf = (some: Uint8Array): string => Buffer.from(some).toString("hex");

beforeAll(async () => {
  owner = stack.owner.client;
  former = await stack.invite("former");
  vault = await owner.vaults.create({ name: "looked-in", type: "shared" });
  await owner.vaults.members.add(vault.id, former.signer.chainAddress);
  await owner.files.upload({ vaultId: vault.id, name: NAME, body: "draft" });
  before = await openVaultOutside(former, vault, stack.network);
  await owner.vaults.members.remove(vault.id, former.signer.chainAddress);
  await owner.vaults.rotate(vault.id);
  const { keys } = await owner.call(vaultKeysGroup.list, { params: { vaultId: vault.id } });
  const current = keys.find(({ keyId }) => keyId !== hexOf(before.record.keyId));
  after = await openVaultOutside(stack.owner, vault, stack.network, current?.keyId);
});

/** A client that has met nothing; the service names this record for every folder, and lists it. The indexes that it is asked for are noted. */
function askedFor(record: VaultKeyRecord): { readonly client: Client; readonly asked: string[] } {
  const asked: string[] = [];
  const watch: Middleware = (request, next, { endpointId }) => {
    const index = new URL(request.url).searchParams.get("nameIndex");
    if (endpointId === "files.list" && index !== null) asked.push(index);
    return next(request);
  };
  const keyId = hexOf(record.keyId);
  const listed = { keyId, record: Buffer.from(record.bytes).toString("base64"), current: false };
  const naming = lyingAt("folderNames.get", (said: object) => ({ ...said, keyId }));
  const listing = lyingAt("vaultKeys.list", (said: { keys: object[] }) => ({
    ...said,
    keys: [...said.keys.map((key) => ({ ...key, current: false })), { ...said.keys[0], ...listed }],
  }));
  return { client: stack.owner.another({ middleware: [watch, naming, listing], retry: { limit: 0 } }), asked };
}

const lookFor = (client: Client) => client.files.list({ vaultId: vault.id, folderId: "root", name: NAME });

describe("looking for a name", () => {
  test("goes by the folder's key, where the service names that", async () => {
    const { client, asked } = askedFor(after.record);
    expect((await lookFor(client)).files.map(({ name }) => name)).toEqual([NAME]);
    expect(asked).toEqual([hexOf(nameIndex(after.key, null, NAME))]);
  });

  test("reveals no name to former members: a key from before the last rotation is refused [R12]", async () => {
    const { client, asked } = askedFor(before.record);
    await expect(lookFor(client)).rejects.toMatchObject({ code: "rolled_back", step: "record" });
    expect(asked).toEqual([]);
  });

  test.each<[string, () => Promise<VaultKeyRecord>]>([
    [
      "of the folder's key, whose signature is nobody's",
      () => {
        const spoiled = Uint8Array.from(after.record.bytes);
        spoiled[spoiled.length - 1] = (spoiled.at(-1) ?? 0) ^ 1;
        return Promise.resolve(parseRecord(spoiled));
      },
    ],
    [
      "of the folder's key, which a removed member has signed again in a generation that is not its own",
      () => signRecord({ ...after.record, creator: before.author.address }, before.author.signer),
    ],
    [
      "of a key that a stranger has made",
      async () => {
        const { address, signer } = before.author;
        const entry = { address, signingKey: signer.publicKey, since: 0n, endsAt: NO_END, until: null };
        const view = { ...after.view, members: [...after.view.members, entry] };
        const key = randomVaultKey(view.vault, placeOf(view));
        return (await newVaultKeyRecord(view, before.wrap, before.author, key)).record;
      },
    ],
  ])("reveals no name by a record %s [R12]", async (_what, make) => {
    const { client, asked } = askedFor(await make());
    await expect(lookFor(client)).rejects.toMatchObject({ code: "damaged", step: "record" });
    expect(asked).toEqual([]);
  });
});
