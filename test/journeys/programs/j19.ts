/** J19: the audit log, after the acts that the other journeys make. */
import { createClient, type Client } from "@coffer/sdk";
import assert from "node:assert/strict";
import { signUp } from "../kit/account.ts";
import { newChainKey } from "../kit/chain.ts";
import { operatorVariables, runSql } from "../kit/data-directory.ts";
import { runOperator, type CommandOutcome } from "../kit/operator.ts";
import { parseObject, type Stack } from "../kit/stack.ts";
import { auditByCommand } from "./commands.ts";
import { columnOf, openTools } from "./own-tools.ts";
import type { Checks, World } from "./run.ts";

export async function auditLog(world: World): Promise<Checks> {
  const { stack, scratch } = world;
  const owner = await signUp(stack.baseUrl);
  const client = createClient({ baseUrl: stack.baseUrl, credentials: { apiKey: owner.apiKey } });
  const acts = await actOut(stack, client);
  const verify = async (): Promise<CommandOutcome> =>
    runOperator(["audit", "verify", "--json"], await operatorVariables(stack.dataDirectory));
  const place = { baseUrl: stack.baseUrl, scratch };
  return {
    ...auditByCommand(place, owner.apiKey, Object.keys(acts.actors)),
    "J19-list": async () => {
      const { events } = await client.audit.list({ limit: 1000 });
      for (const [action, actor] of Object.entries(acts.actors)) {
        const event = events.find((one) => one.action === action);
        assert.ok(event !== undefined, `${action} is not in the log`);
        const { id, chainAddress } = event.actor;
        assert.deepEqual({ id, chainAddress }, actor, action);
      }
    },
    "J19-verify": async () => {
      const { code, stdout, stderr } = await verify();
      assert.equal(code, 0, stdout + stderr);
    },
    "J19-sdk-verify": async () => {
      const { entries, fault } = await client.audit.verify();
      assert.equal(fault, null);
      assert.ok(entries >= Object.keys(acts.actors).length, `${entries} entries`);
    },
    "J19-tools": async () => {
      const tools = await openTools(world, owner.apiKey);
      const listed = await tools.call("audit_list", { limit: 100 });
      const actions = columnOf(listed.facts, "entries", "action");
      for (const action of Object.keys(acts.actors)) assert.ok(actions.includes(action), action);
      const byAgent = await tools.call("audit_list", { by: acts.agentKeyId.slice(0, 8) });
      assert.deepEqual(columnOf(byAgent.facts, "entries", "action"), ["file.uploaded"], byAgent.wire);
      assert.equal((await tools.call("audit_list", { verify: true })).facts["intact"], true);
    },
    "J19-edited": async () => {
      const edit = "UPDATE changes SET actor_json = replace(actor_json, ?, ?) WHERE id = ?";
      await runSql(stack.dataDirectory, edit, acts.agentKeyId, acts.ownerKeyId, acts.uploadEventId);
      const { code, stdout } = await verify();
      assert.equal(code, 1, stdout);
      const lines = stdout.trim().split("\n").map(parseObject);
      const named = lines
        .filter((line) => line["fault"] !== null)
        .map(({ accountId, fault }) => ({ accountId, fault }));
      assert.equal(named.length, 1, stdout);
      assert.equal(named[0]?.accountId, owner.id);
      assert.ok(JSON.stringify(named[0]?.fault).includes(acts.uploadEventId), stdout);
    },
    "J19-sdk-edited": async () => {
      assert.equal((await client.audit.verify()).fault?.id, acts.uploadEventId);
      const told = await (await openTools(world, owner.apiKey)).call("audit_list", { verify: true });
      assert.equal(told.facts["intact"], false, told.wire);
    },
  };
}

/** Vault, key, invite, redemption, an agent's upload, a revocation; who must stand in the log for each. */
async function actOut({ baseUrl }: Stack, client: Client) {
  const { credential } = await client.account.get();
  const byOwner = { id: credential.id, chainAddress: null };
  const vault = await client.vaults.create({ name: "Audited", type: "public" });
  const minted = await client.apiKeys.create({ name: "minted" });
  const invite = await client.invites.create({ name: "agent", vaultIds: [vault.id] });
  const chain = newChainKey(baseUrl);
  const { key, keyId } = await createClient({ baseUrl }).invites.redeem(invite.text, chain.signer);
  const agent = createClient({ baseUrl, credentials: { apiKey: key } });
  await agent.files.upload({ name: "by the agent.bin", vaultId: vault.id, body: new Uint8Array(9) });
  await client.apiKeys.revoke(keyId);
  const { events } = await client.audit.list({ action: "file.uploaded" });
  const uploadEventId = String(events[0]?.id);
  assert.notEqual(minted.id, keyId);
  return {
    agentKeyId: keyId,
    ownerKeyId: String(credential.id),
    uploadEventId,
    actors: {
      "vault.created": byOwner,
      "invite.created": byOwner,
      "invite.redeemed": { id: invite.id, chainAddress: chain.address },
      "file.uploaded": { id: keyId, chainAddress: chain.address },
      "api_key.revoked": byOwner,
    },
  };
}
