/** Acts over chain and service, cut off at every call: the same call again ends where one without a cut would have. */
import type { Client, CreationJournal } from "@coffer/sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openSharedStack, type SharedPerson, type SharedStack } from "../kit/shared-stack.ts";

let stack: SharedStack;
let owner: SharedPerson;

beforeAll(async () => {
  stack = await openSharedStack({
    environment: { SERVICE_RATE_GENERAL: "100000", SERVICE_RATE_GENERAL_BURST: "10000" },
  });
  owner = stack.owner;
}, 60_000);
afterAll(() => stack[Symbol.asyncDispose]());

/** A process of the owner that dies at its `most`th call of the service: before it is sent, or when its answer is lost. */
function dying(most: number, isAnswerLost: boolean): Client {
  let calls = 0;
  return owner.another({
    retry: { limit: 0 },
    shared: { signer: countingSigner() },
    middleware: [
      async (request, next) => {
        calls += 1;
        if (calls > most || (calls === most && !isAnswerLost)) throw new TypeError("died");
        const answer = await next(request);
        if (calls === most) throw new TypeError("died");
        return answer;
      },
    ],
  });
}

/** Runs an act in one process after another, each of which gets one call further; answers what the last one gave. */
async function survive<Result>(act: (client: Client) => Promise<Result>): Promise<{ result: Result; deaths: number }> {
  for (let deaths = 0; ; deaths += 1) {
    const client = dying(1 + (deaths >> 1), deaths % 2 === 1);
    try {
      return { result: await act(client), deaths };
    } catch (error) {
      if (deaths > 40) throw error;
    }
  }
}

async function chainOf(vaultId: string) {
  const { openChain } = await import("@coffer/chain");
  const objectId = (await owner.client.vaults.get(vaultId)).chainObjectId ?? "";
  return openChain(stack.network).readVault(objectId, { maxAge: 0 });
}

/** Transactions that the owner has signed. */
let signed = 0;

function countingSigner(): SharedPerson["signer"] {
  const { signer } = owner;
  return {
    ...signer,
    signPersonalMessage: (bytes) => signer.signPersonalMessage(bytes),
    signTransaction: (bytes) => {
      signed += 1;
      return signer.signTransaction?.(bytes) ?? Promise.reject(new TypeError("signs no transactions"));
    },
  };
}

describe("an act that is cut off at every call", () => {
  test("create makes one object and one vault", async () => {
    signed = 0;
    const kept = new Map<string, string>();
    const journal: CreationJournal = {
      load: (name) => Promise.resolve(kept.get(name) ?? null),
      replace: (name, before, next) => {
        if ((kept.get(name) ?? null) !== before) return Promise.resolve(false);
        if (next === null) kept.delete(name);
        else kept.set(name, next);
        return Promise.resolve(true);
      },
    };
    const { result, deaths } = await survive((client) =>
      client.vaults.create({ name: "once", type: "shared", journal }),
    );
    expect(deaths).toBeGreaterThan(1);
    expect(signed).toBe(1);
    const { vaults } = await owner.client.vaults.list({ type: "shared" });
    expect(vaults.filter(({ name }) => name === "once").map(({ id }) => id)).toEqual([result.id]);
    expect((await chainOf(result.id)).owner.chainAddress).toBe(owner.signer.chainAddress);
  }, 60_000);

  test("add, remove and agents.revoke change chain and service once each", async () => {
    const vault = await owner.client.vaults.create({ name: "members", type: "shared" });
    const [first, second] = [await stack.invite("first"), await stack.invite("second")];
    signed = 0;
    await survive((client) => client.vaults.members.add(vault.id, first.signer.chainAddress, { label: "first" }));
    expect(signed).toBe(1);
    await owner.client.vaults.members.add(vault.id, second.signer.chainAddress);
    expect((await owner.client.vaults.members.list(vault.id)).map(({ layers }) => layers)).toEqual(
      Array.from({ length: 3 }, () => ({ service: "active", chain: "active" })),
    );
    const members = (await chainOf(vault.id)).members.map(({ chainAddress }) => chainAddress);
    expect(members.sort()).toEqual([first, second].map(({ signer }) => signer.chainAddress).sort());

    await survive((client) => client.vaults.members.remove(vault.id, first.signer.chainAddress));
    expect((await chainOf(vault.id)).generation).toBe(2n);
    const { deaths } = await survive((client) => client.agents.revoke(second.keyId ?? ""));
    expect(deaths).toBeGreaterThan(1);
    const after = await chainOf(vault.id);
    expect([after.generation, after.members]).toEqual([3n, []]);
    expect(signed).toBe(3);
    expect(await owner.client.vaults.members.list(vault.id)).toHaveLength(1);
    await expect(second.client.vaults.list()).rejects.toMatchObject({ status: 401 });
  }, 60_000);
});
