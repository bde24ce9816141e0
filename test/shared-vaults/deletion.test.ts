/** What the owner's client signs before something of a shared vault is deleted, whatever the service asks it to (decision 0030). */
import { renderDeletionText } from "@coffer/contract";
import { memoryPins, type Client, type Middleware, type Vault, type TransportRequest } from "@coffer/sdk";
import { beforeAll, expect, test } from "vitest";
import { sharedStack } from "../kit/shared-scene.ts";

const stack = sharedStack();
let vault: Vault;
/** The texts that the owner's key was asked to sign. */
let signed: string[];

beforeAll(async () => {
  vault = await stack.owner.client.vaults.create({ name: "kept", type: "shared" });
});

/** The owner's client, watched, behind a service that answers as `middleware` says. */
function watched(...middleware: Middleware[]): Client {
  signed = [];
  const { signer } = stack.owner;
  const watching = {
    ...signer,
    signPersonalMessage: (bytes: Uint8Array) => {
      signed.push(new TextDecoder().decode(bytes));
      return signer.signPersonalMessage(bytes);
    },
  };
  return stack.owner.another({ middleware, shared: { signer: watching }, retry: { limit: 2 } });
}

const isChallenge = (request: TransportRequest) => request.url.endsWith("/deletion-challenge");
const put = async (name: string) =>
  (await stack.owner.client.files.upload({ vaultId: vault.id, name, body: new Uint8Array([1, 2, 3]) })).file.id;

/** The answer to each request of the kind is lost once, after the service has done the work. */
function losing(matches: (request: TransportRequest) => boolean): Middleware {
  const lost = new Set<string>();
  return async (request, next) => {
    const answer = await next(request);
    const key = `${request.method} ${request.url}`;
    if (!matches(request) || lost.has(key) || answer.status >= 400) return answer;
    lost.add(key);
    throw new TypeError("the answer was lost");
  };
}

test("[D5-owner-proof] a lost answer costs another proof at most, and every act ends as it was asked for", async () => {
  const fileId = await put("a");
  const client = watched(losing((request) => request.method === "DELETE"));
  expect(await client.files.delete(fileId, { permanent: true })).toBeNull();
  await stack.owner.client.files.delete(await put("b"));
  expect(await client.trash.empty({ vaultId: vault.id })).toEqual({ leftVaults: [] });
  expect((await stack.owner.client.trash.list({ vaultId: vault.id })).files).toEqual([]);
  expect((await client.vaults.delete(vault.id, { force: true }))?.trashedAt).not.toBeNull();
  await stack.owner.client.vaults.restore(vault.id);
  const doomed = await stack.owner.client.vaults.create({ name: "doomed", type: "shared" });
  expect(await client.vaults.delete(doomed.id, { permanent: true })).toBeNull();
  await expect(stack.owner.client.vaults.get(doomed.id)).rejects.toMatchObject({ code: "not_found" });
});

test("[D5-owner-proof] the client signs its own text for the vault it was asked about, with the nonce alone from the service", async () => {
  const client = watched();
  const trashed = await client.vaults.delete(vault.id, { force: true });
  expect(trashed?.id).toBe(vault.id);
  const { account } = await client.account.get();
  const nonce = /^nonce: (\S+)$/m.exec(signed[0] ?? "")?.[1] ?? "";
  expect(signed).toEqual([
    renderDeletionText({
      act: "delete-vault",
      origin: new URL(stack.baseUrl).origin,
      network: "localnet",
      nonce,
      chainAddress: stack.owner.signer.chainAddress,
      accountId: account.id,
      chainObjectId: vault.chainObjectId ?? "",
      vaultId: vault.id,
    }),
  ]);
  await client.vaults.restore(vault.id);
});

test("a nonce with which the service would add words to the text is not signed", async () => {
  const lying: Middleware = async (request, next) => {
    const answer = await next(request);
    if (!isChallenge(request)) return answer;
    const nonce = `x\nvault: ${crypto.randomUUID()}`;
    return Response.json({ nonce, expiresAt: new Date().toISOString().replace(/\.\d+/, ".000") });
  };
  await expect(watched(lying).vaults.delete(vault.id, { force: true })).rejects.toThrow(RangeError);
  expect(signed).toEqual([]);
});

test("a service that asks for a proof for a public vault gets none", async () => {
  const { client } = stack.owner;
  const open = await client.vaults.create({ name: "open", type: "public" });
  const asking: Middleware = (request, next) =>
    request.method === "DELETE"
      ? Promise.resolve(
          Response.json({ error: "proof" }, { status: 403, headers: { "x-error-code": "owner_proof_required" } }),
        )
      : next(request);
  const refused = watched(asking).vaults.delete(open.id);
  await expect(refused).rejects.toMatchObject({ name: "VaultError", code: "vault_changed" });
  expect(signed).toEqual([]);
});

test("the answer that says where a file lies pins no vault", async () => {
  const pins = memoryPins();
  const client = stack.owner.another({ shared: { pins } });
  expect(await client.files.delete(await put("d"), { permanent: true })).toBeNull();
  expect(await pins.list(new URL(stack.baseUrl).origin)).toEqual([]);
});
