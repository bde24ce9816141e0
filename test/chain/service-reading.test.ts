/** What clients do on the chain, as the service reads it there. */
import { addMember, createVault, fromSuiSigner, openChain, removeMember } from "@coffer/chain";
import { type Localnet, openLocalnet } from "@coffer/localnet";
import { openSuiChain } from "@coffer/server/drivers/chain/sui";
import type { Chain } from "@coffer/server/ports/chain";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { afterAll, beforeAll, expect, it } from "vitest";

let localnet: Localnet;
beforeAll(async () => {
  localnet = await openLocalnet();
});
afterAll(() => localnet.close());

const key = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);

function openService(more: { readonly chainId?: string } = {}): Chain {
  const { grpcUrl: url, originalPackageId: packageId, chainId } = localnet.network();
  const clock = { now: () => Date.now(), elapsed: () => performance.now() };
  return openSuiChain({ url, packageId, chainId, ...more }, { clock, fetch: localnet.fetch });
}

it("a vault with who belongs to it, who did, and the generations in which they did", async () => {
  const [owner, anna, ben] = [0, 1, 2].map(() => fromSuiSigner(new Ed25519Keypair())) as [Signer, Signer, Signer];
  const client = openChain(localnet.network(), { fetch: localnet.fetch, clock: () => Date.now() });
  await using service = openService();
  const { objectId } = (await createVault(client, owner, { signingKey: key(1), plainNames: true })).vault;
  const first = { address: owner.chainAddress, signingKey: key(1), since: 1 };
  const made = await service.readVault(objectId, { maxAge: 0 });
  expect(made).toMatchObject({ objectId, owner: first, members: [], former: [], generation: 1, floor: 1 });
  expect(made?.plainNames).toBe(true);
  await addMember(client, owner, { objectId, chainAddress: anna.chainAddress, signingKey: key(2) });
  await addMember(client, owner, { objectId, chainAddress: ben.chainAddress });
  await removeMember(client, owner, { objectId, chainAddress: anna.chainAddress });
  expect(await service.readVault(objectId, { maxAge: 60_000 })).toBe(made);
  expect(await service.readVault(objectId, { maxAge: 0 })).toMatchObject({
    owner: first,
    generation: 2,
    floor: 1,
    members: [{ address: ben.chainAddress, signingKey: new Uint8Array(0), since: 1 }],
    former: [{ address: anna.chainAddress, signingKey: key(2), since: 1, until: 1 }],
  });
});

it("not while its node is down, and what a node shows that stands still until it goes on", async () => {
  const [owner, anna] = [0, 1].map(() => fromSuiSigner(new Ed25519Keypair())) as [Signer, Signer];
  const client = openChain(localnet.network(), { fetch: localnet.fetch, clock: () => Date.now() });
  await using service = openService();
  const { objectId } = (await createVault(client, owner, { signingKey: key(1) })).vault;
  await addMember(client, owner, { objectId, chainAddress: anna.chainAddress });
  const { node } = localnet.faults;
  const unavailable = { name: "ChainUnavailableError" };
  node.down = true;
  await expect(service.readVault(objectId, { maxAge: 0 })).rejects.toMatchObject(unavailable);
  node.down = false;
  node.stale = true;
  const before = await service.readVault(objectId, { maxAge: 0 });
  expect(before?.members).toHaveLength(1);
  node.stale = false;
  await removeMember(client, owner, { objectId, chainAddress: anna.chainAddress });
  expect(await service.readVault(objectId, { maxAge: 0 })).toMatchObject({ generation: 2, members: [] });
});

it("not on another chain, though its package has the same id", async () => {
  await using other = await openLocalnet();
  const [here, there] = [localnet.network(), other.network()];
  expect(here.originalPackageId).toBe(there.originalPackageId);
  await using service = openService({ chainId: there.chainId });
  const reading = service.readVault(`0x${"9".repeat(64)}`, { maxAge: 0 });
  const both = new RegExp(`serves the chain ${here.chainId}, and this service uses the chain ${there.chainId}`);
  await expect(reading).rejects.toThrow(both);
});

it("nothing where there is no vault: an id of nobody, and the package itself", async () => {
  await using service = openService();
  expect(await service.readVault(`0x${"9".repeat(64)}`, { maxAge: 0 })).toBeNull();
  expect(await service.readVault(localnet.network().originalPackageId, { maxAge: 0 })).toBeNull();
});

type Signer = ReturnType<typeof fromSuiSigner>;
