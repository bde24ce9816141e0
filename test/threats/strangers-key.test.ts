/**
 * A chain node that lies and the service, together: they show a stranger as a member, at a place above the true one,
 * and a vault key that the stranger made, which honest key servers open to members (docs/threat-model.md, N1, N4). The
 * lie is a copy of the chain in which the stranger was added and a membership has ended.
 */
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { addMember, openChain, parseNetworkConfiguration, sealVaultKeyWrap, toVaultView } from "@coffer/chain";
import { END_STEP } from "@coffer/contract/shared-vaults";
import { newVaultKeyRecord, type OpenedVaultKey } from "@coffer/crypto";
import { openLocalnet, type Localnet } from "@coffer/localnet";
import type { Client, Vault } from "@coffer/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeDirectory } from "../kit/directory.ts";
import { foundUnder, keeping, type SentRequest } from "../kit/known-keys.ts";
import { lyingAt } from "../kit/lying-service.ts";
import { openSharedStack, type SharedPerson, type SharedStack } from "../kit/shared-stack.ts";

const directory = makeDirectory();
let skew = 0;
const clock = (): number => Date.now() + skew;
let stack: SharedStack;
/** The chain as the lying node shows it. */
let copy: Localnet;
let member: SharedPerson;
let stranger: SharedPerson;
let vault: Vault;
/** A folder with a file in it, and a file at the top: made before the lie. */
let folderId: string;
let fileId: string;
let innerId: string;
/** What the stranger made, and knows. */
let made: OpenedVaultKey;

const BEFORE = { names: ["secret.txt", "secret folder", "inner.txt"], content: "written before the lie" };

beforeAll(async () => {
  stack = await openSharedStack({ localnet: { directory: join(directory, "chain") }, clock });
  const { client } = stack.owner;
  [member, stranger] = [await stack.invite("member"), await stack.invite("stranger")];
  vault = await client.vaults.create({ name: "real", type: "shared" });
  await client.vaults.members.add(vault.id, member.signer.chainAddress);
  fileId = (await client.files.upload({ vaultId: vault.id, name: "secret.txt", body: BEFORE.content })).file.id;
  folderId = (await client.folders.create({ vaultId: vault.id, name: "secret folder" })).id;
  const inner = await client.files.upload({ vaultId: vault.id, folderId, name: "inner.txt", body: BEFORE.content });
  innerId = inner.file.id;
  await cp(join(directory, "chain"), join(directory, "copy"), { recursive: true });
  copy = await openLocalnet({ directory: join(directory, "copy"), clock });
  await copy.listen();
  const end = Math.ceil((clock() + 10_000) / END_STEP) * END_STEP;
  made = await makeStrangersKey(end);
}, 120_000);
afterAll(async () => {
  await copy.close();
  await stack[Symbol.asyncDispose]();
});

/** On the copy: the stranger is added, and somebody whose membership has ended by now, so that the place is above the true one. */
async function makeStrangersKey(end: number): Promise<OpenedVaultKey> {
  const objectId = vault.chainObjectId ?? "";
  const lying = parseNetworkConfiguration(copy.network());
  const chain = openChain(lying, { clock });
  const { chainAddress, statements } = stranger.signer;
  await addMember(chain, stack.owner.signer, { objectId, chainAddress, signingKey: statements.publicKey });
  const passing = { objectId, chainAddress: `0x${"ab".repeat(32)}`, signingKey: new Uint8Array(0) };
  await addMember(chain, stack.owner.signer, { ...passing, endsAt: BigInt(end) });
  skew += Math.max(0, end + 1_000 - clock());
  const object = await chain.readVault(objectId, { maxAge: 0 });
  const wrap = sealVaultKeyWrap({
    ...{ client: chain.client, network: stack.network, clock },
    signer: { ...stranger.signer, signTransaction: () => Promise.reject(new Error("sends nothing")) },
    vaultObjects: { locate: () => Promise.resolve({ initialSharedVersion: object.initialSharedVersion, at: 0n }) },
  });
  const author = { address: Buffer.from(chainAddress.slice(2), "hex"), signer: statements };
  return newVaultKeyRecord(toVaultView(object), wrap, author);
}

interface Lie {
  isTold: boolean;
}

/** The copy's node in the place of the true one while the lie is told; key servers stay honest. */
function nodeOf(lie: Lie): typeof fetch {
  return (input, init) => {
    const url = input instanceof Request ? input.url : String(input);
    if (!lie.isTold || url.includes("/key-servers/")) return fetch(input, init);
    const lying = url.replace(stack.network.grpcUrl, parseNetworkConfiguration(copy.network()).grpcUrl);
    return input instanceof Request ? fetch(new Request(lying, input), init) : fetch(lying, init);
  };
}

/** A new process of somebody, whose node lies until ten seconds have passed, and whose service lists the stranger's key too. */
function deceived(person: SharedPerson, sent: SentRequest[]): Client {
  const lie: Lie = { isTold: true };
  const hex = (raw: Uint8Array): string => Buffer.from(raw).toString("hex");
  const listed = {
    ...{ keyId: hex(made.record.keyId), current: true, createdAt: new Date(clock()).toISOString() },
    ...{ generation: Number(made.record.generation), after: Number(made.record.after) },
    record: Buffer.from(made.record.bytes).toString("base64"),
  };
  const offering = lyingAt("vaultKeys.list", ({ keys, ...said }: { keys: object[] }) => {
    return { ...said, keys: [listed, ...keys] };
  });
  let waited = 0;
  const waiting = {
    now: () => performance.now() + waited,
    after: (ms: number, action: () => void) => {
      const isPause = ms <= 4_000;
      if (isPause) waited += ms;
      if (waited >= 10_000) lie.isTold = false;
      const timer = setTimeout(action, isPause ? 0 : ms);
      return () => {
        clearTimeout(timer);
      };
    },
    random: () => 0,
  };
  return person.another({
    ...{ retry: { limit: 0 }, clock: waiting, middleware: [keeping(sent), offering] },
    shared: { fetch: nodeOf(lie), clock: () => clock() + waited },
  });
}

async function sentBy(person: SharedPerson, work: (client: Client) => Promise<unknown>): Promise<string[]> {
  const sent: SentRequest[] = [];
  const client = deceived(person, sent);
  // Whether the honest service below takes it is another question.
  await work(client).catch(() => undefined);
  expect(sent.length).toBeGreaterThan(0);
  return foundUnder([made], sent, { names: BEFORE.names, folderIds: [null, folderId] });
}

const content = async (client: Client, id: string): Promise<unknown> => (await client.files.download(id)).bytes();

test.each<[string, (client: Client) => Promise<unknown>]>([
  ["lists the vault", async (client) => client.files.list({ vaultId: vault.id })],
  ["reads a file", (client) => content(client, fileId)],
  ["lists folders and reads all files", async (client) => {
    await client.folders.list({ vaultId: vault.id });
    await Promise.all([fileId, innerId].map((id) => content(client, id)));
  }],
])("a member who %s sends nothing under a stranger's key", async (_, work) => {
  expect(await sentBy(member, work)).toEqual([]);
});
