/**
 * The service reads the chain through a node of its own, often another one than the client's: what the owner's client has just changed may
 * not be there yet.
 */
import { addMember, fromSuiSigner, openChain } from "@coffer/chain";
import { openLocalnet } from "@coffer/localnet";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { read, sharedStack } from "../kit/shared-scene.ts";
import { openSharedStack, type SharedPerson, type SharedStack } from "../kit/shared-stack.ts";

/** Of the chain, the service and the clients, milliseconds ahead of this machine. */
let skew = 0;
const stack = sharedStack({ ownNode: true, clock: () => Date.now() + skew });
const lag = (milliseconds: number) => void Object.assign(stack.serviceNode ?? {}, { lag: milliseconds });

/** Pauses of the client's are over at once, each as `pass` has it; limits of single requests do not end. */
const pausing = (pass: (milliseconds: number) => void, real: number) => ({
  now: () => performance.now() + skew,
  after: (milliseconds: number, action: () => void) => {
    if (milliseconds > 5_000) return () => undefined;
    pass(milliseconds);
    const timer = setTimeout(action, real);
    return () => clearTimeout(timer);
  },
  random: () => 0.5,
});
/** They take their time of the chain's clock. The service remembers for a quarter of a second whom it refused. */
const clock = pausing((milliseconds) => void (skew += milliseconds), 260);

describe("a service whose node is behind", () => {
  beforeEach(() => lag(2_000));
  afterEach(() => lag(0));

  test("is waited for by the owner's acts, and by the first upload and download of a member just added", async () => {
    const agent = await stack.invite("agent");
    const stranger = await stack.invite("stranger");
    skew += 3_000;
    const owner = stack.owner.another({ clock });
    const { id: vaultId } = await owner.vaults.create({ name: "Late", type: "shared" });
    const { file } = await owner.files.upload({ vaultId, name: "a.txt", body: "a" });
    const reads = agent.another({ clock });
    const { chainAddress } = agent.signer;
    expect(await addOnChain(stack, vaultId, agent)).toBe("done");
    const before = skew;
    expect(await read(reads, file.id)).toBe("a");
    expect(skew - before).toBeGreaterThan(1_000);
    const added = await owner.vaults.members.add(vaultId, chainAddress);
    expect(added.layers).toEqual({ service: "active", chain: "active" });

    const refusedAt = skew;
    await expect(stranger.another({ clock }).files.download(file.id)).rejects.toMatchObject({ code: "not_a_member" });
    expect(skew).toBe(refusedAt);

    await owner.vaults.members.remove(vaultId, chainAddress);
    await addOnChain(stack, vaultId, agent);
    await agent.another({ clock }).files.upload({ vaultId, name: "b.txt", body: "b" });
    await owner.vaults.members.add(vaultId, chainAddress);
    const { memberships } = await owner.agents.revoke(agent.keyId ?? "");
    expect(memberships).toEqual([{ vaultId, outcome: "removed", generation: 3, warnings: [] }]);
    expect((await owner.vaults.members.list(vaultId)).items).toHaveLength(1);
  });

  test("is not waited for without end, and what it said is told", async () => {
    const { signer } = await stack.invite("nobody");
    const { id: vaultId } = await stack.owner.another({ clock }).vaults.create({ name: "Waiting", type: "shared" });
    skew += 30_000;
    lag(20_000);
    let waited = 0;
    const patience = pausing((milliseconds) => void (waited += milliseconds), 0);
    const client = stack.owner.another({ clock: { ...patience, now: () => performance.now() + waited } });
    const adding = client.vaults.members.add(vaultId, signer.chainAddress);
    await expect(adding).rejects.toMatchObject({ code: "not_on_allowlist" });
  });
});

test("a service whose node serves another chain takes nothing from it, and names both, though the package has the same id there", async () => {
  await using other = await openLocalnet();
  await using stranded = await openSharedStack({ environment: { SERVICE_CHAIN_URL: (await other.listen()).url } });
  const [here, there] = [stranded.network, other.network()];
  expect(there.originalPackageId).toBe(here.originalPackageId);
  const client = stranded.owner.another({ retry: { limit: 0 } });
  const names = `serves the chain ${there.chainId}, and this service uses the chain ${here.chainId}`;
  await expect(client.vaults.create({ name: "Elsewhere", type: "shared" })).rejects.toMatchObject({
    code: "chain_unavailable",
    status: 503,
    message: expect.stringContaining(names) as string,
  });
});

/** The half of `members.add` that the service has no part in. */
async function addOnChain(
  { network, owner, localnet }: SharedStack,
  vaultId: string,
  { signer }: SharedPerson,
): Promise<string> {
  const { chainObjectId } = await owner.client.vaults.get(vaultId);
  const { chainAddress, statements } = signer;
  const chain = openChain(network, { fetch: localnet.fetch });
  const key = statements === undefined ? {} : { signingKey: statements.publicKey };
  const act = { objectId: chainObjectId ?? "", chainAddress, ...key };
  return (await addMember(chain, fromSuiSigner(Ed25519Keypair.fromSecretKey(owner.privateKey)), act)).outcome;
}
