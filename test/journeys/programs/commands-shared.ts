/** What an owner does with `coffer` in the journeys of shared vaults. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { chainKeySigner, generateChainKey } from "@coffer/sdk";
import { COFFER } from "../../kit/coffer-program.ts";
import { recordedSecrets } from "../../kit/secret-recorder.ts";
import { objectAt, objectsAt, revokeKey, signUp } from "../kit/account.ts";
import { cofferOf, type CofferUser } from "../kit/coffer.ts";
import type { SharedPerson, SharedService } from "../kit/shared-service.ts";
import { textOf } from "../kit/stack.ts";
import type { Checks, SharedWorld } from "./run.ts";

/** J2. */
export function createsByCommand({ service, scratch }: SharedWorld): Checks {
  return {
    "J2-link-first": async () => {
      const { apiKey } = await signUp(service.baseUrl);
      const { privateKey } = await generateChainKey();
      const user = await cofferOf(service, { apiKey, privateKey: privateKey.reveal() }, scratch);
      const refused = await user.run(["vaults", "create", "First", "--shared"]);
      assert.notEqual(refused.code, 0);
      assert.match(refused.err, /^next: coffer account link-chain$/m);
      const { account } = await user.document("account", "link-chain");
      const { chainAddress } = await chainKeySigner(privateKey);
      assert.equal(objectAt({ account }, "account")["chainAddress"], chainAddress);
      assert.equal((await user.run(["vaults", "create", "First", "--shared"])).code, 0);
      const { vaults } = await user.document("vaults", "list", "--type", "shared");
      assert.equal(objectsAt({ vaults }, "vaults").length, 1);
    },
    "J2-create-shared": async () => {
      const user = await cofferOf(service, await service.signUp(), scratch);
      const { code, screen } = await user.type(["vaults", "create", "Team", "--shared"]);
      assert.equal(code, 0, screen);
      const [, id = ""] = /Created the shared vault ([0-9a-f-]{36})/.exec(screen) ?? [];
      const { vault } = await user.document("vaults", "get", id);
      const { name, type } = objectAt({ vault }, "vault");
      assert.deepEqual([name, type], ["Team", "shared"]);
    },
    "J2-no-chain-key": async () => {
      const user = await cofferOf(service, await service.signUp(), scratch, { SERVICE_CHAIN_PRIVATE_KEY: "" });
      const before = service.tap.requests.length;
      const { code, err } = await user.run(["vaults", "create", "None", "--shared"]);
      assert.equal(code, 4, err);
      assert.match(err, /SERVICE_CHAIN_PRIVATE_KEY/);
      assert.equal(service.tap.requests.length, before);
    },
  };
}

/** J6. */
export function addsByCommand({ service, scratch }: SharedWorld): Checks {
  return {
    "J6-transaction": async () => {
      const owner = await service.signUp();
      const vault = await owner.client.vaults.create({ name: "By command", type: "shared" });
      const agent = await service.invite(owner, { vaultIds: [vault.id] });
      const allowlist = () => service.chain.readVault(vault.chainObjectId ?? "", { maxAge: 0 });
      const before = await allowlist();
      const user = await cofferOf(service, owner, scratch);
      const { code, screen } = await user.type(["vaults", "members", "add", "By command", agent.address]);
      assert.equal(code, 0, screen);
      const after = await allowlist();
      assert.ok(after.version > before.version, "no transaction");
      const named = [after.owner, ...after.members].map(({ chainAddress }) => chainAddress);
      assert.deepEqual(new Set(named), new Set([owner.address, agent.address]));
      const malformed = await user.run(["members", "add", vault.id, "0x12", "--json"]);
      const error = objectAt(JSON.parse(malformed.out) as Record<string, unknown>, "error");
      assert.deepEqual([malformed.code, error["code"]], [2, "address_invalid"]);
      assert.equal((await allowlist()).version, after.version);
    },
  };
}

interface Removal {
  readonly world: SharedWorld;
  readonly owner: SharedPerson;
  readonly vaultId: string;
  readonly objectId: string;
}

/** J10. */
export function removesByCommand({ world: { service, scratch }, owner, vaultId, objectId }: Removal): Checks {
  const allowlist = () => service.chain.readVault(objectId, { maxAge: 0 });
  const newMember = async (): Promise<SharedPerson> => {
    const agent = await service.invite(owner);
    await owner.client.vaults.members.add(vaultId, agent.address);
    return agent;
  };
  let said = "";
  return {
    "J10-report": async () => {
      const agent = await newMember();
      const before = await allowlist();
      const user = await cofferOf(service, owner, scratch);
      const words = ["agents", "revoke", agent.keyId];
      const { code, screen } = await user.type(words, [{ after: "[y/N] ", types: "y\r" }]);
      assert.equal(code, 0, screen);
      const generation = Number(before.generation) + 1;
      assert.match(screen, new RegExp(`API key ${agent.keyId}: revoked`));
      assert.match(
        screen,
        new RegExp(`Vault ${vaultId}: removed [^]*the generation is ${String(generation)}, [^]*fresh key`),
      );
      said = screen;
      // A repeat changes nothing, and says so.
      const { key, memberships } = await user.document(...words, "--yes");
      assert.deepEqual([key, memberships], ["revoked", [{ vaultId, outcome: "absent", generation }]]);
    },
    "J10-still-has": () => {
      assert.match(said, /What it has downloaded, it still has\./);
      return Promise.resolve();
    },
    "J10-killed": async () => {
      const agent = await newMember();
      const user = await cofferOf(service, owner, scratch);
      const words = ["agents", "revoke", agent.keyId, "--yes"];
      await killedAtTheService(service, user, words);
      const between = await allowlist();
      assert.ok(!between.members.some(({ chainAddress }) => chainAddress === agent.address));
      const { memberships } = await user.document(...words);
      assert.deepEqual(memberships, [{ vaultId, outcome: "absent", generation: Number(between.generation) }]);
      const { members } = await user.document("members", "list", vaultId);
      assert.ok(!objectsAt({ members }, "members").some((member) => member["chainAddress"] === agent.address));
    },
  };
}

/** The chain has the removal; the process dies before the service answers. */
async function killedAtTheService(
  service: SharedService,
  { env }: CofferUser,
  words: readonly string[],
): Promise<void> {
  const [command, ...args] = COFFER;
  const child = spawn(command, [...args, ...words], { env: { PATH: process.env["PATH"], ...env }, stdio: "ignore" });
  const ended = once(child, "exit");
  const cut = ({ method, path }: { method: string; path: string }): boolean =>
    method === "DELETE" && path.includes("/members/") && child.kill("SIGKILL");
  const [, signal] = (await service.tap.cutting(cut, () => ended)) as [number | null, string | null];
  assert.equal(signal, "SIGKILL");
}

interface Explained {
  readonly world: SharedWorld;
  readonly owner: SharedPerson;
  readonly vaultId: string;
  readonly stranger: SharedPerson;
  readonly member: SharedPerson;
  /** A module that puts the clock ahead by ten minutes. */
  readonly clock: string;
}

/** J15. */
export function explainsByCommand({ world, owner, vaultId, stranger, member, clock }: Explained): Checks {
  const { service, scratch } = world;
  const printed: string[] = [];
  /** What doctor says of the first layer that is at fault, and of all of them. */
  const faults = async (person: SharedPerson, more: Readonly<Record<string, string>> = {}): Promise<string[]> => {
    const user = await cofferOf(service, person, scratch, more);
    const { code, out, err } = await user.run(["doctor", "--vault", vaultId, "--json"]);
    const { screen, code: typed } = await user.type(["doctor", "--vault", vaultId]);
    printed.push(out, err, screen);
    assert.equal(typed, code, screen);
    const checks = objectsAt(JSON.parse(out) as Record<string, unknown>, "checks");
    const problems = checks.filter(({ state }) => state === "problem");
    assert.equal(code, problems.length === 0 ? 0 : 1, out);
    for (const { nextStep } of problems) assert.ok(typeof nextStep === "string" && nextStep !== "", out);
    return problems.map((check) => `${textOf(check, "name")}: ${String(check["value"])}`);
  };
  return {
    "J15-doctor": async () => {
      assert.deepEqual(await faults(member), []);
      assert.deepEqual(await faults(stranger), ["vault: api: not_a_member", "vault: chain: not_a_member"]);
      for (const index of [0, 1]) service.localnet.faults.keyServer(index).down = true;
      const down = await faults(member).finally(() => {
        for (const index of [0, 1]) service.localnet.faults.keyServer(index).down = false;
      });
      assert.deepEqual(down, ["key-servers: key_servers_unavailable", "vault: keyServers: key_servers_unavailable"]);
      await writeFile(join(scratch, "ahead.mjs"), clock);
      const ahead = await faults(member, { NODE_OPTIONS: `--import=${join(scratch, "ahead.mjs")}` });
      assert.deepEqual(
        ahead.map((line) => line.replace(/\d+ s/, "N s")),
        ["clock: N s ahead of the service", "vault: clock: clock_skew"],
      );
      const mistaken = await faults({ ...member, privateKey: stranger.privateKey });
      assert.match(mistaken[0] ?? "", /^chain-address: the service has 0x/);
      const cutOff = await service.invite(owner);
      await revokeKey(service.baseUrl, owner.apiKey, cutOff.keyId);
      assert.match((await faults(cutOff))[0] ?? "", /^sign-in: /);
    },
    "J15-no-secret": () => {
      assert.ok(printed.length > 15);
      for (const { kind, text } of recordedSecrets())
        for (const each of printed) assert.ok(!each.includes(text), `a ${kind} was printed`);
      return Promise.resolve();
    },
  };
}
