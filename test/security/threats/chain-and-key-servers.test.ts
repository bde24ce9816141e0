/**
 * What key servers that work together and a chain node that lies can achieve, and what not (docs/threat-model.md). The lie is a copy of
 * the chain, in which the stranger was added: it has the chain's id, its package and its key servers' master keys.
 */
import { cp } from "node:fs/promises";
import { join } from "node:path";
import {
  openChain,
  addMember,
  parseNetworkConfiguration,
  publishPackage,
  sealVaultKeyWrap,
  toVaultView,
  type NetworkConfiguration,
} from "@coffer/chain";
import { newVaultKeyRecord, parseEnvelope, parseFileStart, type OpenedVaultKey } from "@coffer/crypto";
import { openLocalnet, type Localnet } from "@coffer/localnet";
import { type Client, type Middleware, type Vault, toRequest } from "@coffer/sdk";
import { Transaction } from "@mysten/sui/transactions";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeDirectory } from "../../kit/directory.ts";
import { keepVersion, lyingAt, servingVersion, type KeptVersion } from "../../kit/lying-service.ts";
import { openOutside, writeOutside } from "../../kit/opened-vault.ts";
import { read } from "../../kit/shared-scene.ts";
import { openSharedStack, type SharedPerson, type SharedStack } from "../../kit/shared-stack.ts";

const directory = makeDirectory();
let stack: SharedStack;
let copy: Localnet;
/** Of the copy: its node and its key servers. */
let lying: NetworkConfiguration;
let member: SharedPerson;
let stranger: SharedPerson;
let vault: Vault;
/** Nothing was written in it yet. */
let empty: Vault;
let fileId: string;

beforeAll(async () => {
  stack = await openSharedStack({ localnet: { directory: join(directory, "chain") } });
  const { client } = stack.owner;
  [member, stranger] = [await stack.invite("member"), await stack.invite("stranger")];
  vault = await client.vaults.create({ name: "real", type: "shared" });
  empty = await client.vaults.create({ name: "empty", type: "shared" });
  for (const { id } of [vault, empty]) await client.vaults.members.add(id, member.signer.chainAddress);
  fileId = (await client.files.upload({ vaultId: vault.id, name: "secret.txt", body: "secret" })).file.id;
  await cp(join(directory, "chain"), join(directory, "copy"), { recursive: true });
  copy = await openLocalnet({ directory: join(directory, "copy") });
  await copy.listen();
  lying = parseNetworkConfiguration(copy.network());
  for (const { chainObjectId } of [vault, empty]) {
    const { chainAddress, statements } = stranger.signer;
    const act = { objectId: chainObjectId ?? "", chainAddress, signingKey: statements.publicKey };
    await addMember(openChain(lying), stack.owner.signer, act);
  }
});
afterAll(async () => {
  await copy.close();
  await stack[Symbol.asyncDispose]();
});

/** The honest key servers, whatever the lying node says of where they are. */
const honestKeyServers: typeof fetch = (input, init) => {
  const url = input instanceof Request ? input.url : String(input);
  const [at] = [url.indexOf("/key-servers/")];
  if (at < 0) return fetch(input, init);
  const honest = `${stack.network.grpcUrl}${url.slice(at)}`;
  return input instanceof Request ? fetch(new Request(honest, input), init) : fetch(honest, init);
};

/** The stranger's own key wrap and view of a vault, by the lying node; key servers are honest. */
async function strangerIn({ chainObjectId }: Vault) {
  const chain = openChain(lying);
  const object = await chain.readVault(chainObjectId ?? "");
  let waited = 0;
  const wrap = sealVaultKeyWrap({
    client: chain.client,
    network: lying,
    fetch: honestKeyServers,
    signer: { ...stranger.signer, signTransaction: () => Promise.reject(new Error("sends nothing")) },
    vaultObjects: { locate: () => Promise.resolve({ initialSharedVersion: object.initialSharedVersion, at: 0n }) },
    clock: () => Date.now() + waited,
    sleep: (milliseconds) => Promise.resolve(void (waited += milliseconds)),
  });
  const { statements, chainAddress } = stranger.signer;
  return {
    view: toVaultView(object),
    wrap,
    author: { address: Buffer.from(chainAddress.slice(2), "hex"), signer: statements },
  };
}

/** The stranger's next version of the file, which it makes by the lying node. */
async function forge(): Promise<KeptVersion> {
  const { view, wrap, author } = await strangerIn(vault);
  const made = await newVaultKeyRecord(view, wrap, author);
  const kept = await keepVersion(stack, fileId);
  return writeOutside({ author, view, ...made }, kept, "forged");
}

/** A member whose node lies, and whose key servers do not. */
function deceived(middleware: Middleware[], network = lying): Client {
  return member.another({ retry: { limit: 0 }, middleware, shared: { network, fetch: honestKeyServers } });
}

describe("key servers", () => {
  test("open a vault for a non-member when as many as the threshold work together; fewer do not [K1]", async () => {
    // The bytes are lent: the service gives them to members alone.
    const lent = () =>
      stack.owner.another({ retry: { limit: 0 }, shared: { signer: stranger.signer, network: lying } });
    copy.faults.keyServer(2).down = true;
    expect(await read(lent(), fileId)).toBe("secret");
    copy.faults.keyServer(1).down = true;
    await expect(read(lent(), fileId)).rejects.toMatchObject({ code: "key_servers_unavailable" });
    copy.faults.keyServer(1).down = copy.faults.keyServer(2).down = false;
  });
});

describe("key servers and the chain node", () => {
  test("learn which address opens which vault, and nothing of its files: no id, no name, no content [K6 N12]", async () => {
    const sent: Buffer[] = [];
    const watched: typeof fetch = async (input, init) => {
      const request = new Request(input, init);
      sent.push(Buffer.from(request.url), Buffer.from(await request.clone().arrayBuffer()));
      return fetch(request);
    };
    const client = member.another({ shared: { fetch: watched } });
    expect(await read(client, fileId)).toBe("secret");
    const all = Buffer.concat(sent.flatMap((body) => [body, ...base64In(body)]));
    const object = Buffer.from((vault.chainObjectId ?? "").slice(2), "hex");
    expect([all.includes(object), all.includes(member.signer.chainAddress)]).toEqual([true, true]);
    const { versionId } = await client.files.get(fileId);
    for (const id of [fileId, versionId, vault.id])
      for (const form of [id, Buffer.from(id.replaceAll("-", ""), "hex")]) expect(all.includes(form)).toBe(false);
    for (const word of ["secret.txt", "secret", member.apiKey]) expect(all.includes(word)).toBe(false);
  });
});

/** What stands in base64 within JSON. */
function base64In(body: Buffer): Buffer[] {
  return [...body.toString("latin1").matchAll(/[\w+/]{40,}={0,2}/g)].map(([text]) => Buffer.from(text, "base64"));
}

describe("a chain node that lies about the allowlist", () => {
  test("opens nothing that others wrote: honest key servers ask another node [N1]", async () => {
    const { wrap, view } = await strangerIn(vault);
    const { bytes: stored } = await keepVersion(stack, fileId);
    const { record } = parseEnvelope(parseFileStart(stored).envelope);
    const { sealedKey, creator, generation } = record;
    const opening = wrap.unwrap([{ sealedKey, place: { vault: view.vault, generation, after: 0n, creator } }]);
    await expect(opening).rejects.toMatchObject({ code: "key_servers_behind" });
  });

  test("with the service's help has a member believe what a stranger signed; by an honest node it is refused [N3]", async () => {
    const forged = await forge();
    expect(await read(deceived([servingVersion(forged)]), fileId)).toBe("forged");
    const honest = member.another({ retry: { limit: 0 }, middleware: [servingVersion(forged)] });
    await expect(read(honest, fileId)).rejects.toMatchObject({ code: "damaged", step: "statement" });
  });

  test("with the service's help makes a member encrypt for a stranger's key when it opens a vault anew; never by an honest node [N4]", async () => {
    const { view, wrap, author } = await strangerIn(empty);
    const made = await newVaultKeyRecord(view, wrap, author);
    const caught: Uint8Array[] = [];
    const middleware = [offering(made), catching(caught)];
    const write = (client: Client) => client.files.upload({ vaultId: empty.id, name: "n.txt", body: "for members" });
    await expect(write(deceived(middleware))).rejects.toThrow();
    expect(await openOutside(made, caught[0] ?? new Uint8Array())).toBe("for members");
    caught.length = 0;
    await expect(write(member.another({ retry: { limit: 0 }, middleware }))).rejects.toThrow();
    for (const file of caught) await expect(openOutside(made, file)).rejects.toThrow();
  });

  test("hides from the owner that a removal was never made, and the service contradicts it [N6]", async () => {
    // The service is given time to see what its own node does not show; here that time passes at once.
    let passed = 0;
    const clock = {
      now: () => performance.now() + passed,
      after: (ms: number, action: () => void) => {
        const isPause = ms <= 4_000;
        if (isPause) passed += ms;
        const timer = setTimeout(action, isPause ? 0 : ms);
        return () => {
          clearTimeout(timer);
        };
      },
      random: () => 0,
    };
    const shared = { network: lying, fetch: honestKeyServers };
    const owner = stack.owner.another({ retry: { limit: 0 }, clock, shared });
    await expect(owner.vaults.members.remove(vault.id, member.signer.chainAddress)).rejects.toMatchObject({
      code: "still_on_allowlist",
    });
    expect(await read(member.client, fileId)).toBe("secret");
  });
});

describe("a chain node that lies, beside one witness that does not", () => {
  const witnessed = (): NetworkConfiguration => ({ ...lying, witnessUrls: [stack.network.grpcUrl] });
  const disagreement = () => {
    const [liar, witness] = [lying, stack.network].map(({ grpcUrl }) => new URL(grpcUrl).host);
    const message = expect.stringContaining(`The chain nodes ${witness} and ${liar} show different states`) as string;
    return expect.objectContaining({ code: "chain_disagrees", message });
  };

  test("has nobody believe what a stranger signed: the two disagree, and both are named [N13]", async () => {
    const forged = await forge();
    await expect(read(deceived([servingVersion(forged)], witnessed()), fileId)).rejects.toEqual(disagreement());
  });

  test("makes nobody encrypt for a stranger's key: nothing is sent [N13]", async () => {
    const { view, wrap, author } = await strangerIn(empty);
    const made = await newVaultKeyRecord(view, wrap, author);
    const caught: Uint8Array[] = [];
    const client = deceived([offering(made), catching(caught)], witnessed());
    const writing = client.files.upload({ vaultId: empty.id, name: "n.txt", body: "for members" });
    await expect(writing).rejects.toEqual(disagreement());
    expect(caught).toEqual([]);
  });
});

describe("the package", () => {
  test("is made immutable by the transaction that publishes it, which gives nobody the right to change it [P1]", async () => {
    const signed: Uint8Array[] = [];
    const publisher = stack.owner.signer;
    const signTransaction = (transaction: Uint8Array) => {
      signed.push(transaction);
      return publisher.signTransaction(transaction);
    };
    const { network, grpcUrl, keyServerSets } = stack.network;
    await publishPackage({ network, grpcUrl, keyServerSets }, { ...publisher, signTransaction });
    const [published, ...others] = signed.map((transaction) => Transaction.from(transaction).getData().commands);
    expect(others).toEqual([]);
    const [, made] = published ?? [];
    expect(published?.map(({ $kind }) => $kind)).toEqual(["Publish", "MoveCall"]);
    expect(made?.MoveCall).toMatchObject({
      package: `0x${"2".padStart(64, "0")}`,
      module: "package",
      function: "make_immutable",
    });
    expect(made?.MoveCall?.arguments).toMatchObject([{ Result: 0 }]);
  });
});

/** Lists the stranger's record as the vault's current one. */
function offering({ record }: OpenedVaultKey): Middleware {
  const hex = (raw: Uint8Array): string => Buffer.from(raw).toString("hex");
  const listed = {
    keyId: hex(record.keyId),
    generation: Number(record.generation),
    after: Number(record.after),
    current: true,
    record: Buffer.from(record.bytes).toString("base64"),
    creator: stranger.signer.chainAddress,
    createdAt: new Date().toISOString(),
  };
  return lyingAt("vaultKeys.list", (said: object) => ({ ...said, keys: [listed] }));
}

/** Takes the bytes of uploads, and stores nothing. */
function catching(caught: Uint8Array[]): Middleware {
  return async (request, next, { endpointId }) => {
    if (endpointId !== "files.upload") return next(request);
    caught.push(new Uint8Array(await toRequest(request).arrayBuffer()));
    return Response.json({ error: "caught" }, { status: 400 });
  };
}
