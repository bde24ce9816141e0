/** Who can read and write a shared vault, and what is said when somebody cannot. */
import { parseNetworkConfiguration, type NetworkConfiguration } from "@coffer/chain";
import { sealVaultKeyWrapInWorker } from "@coffer/chain/node";
import { vaultKeysGroup } from "@coffer/contract/shared-vaults";
import { newVaultKeyRecord } from "@coffer/crypto";
import {
  createClient,
  memoryPins,
  statementSigner,
  type AccessCheck,
  type Client,
  type Signer,
  type Vault,
} from "@coffer/sdk";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { beforeAll, describe, expect, test } from "vitest";
import { openVaultOutside } from "../kit/opened-vault.ts";
import { sharedStack, UNLIMITED } from "../kit/shared-scene.ts";
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

async function read(client: Client, id = fileId): Promise<string> {
  return Buffer.from(await (await client.files.download(id)).bytes()).toString();
}

/** States of the five layers, in order. */
function statesOf({ api, chain, keyServers, clock, key }: AccessCheck): string[] {
  return [api, chain, keyServers, clock, key].map(({ state, cause }) => (cause === null ? state : cause));
}

describe("vaults.checkAccess tells five faults apart", () => {
  test("and none", async () => {
    const check = await member.client.vaults.checkAccess(vault.id);
    expect(statesOf(check)).toEqual(["ok", "ok", "ok", "ok", "ok"]);
  });

  test("a key that the service does not take", async () => {
    const { signer } = member;
    const pins = memoryPins();
    await member.another({ shared: { pins } }).vaults.get(vault.id);
    await member.another({ shared: { pins } }).files.list({ vaultId: vault.id });
    const client = createClient({
      ...{
        baseUrl: stack.baseUrl,
        credentials: { apiKey: member.apiKey.replace(/.$/, (last) => (last === "0" ? "1" : "0")) },
      },
      sharedVaults: { signer, network: stack.network, pins },
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

  test("key servers that do not answer, and one that does not matter", async () => {
    const { faults } = stack.localnet;
    faults.keyServer(0).down = true;
    expect(statesOf(await member.client.vaults.checkAccess(vault.id))[2]).toBe("ok");
    faults.keyServer(1).down = true;
    const check = await member.client.vaults.checkAccess(vault.id);
    expect(statesOf(check)).toEqual(["ok", "ok", "key_servers_unavailable", "ok", "ok"]);
    await expect(read(member.another())).rejects.toMatchObject({ code: "key_servers_unavailable", retryable: true });
    faults.keyServer(0).down = false;
    faults.keyServer(1).down = false;
    expect(await read(member.client)).toBe("hello");
  });

  test("a clock that is off", async () => {
    const late = member.another({ shared: { clock: () => Date.now() - 600_000 } });
    expect((await late.vaults.checkAccess(vault.id)).clock).toMatchObject({ state: "failed", cause: "clock_skew" });
  });

  test("and a vault that is not what it was when it was met, or a chain that shows less than was seen", async () => {
    const chainOf = async (change: object, generation = 0n) => {
      const pins = memoryPins();
      await member.another({ shared: { pins } }).files.list({ vaultId: vault.id });
      const pin = await pins.load(stack.baseUrl, vault.id);
      if (pin === null) throw new Error("it was met");
      await pins.save(pin, { ...pin, ...change });
      await pins.changeHighest(pin.chainObjectId ?? "", (kept) => (generation > 0n ? { ...kept, generation } : kept));
      const client = member.another({ shared: { pins } });
      const [api, chain, ...others] = statesOf(await client.vaults.checkAccess(vault.id));
      const refused: unknown = await read(client).then(
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

  test("a signing key that is another one than the vault names", async () => {
    const statements = await statementSigner(new Uint8Array(32).fill(7));
    const other = member.another({ shared: { signer: { ...member.signer, statements } } });
    const check = await other.vaults.checkAccess(vault.id);
    expect(check.key).toMatchObject({ state: "failed", cause: "wrong_chain_key" });
    expect(statesOf(check).slice(0, 4)).toEqual(["ok", "ok", "ok", "ok"]);
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
      expect(await read(client)).toBe("hello");
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

  test("a member without a signing key in the vault writes when it has set one", async () => {
    const agent = await stack.invite("without key");
    const statements = await statementSigner(new Uint8Array(32).fill(9));
    const withOwn = agent.another({ shared: { signer: { ...agent.signer, statements } } });
    await stack.owner.client.vaults.members.add(vault.id, agent.signer.chainAddress);
    await expect(withOwn.files.upload({ vaultId: vault.id, name: "own.txt", body })).rejects.toMatchObject({
      code: "signing_key_missing",
    });
    await withOwn.vaults.setSigningKey(vault.id);
    const { file } = await withOwn.files.upload({ vaultId: vault.id, name: "own.txt", body });
    expect(await read(stack.owner.client, file.id)).toBe("never sent");
    // What the key before it signed is still good.
    expect(await read(stack.owner.client)).toBe("hello");
  });
});

describe("a signer that is no chain key of this SDK", () => {
  test("a wallet owns a vault, writes and reads, with a key of its own for its statements", async () => {
    const keypair = Ed25519Keypair.generate();
    const wallet: Signer = {
      chainAddress: keypair.toSuiAddress(),
      signPersonalMessage: async (message) => (await keypair.signPersonalMessage(message)).signature,
      signTransaction: async (transaction) => (await keypair.signTransaction(transaction)).signature,
    };
    const anyone = createClient({ baseUrl: stack.baseUrl });
    const { apiKey } = await anyone.development.signup({ email: "wallet@example.com" });
    const open = (signer: Signer): Client =>
      createClient({
        ...{ baseUrl: stack.baseUrl, credentials: { apiKey } },
        sharedVaults: { signer, network: stack.network },
      });
    const signer: Signer = { ...wallet, statements: await statementSigner(new Uint8Array(32).fill(3)) };
    const client = open(signer);
    await client.account.linkChain(signer);
    const own = await client.vaults.create({ name: "mine", type: "shared" });
    const { file } = await client.files.upload({ vaultId: own.id, name: "w.txt", body: Buffer.from("by a wallet") });
    expect(await read(open(wallet), file.id)).toBe("by a wallet");
    const renewed: Signer = { ...wallet, statements: await statementSigner(new Uint8Array(32).fill(4)) };
    const again = open(renewed);
    expect(await again.vaults.setSigningKey(own.id)).toMatchObject({ outcome: "done", generation: 2n });
    await again.files.replace(file.id, { vaultId: own.id, body: Buffer.from("by another key") });
    expect(await read(client, file.id)).toBe("by another key");
  });
});

describe("vault keys", () => {
  test("that were sealed for key servers this client does not take open through a record sealed again", async () => {
    const { client } = stack.owner;
    const another = (network: NetworkConfiguration) => stack.owner.another({ shared: { network } });
    const own = await client.vaults.create({ name: "sealed again", type: "shared" });
    const { file } = await client.files.upload({ vaultId: own.id, name: "kept.txt", body: Buffer.from("kept") });
    const [first, second] = parseNetworkConfiguration(stack.localnet.network()).keyServerSets;
    if (first === undefined || second === undefined) throw new Error("the local network has two sets");
    const moved: NetworkConfiguration = { ...stack.network, keyServerSets: [second] };
    const reader = another(moved);
    await expect(read(reader, file.id)).rejects.toMatchObject({ code: "damaged", step: "record" });
    await sealAgain(own, { ...stack.network, keyServerSets: [second, first] });
    expect(await read(another(moved), file.id)).toBe("kept");
    expect((await another(moved).files.get(file.id)).name).toBe("kept.txt");
  });

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

  test("open in a worker also when another act has the client forget its session meanwhile", async () => {
    const own = await stack.owner.client.vaults.create({ name: "beside", type: "shared" });
    const [asked, goOn] = [Promise.withResolvers<null>(), Promise.withResolvers<null>()];
    const signer: Signer = {
      ...stack.owner.signer,
      signPersonalMessage: async (message) => {
        asked.resolve(null);
        await goOn.promise;
        return stack.owner.signer.signPersonalMessage(message);
      },
    };
    const client = stack.owner.another({ shared: { signer, keyWrap: sealVaultKeyWrapInWorker } });
    const reading = read(client);
    await asked.promise;
    await client.vaults.trustOwner(own.id, signer.chainAddress);
    goOn.resolve(null);
    expect(await reading).toBe("hello");
  });

  test("open in a worker, too, which keeps no process alive", async () => {
    const client = member.another({ shared: { keyWrap: sealVaultKeyWrapInWorker } });
    expect(await read(client)).toBe("hello");
    expect((await client.vaults.checkAccess(vault.id)).keyServers.state).toBe("ok");
  });
});

/** What somebody with both key-server sets does when the vault's keys move from one to the other. */
async function sealAgain(own: Vault, network: NetworkConfiguration): Promise<void> {
  const { view, wrap, author, key, record } = await openVaultOutside(stack.owner, own, network);
  const made = await newVaultKeyRecord(view, wrap, author, key);
  const replaces = Buffer.from(record.keyId).toString("hex");
  const body = { record: Buffer.from(made.record.bytes).toString("base64"), replaces };
  await stack.owner.client.call(vaultKeysGroup.publish, { params: { vaultId: own.id }, body });
}
