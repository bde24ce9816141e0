/** J15: the explainer names what is wrong, layer by layer. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { recordedSecrets } from "../../kit/secret-recorder.ts";
import { revokeKey } from "../kit/account.ts";
import { clockAhead } from "../kit/clock-ahead.ts";
import type { SharedPerson, ToolsOptions } from "../kit/shared-service.ts";
import { explainsByCommand } from "./commands-shared.ts";
import type { Checks, SharedWorld } from "./run.ts";
import { layersIn } from "./shared-j05.ts";

const TEN_MINUTES_AHEAD = clockAhead(600_000);

export async function accessExplained(world: SharedWorld): Promise<Checks> {
  const { service, scratch } = world;
  const owner = await service.signUp();
  const { id: vaultId } = await owner.client.vaults.create({ name: "Explained", type: "shared" });
  await owner.client.files.upload({ vaultId, name: "first.txt", body: new Uint8Array(10) });
  const [stranger, member] = [await service.invite(owner), await service.invite(owner)];
  await owner.client.vaults.members.add(vaultId, member.address);
  const streams: string[] = [];
  const explain = async (person: SharedPerson, more?: ToolsOptions) => {
    await using tools = await service.tools(person, scratch, more);
    const layers = layersIn(await tools.call("vault_access_check", { vaultId }));
    streams.push(tools.stream());
    return layers;
  };
  /** Layer and cause of what failed. */
  const failedIn = async (person: SharedPerson, more?: ToolsOptions): Promise<unknown[]> =>
    Object.entries(await explain(person, more)).flatMap(([layer, [state, cause]]) =>
      state === "failed" ? [[layer, cause]] : [],
    );
  const facts = { world, owner, vaultId, stranger, member, clock: TEN_MINUTES_AHEAD };
  return {
    ...explainsByCommand(facts),
    "J15-all-well": async () => {
      const environment = { SERVICE_CHAIN_PRIVATE_KEY: member.privateKey };
      assert.deepEqual(await failedIn(member, { chainPrivateKey: stranger.privateKey, environment }), []);
    },
    "J15-access-check": async () => {
      assert.deepEqual(await failedIn(stranger), [
        ["api", "not_a_member"],
        ["chain", "not_a_member"],
      ]);
      for (const index of [0, 1]) service.localnet.faults.keyServer(index).down = true;
      const down = await failedIn(member).finally(() => {
        for (const index of [0, 1]) service.localnet.faults.keyServer(index).down = false;
      });
      assert.deepEqual(down, [["keyServers", "key_servers_unavailable"]]);
      const clock = join(scratch, "clock.mjs");
      await writeFile(clock, TEN_MINUTES_AHEAD);
      const ahead = { environment: { NODE_OPTIONS: `--import=${clock}` } };
      assert.deepEqual(await failedIn(member, ahead), [["clock", "clock_skew"]]);
      const mistaken = await service.invite(owner);
      const signingKey = stranger.signer.statements?.publicKey;
      assert.ok(signingKey !== undefined);
      await owner.client.vaults.members.add(vaultId, mistaken.address, { signingKey });
      assert.deepEqual(await failedIn(mistaken), [["key", "wrong_chain_key"]]);
      const cutOff = await service.invite(owner);
      await owner.client.vaults.members.add(vaultId, cutOff.address);
      await revokeKey(service.baseUrl, owner.apiKey, cutOff.keyId);
      assert.deepEqual(await failedIn(cutOff), [["api", "invalid_credential"]]);
      // On the allowlist alone: its owner's client ended between the chain and the service.
      const guest = await service.signUp();
      const cut = ({ method, path }: { method: string; path: string }): boolean =>
        method === "POST" && path.endsWith("/members");
      const once = owner.another({}, { retry: { limit: 0 } });
      await service.tap.cutting(cut, () => assert.rejects(once.vaults.members.add(vaultId, guest.address)));
      assert.deepEqual(await failedIn(guest), [["api", "not_found"]]);
    },
    "J15-mcp-no-secret": async () => {
      assert.ok(streams.length > 5);
      for (const { kind, text } of recordedSecrets())
        for (const stream of streams) assert.ok(!stream.includes(text), `a ${kind} is in the stream`);
      return Promise.resolve();
    },
  };
}
