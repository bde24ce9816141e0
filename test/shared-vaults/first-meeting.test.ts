/** The first meeting of an agent with a shared vault: what its invite told it is not the service's to say any more. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import {
  chainKeySigner,
  createClient,
  generateChainKey,
  memoryPins,
  type Client,
  type Middleware,
  type PinStore,
  type Vault,
} from "@coffer/sdk";
import { uploadFile } from "@coffer/sdk/node";
import { sharedVaults } from "@coffer/sdk/shared";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { makeDirectory } from "../kit/directory.ts";
import { lyingAt, watching } from "../kit/lying-service.ts";
import { read, sharedStack } from "../kit/shared-scene.ts";
import type { SharedPerson } from "../kit/shared-stack.ts";

const stack = sharedStack();
let owner: SharedPerson;
let vault: Vault;
let other: Vault;
let fileId: string;
const directory = makeDirectory();

beforeAll(async () => {
  owner = stack.owner;
  vault = await owner.client.vaults.create({ name: "told", type: "shared" });
  other = await owner.client.vaults.create({ name: "another", type: "shared" });
  const body = Buffer.from("for members alone");
  fileId = (await owner.client.files.upload({ vaultId: vault.id, name: "a.txt", body })).file.id;
});

const newSigner = async () => chainKeySigner((await generateChainKey()).privateKey);

/** Somebody new, who redeems an invite for both vaults and keeps its pins there; a member of both. */
async function arrive(pins: PinStore, text: string) {
  const signer = await newSigner();
  const { baseUrl, network } = stack;
  const redeeming = createClient({ baseUrl, sharedVaults: sharedVaults({ signer, network, pins }) });
  const { key } = await redeeming.invites.redeem(text, signer);
  for (const { id } of [vault, other]) await owner.client.vaults.members.add(id, signer.chainAddress);
  return (...middleware: Middleware[]): Client =>
    createClient({
      baseUrl,
      credentials: { apiKey: key },
      sharedVaults: sharedVaults({ signer, network, pins }),
      middleware,
    });
}

async function invite(vaultIds?: string[]): Promise<string> {
  return (await owner.client.invites.create({ name: "agent", ...(vaultIds === undefined ? {} : { vaultIds }) })).text;
}

/** Says something else of the vault. */
const lying = (change: Partial<Vault>): Middleware =>
  lyingAt("vaults.get", (said: { vault: Vault }) => ({ vault: { ...said.vault, ...change } }));

const readFile = (client: Client) => read(client, fileId);

describe("an invite with shared vaults", () => {
  test("pins them before the service is asked: another object under the vault's id is not even looked at [S25]", async () => {
    const pins = memoryPins();
    const open = await arrive(pins, await invite([vault.id, other.id]));
    const { origin } = new URL(stack.baseUrl);
    expect(await pins.load(origin, vault.id)).toEqual({
      origin,
      vaultId: vault.id,
      shared: true,
      chainObjectId: vault.chainObjectId,
      ownerAddress: owner.signer.chainAddress,
      chainId: stack.network.chainId,
    });
    const lied = open(lying({ chainObjectId: other.chainObjectId }));
    expect(await readFile(lied)).toBe("for members alone");
    const { file } = await lied.files.upload({ vaultId: vault.id, name: "b.txt", body: Buffer.from("mine") });
    expect(Buffer.from(await (await owner.client.files.download(file.id)).bytes()).toString()).toBe("mine");
  });

  test("nothing is written there in plaintext when the service shows it as public at the first meeting [S25]", async () => {
    const told = await arrive(memoryPins(), await invite([vault.id, other.id]));
    const untold = await arrive(memoryPins(), await invite());
    const sent: Record<"told" | "untold", string[]> = { told: [], untold: [] };
    const asPublic = { type: "public", chainObjectId: null } as const;
    const secret = { vaultId: vault.id, name: "plans.txt", body: Buffer.from("the plans of this quarter") };
    await told(watching(sent.told), lying(asPublic)).files.upload(secret);
    expect(sent.told.join("\n")).not.toMatch(/the plans of this quarter|plans\.txt/);
    // Without what the invite tells, the same lie works: that is what it is for.
    const lost = { vaultId: vault.id, name: "lost.txt", body: Buffer.from("what nobody had told") };
    const meeting = untold(watching(sent.untold), lying(asPublic)).files.upload(lost);
    await expect(meeting).rejects.toMatchObject({ code: "not_encrypted" });
    expect(sent.untold.join("\n")).toMatch(/what nobody had told/);
  });

  test("is refused, unused, where it says something else than this machine knows", async () => {
    const pins = memoryPins();
    const { origin } = new URL(stack.baseUrl);
    const known = { origin, vaultId: vault.id, shared: true, ownerAddress: owner.signer.chainAddress };
    await pins.save(null, { ...known, chainObjectId: other.chainObjectId, chainId: stack.network.chainId });
    const text = await invite([vault.id]);
    const signer = await newSigner();
    const redeeming = createClient({ baseUrl: stack.baseUrl }).invites.redeem(text, signer, { pins });
    await expect(redeeming).rejects.toMatchObject({ code: "vault_changed" });
    await expect(redeeming).rejects.toThrow(new RegExp(`${other.chainObjectId ?? "-"}.*${vault.chainObjectId ?? "-"}`));
    const network = { ...stack.network, chainId: "4vJ9JU1bJJE96FWSJKvHsmmFADCg4gpZQff4P3bkLKi" };
    const elsewhere = createClient({ baseUrl: stack.baseUrl, sharedVaults: sharedVaults({ signer, network }) });
    await expect(elsewhere.invites.redeem(text, signer)).rejects.toMatchObject({ code: "vault_changed" });
    const again = await createClient({ baseUrl: stack.baseUrl }).invites.redeem(text, signer);
    expect(again.vaults.map(({ chainObjectId }) => chainObjectId)).toEqual([vault.chainObjectId]);
  });

  test("that lost what it told on its way is noticed by who made it", async () => {
    const text = await invite([vault.id]);
    const cut = text.split(".").slice(0, 2).join(".");
    await createClient({ baseUrl: stack.baseUrl }).invites.redeem(cut, await newSigner());
    const [used] = (await owner.client.invites.list({ limit: 1 })).invites;
    if (used === undefined) throw new Error("no invite");
    expect(await owner.client.invites.checkAddressProof(text, used)).toBe(false);
    expect(await owner.client.invites.checkAddressProof(cut, used)).toBe(true);
  });

  test("tells nothing where it names no shared vault, or its maker's client has none", async () => {
    const form = /^cofi_\w{49}\.[\w-]{43}$/;
    const open = await owner.client.vaults.create({ name: "open", type: "public" });
    const plain = createClient({ baseUrl: stack.baseUrl, credentials: { apiKey: owner.apiKey } });
    expect(await invite()).toMatch(form);
    expect(await invite([open.id])).toMatch(form);
    expect((await plain.invites.create({ name: "agent", vaultIds: [vault.id] })).text).toMatch(form);
  });
});

/** Shows other addresses than those that redeemed. */
const showingAddress = (chainAddress: string): Middleware =>
  lyingAt("invites.list", ({ invites }: { invites: object[] }) => ({
    invites: invites.map((each) => ({ ...each, chainAddress })),
    nextCursor: null,
  }));

describe("members.add with an invite", () => {
  test("adds who redeemed it, and nobody whom the service puts in that place [S5]", async () => {
    const text = await invite([vault.id]);
    const { members } = owner.client.vaults;
    await expect(members.add(vault.id, { invite: text })).rejects.toMatchObject({ code: "invite_unproven" });
    const signer = await newSigner();
    const { key } = await createClient({ baseUrl: stack.baseUrl }).invites.redeem(text, signer);
    const stranger = await newSigner();
    const lied = owner.another({ middleware: [showingAddress(stranger.chainAddress)] });
    await expect(lied.vaults.members.add(vault.id, { invite: text })).rejects.toMatchObject({
      code: "invite_unproven",
      nextStep: expect.stringContaining("a channel other than the service") as unknown,
    });
    const added = await members.add(vault.id, { invite: text }, { label: "by invite" });
    expect(added).toMatchObject({
      chainAddress: signer.chainAddress,
      label: "by invite",
      effect: expect.any(String) as unknown,
    });
    expect((await members.add(vault.id, { invite: text })).chainAddress).toBe(signer.chainAddress);
    const listed = (await members.list(vault.id)).items.map(({ chainAddress }) => chainAddress);
    expect(listed).toContain(signer.chainAddress);
    expect(listed).not.toContain(stranger.chainAddress);
    const { network, baseUrl } = stack;
    const agent = createClient({
      baseUrl,
      credentials: { apiKey: key },
      sharedVaults: sharedVaults({ signer, network }),
    });
    expect((await agent.files.upload({ vaultId: vault.id, name: "c.txt", body: Buffer.from("c") })).file.name).toBe(
      "c.txt",
    );
  });

  test("takes no text without a secret, or of another invite", async () => {
    const text = await invite();
    await createClient({ baseUrl: stack.baseUrl }).invites.redeem(text, await newSigner());
    const code = text.split(".")[0] ?? "";
    for (const other of [code, await invite()])
      await expect(owner.client.vaults.members.add(vault.id, { invite: other })).rejects.toMatchObject({
        code: "invite_unproven",
      });
    await expect(owner.client.vaults.members.add(vault.id, { invite: "?" })).rejects.toMatchObject({
      code: "invalid_request",
    });
  });
});

describe("vaults.trust", () => {
  test("pins what the owner said over another way, and takes the place of what the service said [S25]", async () => {
    const agent = await stack.invite("trusting");
    await owner.client.vaults.members.add(vault.id, agent.signer.chainAddress);
    const { chainObjectId } = vault;
    if (chainObjectId === null) throw new Error("no object");
    const { chainAddress: ownerAddress } = owner.signer;
    const client = agent.another({ middleware: [lying({ type: "public", chainObjectId: null })] });
    await expect(client.files.list({ vaultId: vault.id })).rejects.toMatchObject({ code: "vault_changed" });
    await expect(readFile(client)).rejects.toMatchObject({ code: "vault_changed" });
    await client.vaults.trust(vault.id, { chainObjectId, ownerAddress });
    expect(await readFile(client)).toBe("for members alone");
  });

  test("refuses an owner whom the chain does not name, and what is no address", async () => {
    const agent = await stack.signUp("refused");
    const trust = (...told: Parameters<Client["vaults"]["trust"]>) => agent.client.vaults.trust(...told);
    const chainObjectId = vault.chainObjectId ?? "";
    const told = { chainObjectId, ownerAddress: owner.signer.chainAddress };
    const { chainAddress } = agent.signer;
    await expect(trust(vault.id, { ...told, ownerAddress: chainAddress })).rejects.toMatchObject({
      code: "vault_changed",
    });
    // It would be kept under a name that nobody looks up.
    const shouted = agent.client.vaults.trust(vault.id.toUpperCase(), told);
    await expect(shouted).rejects.toMatchObject({ code: "invalid_request" });
    await expect(trust(vault.id, { ...told, ownerAddress: "0x1" })).rejects.toMatchObject({ code: "address_invalid" });
    await expect(trust(vault.id, { ...told, chainObjectId: "" })).rejects.toMatchObject({ code: "address_invalid" });
    await expect(trust(vault.id, { ...told, chainObjectId: chainAddress })).rejects.toMatchObject({
      code: "vault_not_found",
    });
  });
});

describe("a file that is named with its vault", () => {
  /** Shows every file in a public vault, in the clear. */
  let open: Vault;
  const elsewhere = lyingAt("files.get", ({ file }: { file: object }) => ({
    file: { ...file, vaultId: open.id, shared: null, encrypted: false },
  }));

  test("is changed there and nowhere else, by a process that has met neither", async () => {
    open = await owner.client.vaults.create({ name: "for everyone", type: "public" });
    const sent: string[] = [];
    const lied = () => owner.another({ middleware: [watching(sent), elsewhere] });
    const place = { vaultId: vault.id };
    const body = Buffer.from("the words of its next version");
    const path = join(directory, "next.txt");
    await writeFile(path, body);
    const acts = [
      () => lied().files.replace(fileId, { ...place, body }),
      () => lied().files.update(fileId, { name: "renamed here" }, place),
      () => uploadFile(lied(), path, { fileId, ...place }),
    ];
    for (const act of acts) await expect(act()).rejects.toMatchObject({ code: "vault_changed" });
    expect(sent.join("\n")).not.toMatch(/the words of its next version|renamed here/);
    const { file } = await owner.another().files.replace(fileId, { ...place, body });
    expect(file.name).toBe("a.txt");
    expect((await owner.another().files.update(fileId, { name: "moved.txt" }, place)).name).toBe("moved.txt");
    expect((await uploadFile(owner.another(), path, { fileId, ...place })).file.id).toBe(fileId);
  });
});

test("a first caller who gives up takes nobody along who waits for the same vault", async () => {
  const [asked, goOn] = [Promise.withResolvers<null>(), Promise.withResolvers<null>()];
  let listed = 0;
  const slow: Middleware = async (request, next, { endpointId }) => {
    if (endpointId === "vaults.get") {
      asked.resolve(null);
      await goOn.promise;
    }
    const answer = await next(request);
    if (endpointId === "files.list") listed += 1;
    return answer;
  };
  const client = owner.another({ middleware: [slow], retry: { limit: 0 } });
  const hasty = new AbortController();
  const list = async (signal?: AbortSignal) => (await client.files.list({ vaultId: vault.id }, { signal })).files;
  const given = list(hasty.signal);
  await asked.promise;
  const patient = list();
  // Until it has its list, and waits for the vault.
  await vi.waitUntil(() => listed === 2);
  await setTimeout(50);
  hasty.abort();
  await expect(given).rejects.toMatchObject({ code: "aborted" });
  goOn.resolve(null);
  expect((await patient).map(({ id }) => id)).toContain(fileId);
});

test("a name is looked for in a vault that is named, so that none of a shared vault is told to the service", async () => {
  const sent: string[] = [];
  const client = owner.another({ middleware: [watching(sent)] });
  for (const query of [{ name: "b.txt" }, { name: "b.txt", folderId: "root" }])
    await expect(client.files.list(query)).rejects.toMatchObject({ code: "invalid_request" });
  expect(sent).toEqual([]);
  const plain = createClient({ baseUrl: stack.baseUrl, credentials: { apiKey: owner.apiKey } });
  expect((await plain.files.list({ name: "b.txt" })).files).toEqual([]);
});
