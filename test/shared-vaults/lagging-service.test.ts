/**
 * The service reads the chain through a node of its own, often another one than the client's: what the owner's client has just changed may
 * not be there yet.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { addMember, fromSuiSigner, openChain } from "@coffer/chain";
import { openLocalnet } from "@coffer/localnet";
import type { ApiError } from "@coffer/sdk";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openSharedStack, type SharedPerson, type SharedStack } from "../kit/shared-stack.ts";

const READ = "/sui.rpc.v2.LedgerService/BatchGetObjects";

let node: SlowNode;
let stack: SharedStack;
beforeAll(async () => {
  node = await openSlowNode();
  stack = await openSharedStack({ environment: { SERVICE_CHAIN_URL: node.url } });
  node.follow(stack.network.grpcUrl);
});
afterAll(async () => {
  await stack[Symbol.asyncDispose]();
  await node.close();
});

describe("a service whose node lags behind the owner's", () => {
  test("is waited for: a vault is made, a member added and removed, an agent revoked, each in one call", async () => {
    const { client } = stack.owner;
    const agent = await stack.invite("agent");
    const second = await stack.invite("second");
    node.lag(1);
    const { id: vaultId } = await client.vaults.create({ name: "New", type: "shared" });
    expect(node.left()).toBe(0);
    await client.vaults.members.add(vaultId, second.signer.chainAddress);
    node.lag(1);
    const added = await client.vaults.members.add(vaultId, agent.signer.chainAddress);
    expect([added.layers, node.left()]).toEqual([{ service: "active", chain: "active" }, 0]);
    node.lag(1);
    await client.vaults.members.remove(vaultId, second.signer.chainAddress);
    node.lag(1);
    const { memberships } = await client.agents.revoke(agent.keyId ?? "");
    expect([memberships, node.left()]).toEqual([[{ vaultId, outcome: "removed", generation: 3n }], 0]);
    expect(await client.vaults.members.list(vaultId)).toHaveLength(1);
  });

  test("is not waited for without end, and what it said is told", async () => {
    const { id: vaultId } = await stack.owner.client.vaults.create({ name: "Waiting", type: "shared" });
    const { signer } = await stack.invite("nobody");
    node.lag(Infinity);
    let now = performance.now();
    const clock = {
      now: () => now,
      after: (milliseconds: number, action: () => void) => {
        // Limits of single requests do not end; waits between them are over at once.
        if (milliseconds > 5_000) return () => undefined;
        now += milliseconds;
        const timer = setImmediate(action);
        return () => clearImmediate(timer);
      },
      random: () => 0.5,
    };
    const adding = stack.owner.another({ clock }).vaults.members.add(vaultId, signer.chainAddress);
    const error = await adding.then(
      () => null,
      (reason: unknown) => reason as ApiError,
    );
    node.lag(0);
    expect(error).toMatchObject({ code: "not_on_allowlist" });
  });
});

describe("a service whose node serves another chain", () => {
  test("takes nothing from it, and names both chains, though the package has the same id there", async () => {
    await using other = await openLocalnet();
    const { url } = await other.listen();
    const [here, there] = [stack.network, other.network()];
    expect(there.originalPackageId).toBe(here.originalPackageId);
    const client = stack.owner.another({ retry: { limit: 0 } });
    node.follow(url);
    try {
      const error = await client.vaults
        .create({ name: "Elsewhere", type: "shared" })
        .catch((reason: unknown) => reason);
      expect(error).toMatchObject({ code: "chain_unavailable", status: 503 });
      expect((error as ApiError).message).toContain(
        `serves the chain ${there.chainId}, and this service uses the chain ${here.chainId}`,
      );
    } finally {
      node.follow(here.grpcUrl);
    }
    expect(await client.vaults.create({ name: "Here", type: "shared" })).toMatchObject({ name: "Here" });
  });
});

describe("a service whose node is two seconds behind", () => {
  /** Pauses of the client's are over at once, and take their time of the chain's clock. */
  let skew = 0;
  const chainClock = () => Date.now() + skew;
  const clock = {
    now: () => performance.now() + skew,
    after: (milliseconds: number, action: () => void) => {
      if (milliseconds > 5_000) return () => undefined;
      skew += milliseconds;
      // The service remembers for a quarter of a second whom it refused.
      const timer = setTimeout(action, 260);
      return () => clearTimeout(timer);
    },
    random: () => 0.5,
  };
  let late: SharedStack;
  beforeAll(async () => {
    late = await openSharedStack({ ownNode: true, localnet: { clock: chainClock } });
    if (late.serviceNode !== null) late.serviceNode.lag = 2_000;
  });
  afterAll(() => late[Symbol.asyncDispose]());

  test("is waited for by the owner's acts, and by the first upload and download of a member just added", async () => {
    const agent = await late.invite("agent");
    const stranger = await late.invite("stranger");
    skew += 3_000;
    const owner = late.owner.another({ clock });
    const { id: vaultId } = await owner.vaults.create({ name: "Late", type: "shared" });
    const { file } = await owner.files.upload({ vaultId, name: "a.txt", body: new TextEncoder().encode("a") });
    const reads = agent.another({ clock });
    const { chainAddress } = agent.signer;
    expect(await addOnChain(late, vaultId, agent)).toBe("done");
    const before = skew;
    expect(await textOf(await reads.files.download(file.id))).toBe("a");
    expect(skew - before).toBeGreaterThan(1_000);
    const added = await owner.vaults.members.add(vaultId, chainAddress);
    expect(added.layers).toEqual({ service: "active", chain: "active" });

    const refusedAt = skew;
    await expect(stranger.another({ clock }).files.download(file.id)).rejects.toMatchObject({ code: "not_a_member" });
    expect(skew).toBe(refusedAt);

    await owner.vaults.members.remove(vaultId, chainAddress);
    await addOnChain(late, vaultId, agent);
    const body = new TextEncoder().encode("b");
    await agent.another({ clock }).files.upload({ vaultId, name: "b.txt", body });
    await owner.vaults.members.add(vaultId, chainAddress);
    const { memberships } = await owner.agents.revoke(agent.keyId ?? "");
    expect(memberships).toMatchObject([{ vaultId, outcome: "removed" }]);
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

async function textOf({ stream }: { readonly stream: ReadableStream<Uint8Array> }): Promise<string> {
  return new Response(stream).text();
}

interface SlowNode {
  readonly url: string;
  follow(url: string): void;
  /** So many reads of objects answer what the same read answered before, or what a chain answers that knows none of them. */
  lag(reads: number): void;
  left(): number;
  close(): Promise<void>;
}

/** A chain node that passes everything on to another one, and at times is late. */
async function openSlowNode(): Promise<SlowNode> {
  const nothing = await openLocalnet();
  const earlier = new Map<string, Response>();
  let [target, late] = ["", 0];
  const answer = async (request: IncomingMessage): Promise<Response> => {
    const { method = "", url = "", headers } = request;
    const body = new Uint8Array(Buffer.concat((await request.toArray()) as Buffer[]));
    const sent = { method, body, headers: { "content-type": headers["content-type"] ?? "" } };
    const read = Buffer.from(body).toString("latin1");
    if (url === READ && late > 0) {
      late -= 1;
      return earlier.get(read)?.clone() ?? (await nothing.fetch(`http://localnet.invalid${url}`, sent));
    }
    const fresh = await fetch(target + url, sent);
    if (url === READ) earlier.set(read, fresh.clone());
    return fresh;
  };
  const server = createServer((request, response) => {
    const render = async (given: Response): Promise<void> => {
      response.writeHead(given.status, { "content-type": given.headers.get("content-type") ?? "" });
      response.end(Buffer.from(await given.arrayBuffer()));
    };
    answer(request)
      .then(render)
      .catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    follow: (url) => void (target = url),
    lag: (reads) => void (late = reads),
    left: () => late,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await nothing.close();
    },
  };
}
