/** J6: the owner adds the agent's address. */
import { createClient } from "@coffer/sdk";
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fieldsOf, objectAt, objectsAt } from "../kit/account.ts";
import { failureCode, toolFailure } from "../kit/failures.ts";
import { send } from "../kit/http.ts";
import type { SharedPerson } from "../kit/shared-service.ts";
import { openWebhookSink, verifyArrived } from "../kit/webhook-sink.ts";
import { openWebhooks } from "../kit/webhooks.ts";
import { addsByCommand } from "./commands-shared.ts";
import { callAgreed } from "./own-tools.ts";
import type { Checks, SharedWorld } from "./run.ts";

/** By the owner's tools, in a vault of its own. */
function addsByTool({ service, scratch }: SharedWorld, owner: SharedPerson): Checks {
  return {
    "J6-tools": async () => {
      const vault = await owner.client.vaults.create({ name: "By tool", type: "shared" });
      const { file } = await owner.client.files.upload({ vaultId: vault.id, name: "plan.txt", body: "the plan" });
      const agent = await service.invite(owner, { vaultIds: [vault.id] });
      await using owners = await service.tools(owner, scratch);
      await using tools = await service.tools(agent, scratch);
      const dest = join(scratch, "plan.txt");
      const wanted = { files: [file.id], dest };
      assert.equal(toolFailure(await tools.call("file_download", wanted)).code, "not_a_member");
      const members = () => service.chain.readVault(vault.chainObjectId ?? "", { maxAge: 0 }).then(namesOf);
      const given = { name: "bot", vaultIds: [vault.id], chainAddress: agent.address };
      assert.equal(toolFailure(await owners.call("access_grant", given)).code, "confirmation_required");
      assert.deepEqual(await members(), []);
      await callAgreed(owners, "access_grant", given);
      assert.deepEqual(await members(), [agent.address]);
      const got = await tools.call("file_download", wanted);
      assert.equal(got.isError, false, got.wire);
      assert.equal(await readFile(dest, "utf8"), "the plan");
    },
  };
}

export async function memberAdded(world: SharedWorld): Promise<Checks> {
  const { service, cleanup } = world;
  const { baseUrl, chain, tap } = service;
  const owner = await service.signUp();
  const vault = await owner.client.vaults.create({ name: "Joined", type: "shared" });
  const agent = await service.invite(owner, { vaultIds: [vault.id] });
  const receiver = cleanup.use(await openWebhookSink()).receiver();
  const webhook = await openWebhooks(baseUrl, owner.apiKey).create(receiver.url, ["vault.member_added"]);
  const allowlist = async () => chain.readVault(vault.chainObjectId ?? "", { maxAge: 0 });
  const members = `/api/vaults/${vault.id}/members`;
  return {
    ...addsByCommand(world),
    ...addsByTool(world, owner),
    "J6-sdk-add": async () => {
      const before = await allowlist();
      await owner.client.vaults.members.add(vault.id, agent.address, { label: "bot" });
      const after = await allowlist();
      assert.ok(after.version > before.version, "no transaction");
      assert.deepEqual([after.owner.chainAddress, ...namesOf(after)], [owner.address, agent.address]);
    },
    "J6-listed": async () => {
      const listed = objectsAt(fieldsOf(await send(baseUrl, members, { key: owner.apiKey })), "members");
      const active = { service: "active", chain: "active" };
      assert.deepEqual(
        listed.map(({ chainAddress, role, layers }) => [chainAddress, role, layers]),
        [
          [owner.address, "owner", active],
          [agent.address, "member", active],
        ],
      );
    },
    "J6-webhook": async () => {
      const arrived = await receiver.waitFor(({ body }) => body.includes(agent.address));
      const { object } = objectAt(verifyArrived(arrived, webhook.secret), "data");
      const { vaultId, id } = objectAt({ object }, "object");
      assert.deepEqual([vaultId, id], [vault.id, agent.address]);
      assert.ok(!arrived.body.includes("bot"), "the label is for the owner's eyes");
    },
    "J6-again": async () => {
      const before = await allowlist();
      const again = await owner.another().vaults.members.add(vault.id, agent.address);
      assert.equal(again.chainAddress, agent.address);
      assert.equal((await allowlist()).version, before.version);
      assert.equal((await owner.client.vaults.members.list(vault.id)).items.length, 2);
    },
    "J6-malformed": async () => {
      for (const chainAddress of ["0x12", agent.address.toUpperCase(), `${agent.address}00`]) {
        const body = { chainAddress };
        assert.equal((await send(baseUrl, members, { method: "POST", key: owner.apiKey, body })).status, 400);
        const { signer, signed } = watched(owner);
        const adding = owner.another({ signer }).vaults.members.add(vault.id, chainAddress);
        assert.equal(await failureCode(adding), "address_invalid");
        assert.equal(signed(), 0);
      }
    },
    "J6-not-on-allowlist": async () => {
      const body = { chainAddress: (await service.invite(owner)).address };
      assert.equal((await send(baseUrl, members, { method: "POST", key: owner.apiKey, body })).status, 409);
    },
    "J6-both-keys": async () => {
      const { signer } = await service.signUp();
      const newcomer = (await service.invite(owner)).address;
      const without = {
        "no API key": [owner.another({}, { credentials: { apiKey: "cof_none" } }), "invalid_credential"],
        "no chain key": [createClient({ baseUrl, credentials: { apiKey: owner.apiKey } }), "shared_vault"],
        "another chain key": [owner.another({ signer }), "not_owner"],
      } as const;
      const before = await allowlist();
      for (const [word, [client, code]] of Object.entries(without)) {
        assert.equal(await failureCode(client.vaults.members.add(vault.id, newcomer)), code, word);
        assert.equal(await failureCode(client.vaults.members.remove(vault.id, agent.address)), code, word);
      }
      assert.equal((await allowlist()).version, before.version);
    },
    "J6-hostile": async () => {
      const thief = await service.signUp();
      const friend = await service.invite(owner);
      const swapped = (body: Buffer): Buffer =>
        Buffer.from(body.toString("latin1").replaceAll(friend.address, thief.address), "latin1");
      const { signer, transactions } = watched(owner);
      await tap.lying(
        ({ body }) => swapped(body),
        async () => {
          await owner
            .another({ signer })
            .vaults.members.add(vault.id, friend.address)
            .catch(() => undefined);
        },
      );
      const wanted = Buffer.from(thief.address.slice(2), "hex");
      assert.ok(transactions.length > 0);
      for (const bytes of transactions)
        assert.ok(!Buffer.from(bytes).includes(wanted), "the thief's address was signed");
      assert.deepEqual(namesOf(await allowlist()).sort(), [agent.address, friend.address].sort());
    },
  };
}

function namesOf({ members }: { readonly members: readonly { readonly chainAddress: string }[] }): string[] {
  return members.map(({ chainAddress }) => chainAddress);
}

/** The same signer; what it is given to sign is kept. */
function watched({ signer }: SharedPerson) {
  const transactions: Uint8Array[] = [];
  const { statements } = signer;
  assert.ok(statements !== undefined);
  let count = 0;
  const watching: SharedPerson["signer"] = {
    chainAddress: signer.chainAddress,
    statements,
    signPersonalMessage: (bytes) => {
      count += 1;
      return signer.signPersonalMessage(bytes);
    },
    signTransaction: async (bytes) => {
      count += 1;
      transactions.push(bytes);
      return (await signer.signTransaction?.(bytes)) ?? "";
    },
  };
  return { signer: watching, transactions, signed: () => count };
}
