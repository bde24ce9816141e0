/** Acts over chain and service, cut off at their calls to both: the same call again ends where one without a cut would have. */
import { randomBytes } from "node:crypto";
import { ApiError, type Vault } from "@coffer/sdk";
import { fileStore } from "@coffer/sdk/node";
import { beforeAll, describe, expect, test } from "vitest";
import { type Act, expectNoFaults, PATIENCE, readObject, readRows } from "../kit/crash-points.ts";
import { OFTEN_CUT, sharedStack } from "../kit/shared-scene.ts";
import type { SharedPerson } from "../kit/shared-stack.ts";

const stack = sharedStack(OFTEN_CUT);
let owner: SharedPerson;
let reader: SharedPerson;
let vault: Vault;
let other: Vault;
let fileId: string;
let made = 0;

beforeAll(async () => {
  owner = stack.owner;
  reader = await stack.invite("reader");
  vault = await owner.client.vaults.create({ name: "rights", type: "shared" });
  other = await owner.client.vaults.create({ name: "other", type: "shared" });
  await owner.client.vaults.members.add(vault.id, reader.signer.chainAddress);
  const { file } = await owner.client.files.upload({ vaultId: vault.id, name: "kept.txt", body: encode("kept") });
  fileId = file.id;
});

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const named = (name: string): string => `${name} ${String((made += 1))}`;
const randomAddress = (): string => `0x${randomBytes(32).toString("hex")}`;

/** Everybody who may read goes on reading. */
async function probe(): Promise<void> {
  for (const { client } of [owner, reader])
    expect(await (await client.files.download(fileId)).bytes()).toEqual(encode("kept"));
}

/** What the chain says about one address, and how far the vault's generation has come since `before`. */
async function onChain(address: string, before: bigint, of: Vault = vault) {
  const object = await readObject(stack, of.chainObjectId);
  const isIt = ({ chainAddress }: { readonly chainAddress: string }): boolean => chainAddress === address;
  return {
    raised: object.generation - before,
    member: object.members.filter(isIt).length,
    former: object.former.filter(isIt).length,
  };
}

/** And what the service says that was told of it. */
async function standing(address: string, before: bigint, of: Vault = vault) {
  const listed = (await owner.client.vaults.members.list(of.id)).items.find(
    ({ chainAddress }) => chainAddress === address,
  );
  return {
    ...(await onChain(address, before, of)),
    listed: listed === undefined ? null : { label: listed.label, layers: listed.layers },
    rows: readRows(stack, "select removed_at is null from vault_members where chain_address = ?", address),
  };
}

const generation = async (of: Vault = vault): Promise<bigint> => (await readObject(stack, of.chainObjectId)).generation;

interface Target {
  readonly address: string;
  readonly before: bigint;
}

const onAddress: Pick<Act<Target>, "actor" | "state" | "probe"> = {
  actor: () => owner,
  state: ({ address, before }) => standing(address, before),
  probe,
};

interface Agent extends Target {
  readonly agent: SharedPerson;
}

async function newAgent(): Promise<Agent> {
  const agent = await stack.invite(named("agent"));
  const address = agent.signer.chainAddress;
  await owner.client.vaults.members.add(vault.id, address, { label: "agent" });
  return { agent, address, before: await generation() };
}

describe("an act on rights that is cut off at any call", { timeout: PATIENCE }, () => {
  test("create makes one object and one vault, and leaves nothing unfinished", async () => {
    const act: Act<{ readonly name: string }> = {
      prepare: async () => ({ name: named("new") }),
      actor: () => owner,
      run: (client, { name }) => client.vaults.create({ name, type: "shared" }),
      state: async ({ name }, home) => {
        const { vaults } = await owner.client.vaults.list({ type: "shared" });
        const [found, ...more] = vaults.filter((each) => each.name === name);
        const object = await readObject(stack, found?.chainObjectId ?? null);
        const creations = await fileStore(home).tables("creations");
        const isOwned = object.owner.chainAddress === owner.signer.chainAddress;
        return { more, creations, isOwned, generation: object.generation, members: object.members };
      },
    };
    await expectNoFaults(stack, act, 6);
  });

  test("members.add adds once, members.remove removes once [E9]", async () => {
    const add: Act<Target> = {
      ...onAddress,
      prepare: async () => ({ address: randomAddress(), before: await generation() }),
      run: (client, { address }) => client.vaults.members.add(vault.id, address, { label: "added" }),
    };
    const remove: Act<Target> = {
      ...onAddress,
      prepare: async () => {
        const { address } = await add.prepare();
        await owner.client.vaults.members.add(vault.id, address);
        return { address, before: await generation() };
      },
      run: (client, { address }) => client.vaults.members.remove(vault.id, address),
    };
    await expectNoFaults(stack, add, 4);
    await expectNoFaults(stack, remove, 4);
  });

  test("leave and setSigningKey change the member once", async () => {
    const onAgent = {
      ...onAddress,
      prepare: newAgent,
      actor: ({ agent }: Agent) => agent,
      // The service is not told: it sees it when it asks the chain again.
      state: ({ address, before }: Agent) => onChain(address, before),
    };
    await expectNoFaults<Agent>(stack, { ...onAgent, run: (client) => client.vaults.leave(vault.id) }, 3);
    const setKey: Act<Agent> = {
      ...onAgent,
      run: (client, { before }) =>
        client.vaults.setSigningKey(vault.id, new Uint8Array(32).fill(Number(before & 0xffn))),
    };
    await expectNoFaults(stack, setKey, 3);
  });

  test("an offer is made once, and taken up once, on the chain and at the service", async () => {
    const offer: Act<Target> = {
      ...onAddress,
      prepare: async () => ({ address: randomAddress(), before: await generation() }),
      run: (client, { address }) => client.vaults.offerOwnership(vault.id, address),
      state: async ({ address, before }) => {
        const { offered, generation: now } = await readObject(stack, vault.chainObjectId);
        return { isOffered: offered === address, raised: now - before };
      },
    };
    await expectNoFaults(stack, offer, 3);
    await owner.client.vaults.offerOwnership(vault.id, null);
    interface Handed {
      readonly heir: SharedPerson;
      readonly handed: Vault;
    }
    const accept: Act<Handed> = {
      prepare: async () => {
        const heir = await stack.signUp(named("heir").replace(" ", "-"));
        const handed = await owner.client.vaults.create({ name: named("handed"), type: "shared" });
        await owner.client.vaults.members.add(handed.id, heir.signer.chainAddress);
        await owner.client.vaults.offerOwnership(handed.id, heir.signer.chainAddress);
        return { heir, handed };
      },
      actor: ({ heir }) => heir,
      run: (client, { handed }) => client.vaults.acceptOwnership(handed.id),
      state: async ({ heir, handed }) => {
        const object = await readObject(stack, handed.chainObjectId);
        const { vaults } = await heir.another().vaults.list({ type: "shared" });
        return {
          owned: object.owner.chainAddress === heir.signer.chainAddress,
          counts: [object.generation, object.members.length, object.former.length],
          listed: vaults.filter(({ id }) => id === handed.id).length,
        };
      },
    };
    await expectNoFaults(stack, accept, 5);
  });

  test("agents.revoke ends the key and the memberships of both vaults [E9]", async () => {
    interface Revoked extends Agent {
      readonly elsewhere: bigint;
    }
    const revoke: Act<Revoked> = {
      prepare: async () => {
        const agent = await newAgent();
        await owner.client.vaults.members.add(other.id, agent.address);
        return { ...agent, before: await generation(), elsewhere: await generation(other) };
      },
      actor: () => owner,
      run: (client, { agent }) => client.agents.revoke(agent.keyId ?? ""),
      state: async ({ address, before, elsewhere, agent }) => [
        await standing(address, before),
        await standing(address, elsewhere, other),
        await agent.client.vaults.list().catch((error: unknown) => (error instanceof ApiError ? error.status : null)),
      ],
      probe,
    };
    await expectNoFaults(stack, revoke, 5);
  });
});
