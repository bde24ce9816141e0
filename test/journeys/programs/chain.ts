/**
 * What an operator runs before people pay for it: a shared vault's life against any configured network, with the gas of each act. The service
 * is a new one on this machine; the chain and the key servers are the network's.
 */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { openChain, renew, sweep, type Chain, type NetworkConfiguration } from "@coffer/chain";
import { END_STEP } from "@coffer/contract";
import { nodePlatform } from "@coffer/crypto/node";
import { chainKeySigner, createClient, generateChainKey, type Client, type Signer } from "@coffer/sdk";
import { sharedVaults } from "@coffer/sdk/shared";
import { exportVault } from "@coffer/sdk/node";
import { bcs } from "@mysten/sui/bcs";
import { TransactionDataBuilder } from "@mysten/sui/transactions";
import { signUp } from "../kit/account.ts";
import { startServerProcess } from "../kit/server-process.ts";

export interface ChainJourney {
  readonly network: NetworkConfiguration;
  /** Of the address that pays, as {@link chainKeySigner} takes it. */
  readonly privateKey: string;
  /** How many generations a vault has when it is opened by a new program, and how many members. */
  readonly generations: readonly number[];
  readonly members: readonly number[];
  readonly print: (row: string) => void;
  /** Milliseconds since 1970. The memberships that end go by it. */
  readonly clock: () => number;
  /** Resolves when the clock has passed that time: at most a quarter of an hour and a minute after the beginning. */
  readonly waitUntil: (time: number) => Promise<void>;
}

/** What the transactions of one act cost, in MIST. */
interface Gas {
  readonly transactions: number;
  readonly computation: bigint;
  /** What is stored, less what comes back: negative when an act frees more than it takes. */
  readonly storage: bigint;
}

interface Act {
  readonly name: string;
  readonly seconds: number;
  readonly gas: Gas;
}

interface World {
  readonly baseUrl: string;
  readonly network: NetworkConfiguration;
  readonly directory: string;
  readonly owner: Client;
  readonly run: <Result>(name: string, act: () => Promise<Result>) => Promise<Result>;
  /** What acts that the client has no method for are sent through, and who pays for them. */
  readonly chain: Chain;
  readonly payer: Payer;
}

/** As both the client and the chain take it. */
type Payer = Signer & Required<Pick<Signer, "signTransaction">>;

/** Rejects at the first act that fails. Gives the rows that it printed. */
export async function runChainJourney(journey: ChainJourney): Promise<readonly Act[]> {
  await using stack = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), "coffer-chain-journey-"));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  const { network } = journey;
  const { baseUrl } = stack.use(
    await startServerProcess({
      SERVICE_ENV: "development",
      SERVICE_DATA_DIR: join(directory, "data"),
      SERVICE_CHAIN_NETWORK: network.network,
      SERVICE_CHAIN_URL: network.grpcUrl,
      SERVICE_CHAIN_PACKAGE: network.originalPackageId,
      SERVICE_CHAIN_ID: network.chainId,
    }),
  );
  const digests: string[] = [];
  let inOneEpoch = 0;
  const payer = noteTransactions(await chainKeySigner(journey.privateKey), (bytes) => {
    digests.push(TransactionDataBuilder.getDigestFromBytes(bytes));
    if (isOfOneEpoch(bytes)) inOneEpoch += 1;
  });
  const { apiKey } = await signUp(baseUrl);
  const owner = openClient({ baseUrl, network }, apiKey, payer);
  await owner.account.linkChain(payer);
  const acts: Act[] = [];
  const chain = openChain(network, { clock: journey.clock });
  const run: World["run"] = async (name, act) => {
    const [began, before] = [performance.now(), digests.length];
    const result = await act();
    const seconds = (performance.now() - began) / 1000;
    const done = { name, seconds, gas: await gasOf(chain, digests.slice(before)) };
    acts.push(done);
    journey.print(render(done));
    return result;
  };
  const world: World = { baseUrl, network, directory, owner, run, chain, payer };
  await live(world);
  const ending = await limit(world);
  for (const members of journey.members)
    for (const generations of journey.generations) await grow(world, { members, generations });
  journey.print(`...  waits for the end of a membership, ${new Date(ending.end).toISOString()}`);
  await journey.waitUntil(ending.end);
  await clear(world, ending);
  if (inOneEpoch > 0)
    journey.print(`warning  valid_one_epoch: ${String(inOneEpoch)} transactions were valid in one epoch only`);
  return acts;
}

type Place = Pick<World, "baseUrl" | "network">;

function openClient({ baseUrl, network }: Place, apiKey: string, signer: Signer): Client {
  const opened = sharedVaults({ signer, network, platform: nodePlatform });
  return createClient({ baseUrl, credentials: { apiKey }, sharedVaults: opened, network: network.network });
}

function noteTransactions(signer: Signer, note: (bytes: Uint8Array) => void): Payer {
  const sign = signer.signTransaction?.bind(signer);
  if (sign === undefined) throw new TypeError("the signer signs no transactions");
  return {
    ...signer,
    signTransaction: (bytes) => {
      note(bytes);
      return sign(bytes);
    },
  };
}

/** Where the network's protocol takes no two epochs, transactions fall back to one. */
function isOfOneEpoch(bytes: Uint8Array): boolean {
  const { ValidDuring: window } = bcs.TransactionData.parse(bytes).V1.expiration;
  return window?.minEpoch === window?.maxEpoch;
}

/** Somebody of the owner's account with a chain key of their own, who pays for nothing. */
async function inviteTo({ owner, baseUrl, network }: World, vaultId: string) {
  const signer = await chainKeySigner((await generateChainKey()).privateKey);
  const { text } = await owner.invites.create({ name: "journey", vaultIds: [vaultId] });
  const { key } = await createClient({ baseUrl, network: network.network }).invites.redeem(text, signer);
  return { address: signer.chainAddress, open: () => openClient({ baseUrl, network }, key, signer) };
}

const TEXT = new TextEncoder().encode("What only members read.");

async function live(world: World): Promise<void> {
  const { owner, run } = world;
  const vault = await run("create", () => owner.vaults.create({ name: "journey", type: "shared" }));
  const member = await inviteTo(world, vault.id);
  await run("add", () => owner.vaults.members.add(vault.id, member.address));
  const { file } = await run("write", () => owner.files.upload({ vaultId: vault.id, name: "a.txt", body: TEXT }));
  const reader = member.open();
  await run("read as a member", async () => assert.deepEqual(await read(reader, file.id), TEXT));
  await run("remove", () => owner.vaults.members.remove(vault.id, member.address));
  await assert.rejects(read(member.open(), file.id));
  await run("rotate", () => owner.vaults.rotate(vault.id));
  await run("export", () => exportVault(owner, vault.id, join(world.directory, "export")));
  assert.deepEqual(await read(owner, file.id), TEXT);
}

interface Ending {
  readonly objectId: string;
  /** Milliseconds since 1970. */
  readonly end: number;
}

/** A member with an end, the acts that move it, and the act that a rotation begins with. */
async function limit({ owner, run, chain, payer }: World): Promise<Ending> {
  const { id, chainObjectId: objectId } = await owner.vaults.create({ name: "ends", type: "shared" });
  const { chainAddress, statements } = await chainKeySigner((await generateChainKey()).privateKey);
  assert.ok(objectId !== null && statements !== undefined);
  const end = Math.ceil((chain.clock() + 60_000) / END_STEP) * END_STEP;
  const at = (time: number): string => new Date(time).toISOString();
  const signingKey = statements.publicKey;
  const setUntil = (time: number) => () => owner.vaults.members.setUntil(id, chainAddress, at(time));
  await run("add a member with an end", () =>
    owner.vaults.members.add(id, chainAddress, { until: at(end), signingKey }),
  );
  await run("set a later end", setUntil(end + END_STEP));
  await run("set an earlier end", setUntil(end));
  const { base } = await chain.readVault(objectId, { maxAge: 0 });
  await run("renew", () => renew(chain, payer, { objectId, base }));
  return { objectId, end };
}

/** Once the end has come: the next act that raises the generation marks it, and a sweep takes it off the list. */
async function clear({ run, chain, payer }: World, { objectId }: Ending): Promise<void> {
  const { base } = await chain.readVault(objectId, { maxAge: 0 });
  await run("renew, and mark who has ended", () => renew(chain, payer, { objectId, base }));
  const { outcome, vault } = await run("sweep", () => sweep(chain, payer, { objectId }));
  assert.deepEqual([outcome, vault.members.length, vault.former.length], ["done", 0, 1]);
}

/** A vault of so many members, with a file of each of so many generations, opened by a program that has opened nothing yet. */
async function grow(world: World, { members, generations }: { members: number; generations: number }): Promise<void> {
  const { owner, run } = world;
  const name = `${String(generations)} generations, ${String(members)} members`;
  const vault = await owner.vaults.create({ name, type: "shared" });
  const addOthers = async (): Promise<void> => {
    for (let at = 1; at < members; at += 1)
      await owner.vaults.members.add(vault.id, (await generateChainKey()).chainAddress);
  };
  if (members > 1) await run(`add ${String(members - 1)} (${name})`, addOthers);
  // The last on the list: whom key servers find last.
  const member = await inviteTo(world, vault.id);
  await run(`add the last (${name})`, () => owner.vaults.members.add(vault.id, member.address));
  const passing = (await generateChainKey()).chainAddress;
  const files: string[] = [];
  await run(`write and raise the generation (${name})`, async () => {
    for (let at = 1; ; at += 1) {
      const { file } = await owner.files.upload({ vaultId: vault.id, name: `${String(at)}.txt`, body: TEXT });
      files.push(file.id);
      if (at === generations) break;
      await owner.vaults.members.add(vault.id, passing);
      await owner.vaults.members.remove(vault.id, passing);
    }
  });
  const reader = member.open();
  await run(`list and read as the last member (${name})`, async () => {
    for await (const { name: shown } of reader.files.list({ vaultId: vault.id })) assert.notEqual(shown, "");
    for (const id of files) assert.deepEqual(await read(reader, id), TEXT);
  });
}

async function read(client: Client, id: string): Promise<Uint8Array> {
  const { stream } = await client.files.download(id);
  return new Uint8Array(await buffer(stream));
}

async function gasOf({ client }: Chain, digests: readonly string[]): Promise<Gas> {
  let gas: Gas = { transactions: 0, computation: 0n, storage: 0n };
  for (const digest of digests) {
    // One that was signed and not executed costs nothing.
    const found = await client.core.getTransaction({ digest, include: { effects: true } }).catch(() => null);
    const used = (found?.Transaction ?? found?.FailedTransaction)?.effects.gasUsed;
    if (used === undefined) continue;
    gas = {
      transactions: gas.transactions + 1,
      computation: gas.computation + BigInt(used.computationCost),
      storage: gas.storage + BigInt(used.storageCost) - BigInt(used.storageRebate),
    };
  }
  return gas;
}

const MIST = 1e9;

function render({ name, seconds, gas }: Act): string {
  const cost =
    gas.transactions === 0
      ? "no transaction"
      : `${String(gas.transactions)} transactions, computation ${sui(gas.computation)} SUI, storage ${sui(gas.storage)} SUI`;
  return `ok  ${name.padEnd(64)} ${seconds.toFixed(1).padStart(7)} s  ${cost}`;
}

function sui(mist: bigint): string {
  return (Number(mist) / MIST).toFixed(6);
}
