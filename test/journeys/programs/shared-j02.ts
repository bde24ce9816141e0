/** J2: an owner creates a shared vault. */
import { chainKeySigner, createClient, generateChainKey, type CreationJournal, type SdkError } from "@coffer/sdk";
import assert from "node:assert/strict";
import { fieldsOf, objectAt, objectsAt, signUp } from "../kit/account.ts";
import { failureCode } from "../kit/failures.ts";
import { send } from "../kit/http.ts";
import { createsByCommand } from "./commands-shared.ts";
import type { Checks, SharedWorld } from "./run.ts";

export async function sharedVaultCreated(world: SharedWorld): Promise<Checks> {
  const { service } = world;
  const { baseUrl, tap, localnet, chain } = service;
  const owner = await service.signUp();
  const { client } = owner;
  const listed = async (): Promise<unknown[]> => {
    const answer = await send(baseUrl, "/api/vaults?type=shared", { key: owner.apiKey });
    return objectsAt(fieldsOf(answer), "vaults").map(({ name }) => name);
  };
  let objectId = "";
  let vaultId = "";
  return {
    ...createsByCommand(world),
    "J2-sdk-link-first": async () => {
      const { apiKey } = await signUp(baseUrl);
      const { privateKey } = await generateChainKey();
      const key = await chainKeySigner(privateKey);
      let signed = 0;
      const signTransaction = (bytes: Uint8Array): Promise<string> => {
        signed += 1;
        return key.signTransaction?.(bytes) ?? Promise.reject(new TypeError("signs no transactions"));
      };
      const signer = { ...key, signTransaction };
      const unlinked = owner.another({ signer }, { credentials: { apiKey } });
      const create = () => unlinked.vaults.create({ name: "First", type: "shared" });
      assert.deepEqual([await failureCode(create()), signed], ["wrong_chain_key", 0]);
      await unlinked.account.linkChain(signer);
      assert.deepEqual([(await create()).name, signed], ["First", 1]);
    },
    "J2-sdk-create": async () => {
      const vault = await client.vaults.create({ name: "Plans", type: "shared" });
      [vaultId, objectId] = [vault.id, vault.chainObjectId ?? ""];
      const answer = await send(baseUrl, `/api/vaults/${vaultId}`, { key: owner.apiKey });
      const { type, chainObjectId } = objectAt(fieldsOf(answer), "vault");
      assert.deepEqual([type, chainObjectId], ["shared", objectId]);
    },
    "J2-allowlist": async () => {
      const object = await chain.readVault(objectId, { maxAge: 0 });
      assert.equal(object.owner.chainAddress, owner.address);
      assert.deepEqual([object.members, object.former, object.generation], [[], [], 1n]);
    },
    "J2-chain-step-fails": async () => {
      const before = await listed();
      localnet.faults.node.down = true;
      const failed = client.vaults.create({ name: "Half", type: "shared" });
      const code = await failureCode(failed).finally(() => (localnet.faults.node.down = false));
      assert.equal(code, "chain_unavailable");
      assert.deepEqual(await listed(), before);
      await client.vaults.create({ name: "Half", type: "shared" });
      assert.deepEqual((await listed()).sort(), [...before, "Half"].sort());
    },
    "J2-killed-between": async () => {
      const journal = memoryJournal();
      const wanted = { name: "Resumed", type: "shared", journal } as const;
      const cut = ({ method, path }: { method: string; path: string }) => method === "POST" && path === "/api/vaults";
      await tap.cutting(cut, () => assert.rejects(owner.another({}, { retry: { limit: 0 } }).vaults.create(wanted)));
      assert.ok(!(await listed()).includes("Resumed"));
      assert.notEqual(journal.kept, null);
      const sent: string[] = [];
      journal.onKept = (kept) => {
        if (kept !== null) sent.push(kept);
      };
      await owner.another().vaults.create(wanted);
      assert.ok((await listed()).includes("Resumed"));
      assert.deepEqual([sent, journal.kept], [[], null], "a second vault object was made");
    },
    "J2-sdk-no-chain-key": async () => {
      const keyless = createClient({ baseUrl, credentials: { apiKey: owner.apiKey } });
      const before = tap.requests.length;
      const refused = (error: SdkError): boolean =>
        error.code === "shared_vault" && /sharedVaults/.test(error.nextStep);
      await assert.rejects(keyless.vaults.create({ name: "Keyless", type: "shared" }), refused);
      assert.equal(tap.requests.length, before);
    },
  };
}

interface MemoryJournal extends CreationJournal {
  kept: string | null;
  onKept: (kept: string | null) => void;
}

function memoryJournal(): MemoryJournal {
  const journal: MemoryJournal = {
    kept: null,
    onKept: () => undefined,
    load: () => Promise.resolve(journal.kept),
    replace: (_creation, before, kept) => {
      if (journal.kept !== before) return Promise.resolve(false);
      journal.kept = kept;
      journal.onKept(kept);
      return Promise.resolve(true);
    },
  };
  return journal;
}
