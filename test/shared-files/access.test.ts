/** Who can read and write a shared vault, and what is said when somebody cannot. */
import {
  createClient,
  memoryPins,
  statementSigner,
  type AccessCheck,
  type Middleware,
  type Signer,
  type Vault,
} from "@coffer/sdk";
import { sharedVaults } from "@coffer/sdk/shared";
import { beforeAll, describe, expect, test } from "vitest";
import { read, sharedStack, UNLIMITED } from "../kit/shared-scene.ts";
import type { SharedPerson } from "../kit/shared-stack.ts";

const stack = sharedStack(UNLIMITED);
let vault: Vault;
let fileId: string;
let member: SharedPerson;

beforeAll(async () => {
  const { client } = stack.owner;
  vault = await client.vaults.create({ name: "access", type: "shared" });
  fileId = (await client.files.upload({ vaultId: vault.id, name: "a.txt", body: Buffer.from("hello") })).file.id;
  member = await stack.invite("member");
  await client.vaults.members.add(vault.id, member.signer.chainAddress);
});

/** States of the five layers, in order. */
function statesOf({ api, chain, keyServers, clock, key }: AccessCheck): string[] {
  return [api, chain, keyServers, clock, key].map(({ state, cause }) => (cause === null ? state : cause));
}

describe("vaults.readers names", () => {
  test("whom the chain names now, the owner first, and the service where it reads something [S29 T2]", async () => {
    const { client, signer } = stack.owner;
    const readersOf = async (id: string) => {
      const { chainAddresses, service } = await client.vaults.readers(id);
      return [service, ...chainAddresses];
    };
    const { id } = await client.vaults.create({ name: "readers", type: "shared", plainNames: true });
    expect(await readersOf(id)).toEqual([true, signer.chainAddress]);
    const passing = `0x${"7a".repeat(32)}`;
    await client.vaults.members.add(id, passing);
    expect(await readersOf(id)).toEqual([true, signer.chainAddress, passing]);
    await client.vaults.members.remove(id, passing);
    expect(await readersOf(id)).toEqual([true, signer.chainAddress]);
    expect(await readersOf(vault.id)).toEqual([false, signer.chainAddress, member.signer.chainAddress]);
    expect(await readersOf((await client.vaults.create({ name: "public", type: "public" })).id)).toEqual([true]);
  });

  test("the same where the service calls the vault public meanwhile [S29 T2]", async () => {
    const pins = memoryPins();
    await member.another({ shared: { pins } }).vaults.readers(vault.id);
    const lie: Middleware = async (request, next, { endpointId }) => {
      const answer = await next(request);
      if (endpointId !== "vaults.get") return answer;
      const { vault: shown } = (await answer.json()) as { vault: Vault };
      return Response.json({ vault: { ...shown, type: "public", chainObjectId: null } });
    };
    const deceived = member.another({ shared: { pins }, middleware: [lie] });
    const { chainAddresses } = await deceived.vaults.readers(vault.id);
    expect(chainAddresses).toContain(member.signer.chainAddress);
    await expect(deceived.vaults.get(vault.id)).rejects.toMatchObject({ code: "vault_changed" });
  });
});

/** Each fault by itself is told apart in journey J15, through the tools. */
describe("vaults.checkAccess finds", () => {
  test("nothing amiss where nothing is", async () => {
    const check = await member.client.vaults.checkAccess(vault.id);
    expect(statesOf(check)).toEqual(["ok", "ok", "ok", "ok", "ok"]);
  });

  test("a key that the service does not take", async () => {
    const { signer } = member;
    const pins = memoryPins();
    await member.another({ shared: { pins } }).vaults.get(vault.id);
    await member.another({ shared: { pins } }).files.list({ vaultId: vault.id });
    const client = createClient({
      baseUrl: stack.baseUrl,
      credentials: { apiKey: member.apiKey.replace(/.$/, (last) => (last === "0" ? "1" : "0")) },
      sharedVaults: sharedVaults({ signer, network: stack.network, pins }),
    });
    const [api, ...rest] = statesOf(await client.vaults.checkAccess(vault.id));
    expect(api).toBe("invalid_credential");
    // The chain is asked by what was pinned.
    expect(rest).toEqual(["ok", "ok", "ok", "ok"]);
  });

  test("an address that the allowlist does not name, whose owner is told", async () => {
    const stranger = await stack.invite("stranger");
    const check = await stranger.client.vaults.checkAccess(vault.id);
    expect(check.chain).toMatchObject({ state: "failed", cause: "not_a_member" });
    expect(check.chain.nextStep).toContain(stranger.signer.chainAddress);
    expect(check.chain.nextStep).toContain(stack.owner.signer.chainAddress);
    expect(check.keyServers.state).toBe("ok");
  });

  test("a vault that is not what it was when it was met, or a chain that shows less than was seen", async () => {
    const chainOf = async (change: object, generation = 0n) => {
      const pins = memoryPins();
      await member.another({ shared: { pins } }).files.list({ vaultId: vault.id });
      const pin = await pins.load(stack.baseUrl, vault.id);
      if (pin === null) throw new Error("it was met");
      await pins.save(pin, { ...pin, ...change });
      await pins.changeHighest(pin.chainObjectId ?? "", (kept) => (generation > 0n ? { ...kept, generation } : kept));
      const client = member.another({ shared: { pins } });
      const [api, chain, ...others] = statesOf(await client.vaults.checkAccess(vault.id));
      const refused: unknown = await read(client, fileId).then(
        () => "ok",
        (error: unknown) => (error as { code: unknown }).code,
      );
      expect([api, refused, ...others]).toEqual(["ok", chain, "ok", "ok", "unknown"]);
      return chain;
    };
    expect(await chainOf({ ownerAddress: member.signer.chainAddress.replace(/.$/, "0") })).toBe("vault_changed");
    expect(await chainOf({ chainId: "4btiuiMPvEENsttpZC7CZ53DruC3MAgfznDbASZ7DR6S" })).toBe("vault_changed");
    expect(await chainOf({ shared: false, chainObjectId: null, chainId: null })).toBe("vault_changed");
    expect(await chainOf({}, 1_000n)).toBe("rolled_back");
  });
});

describe("a wrong clock of this machine", () => {
  test.each([
    [45_000, "4[3-7] s ahead of", "4[3-7] s ahead of"],
    [-45_000, "4[3-7] s behind", "4[3-7] s behind"],
    [600_000, "(59|60)\\d s ahead of", "10 minutes ahead of"],
    [-600_000, "(59|60)\\d s behind", "10 minutes behind"],
  ])("by %i ms is named with its direction, by what fails and by checkAccess", async (off, byNode, byService) => {
    const client = member.another({ shared: { clock: () => Date.now() + off } });
    const failed: unknown = await client.files.list({ vaultId: vault.id }).catch((error: unknown) => error);
    expect(failed).toMatchObject({ code: "clock_skew", name: "VaultError", status: null });
    expect((failed as Error).message).toMatch(new RegExp(`clock is ${byNode} the chain node's`));
    const check = await client.vaults.checkAccess(vault.id);
    expect(check.clock).toMatchObject({ state: "failed", cause: "clock_skew" });
    expect(check.clock.nextStep).toMatch(new RegExp(`It is ${byService} the service's`));
    expect(check.chain.state).toBe("unknown");
  });

  test("is not what a node is late by: the service agrees with this machine", async () => {
    for (const lag of [45_000, -45_000]) {
      const node = await stack.localnet.openNode({ lag });
      const client = member.another({ shared: { network: { ...stack.network, grpcUrl: node.url } } });
      const { clock, chain } = await client.vaults.checkAccess(vault.id);
      expect([clock.state, chain.cause]).toEqual(["ok", "chain_stale"]);
      expect(chain.nextStep).toContain("Name another chain node");
    }
  });
});

describe("whoever cannot sign", () => {
  const body = Buffer.from("never sent");

  test("reads, and is told before anything is sent what a write needs", async () => {
    const { statements: _none, ...wallet } = member.signer;
    const statements = await statementSigner(new Uint8Array(32).fill(8));
    for (const signer of [wallet, { ...wallet, statements }] as Signer[]) {
      const sent: string[] = [];
      const client = member.another({
        shared: { signer },
        middleware: [(request, next) => (sent.push(request.method), next(request))],
      });
      expect(await read(client, fileId)).toBe("hello");
      for (const write of [
        () => client.files.upload({ vaultId: vault.id, name: "b.txt", body }),
        () => client.files.replace(fileId, { vaultId: vault.id, body }),
        () => client.files.update(fileId, { name: "c.txt" }, { vaultId: vault.id }),
        () => client.folders.create({ vaultId: vault.id, name: "d" }),
      ])
        await expect(write()).rejects.toMatchObject({
          code: "signing_key_missing",
          nextStep: expect.stringContaining("setSigningKey") as unknown,
        });
      expect(new Set(sent)).toEqual(new Set(["GET"]));
    }
  });
});

describe("vault keys", () => {
  test("that a node behind the others seems to forge open once it names their maker", async () => {
    const own = await stack.owner.client.vaults.create({ name: "just joined", type: "shared" });
    const shown = new Map<string, Response>();
    let isBehind = false;
    const behind: typeof fetch = async (input, init) => {
      const asked = `${new Request(input).url} ${init?.body as string}`;
      if (!asked.includes("/BatchGetObjects")) return fetch(input, init);
      const known = shown.get(asked);
      if (isBehind && known !== undefined) return known.clone();
      const answer = await fetch(input, init);
      shown.set(asked, answer.clone());
      return answer;
    };
    let later = 0;
    const reader = stack.owner.another({ shared: { fetch: behind, clock: () => Date.now() + later } });
    const looked = reader.files.list({ vaultId: own.id, folderId: "root", name: "first.txt" });
    expect((await looked).files).toEqual([]);
    const joined = await stack.invite("joined");
    await stack.owner.client.vaults.members.add(own.id, joined.signer.chainAddress);
    await joined.client.files.upload({ vaultId: own.id, name: "first.txt", body: Buffer.from("theirs") });
    const body = Buffer.from("under their record");
    const { file } = await stack.owner.client.files.upload({ vaultId: own.id, name: "second.txt", body });
    const shownOf = async () =>
      (await reader.files.list({ vaultId: own.id })).files.find(({ id }) => id === file.id) ?? null;
    isBehind = true;
    expect(await shownOf()).toMatchObject({ name: "", unreadable: "damaged" });
    isBehind = false;
    later = 1_000;
    expect(await shownOf()).toMatchObject({ name: "second.txt" });
    expect(await read(reader, file.id)).toBe("under their record");
  });
});
