/** What a member whose access has ended may try, and what may happen around its end: by the service, the key servers and the real Move module. */
import { acceptOwnership, openChain, renew, setSigningKey, sealVaultKeyWrap, sweep, locateVault } from "@coffer/chain";
import { END_STEP, vaultKeysGroup } from "@coffer/contract";
import { NO_END, newVaultKeyRecord, parseRecord, parseVersionStatement, type Place } from "@coffer/crypto";
import { type Client, type ClientOptions, type Middleware, type Vault } from "@coffer/sdk";
import { randomBytes } from "node:crypto";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { enlargeVault, strangerAt } from "../kit/large-vault.ts";
import { keepVersion, lyingAt, onWire, servingVersion } from "../kit/lying-service.ts";
import { openMachine } from "../kit/machine.ts";
import { openVaultOutside, writeOutside, type OpenedVault } from "../kit/opened-vault.ts";
import { read, sharedStack, UNLIMITED } from "../kit/shared-scene.ts";
import type { SharedPerson } from "../kit/shared-stack.ts";

let skew = 0;
const clock = (): number => Date.now() + skew;
const stack = sharedStack({ ...UNLIMITED, clock, ownNode: true });
/** As long as each other: an entry says how long its file is. */
const [HONEST, FORGED] = ["truth", "false"];
const SERVERS = [0, 1, 2] as const;

/** Leaves a minute for what comes before the end. */
const nextEnd = (): number => Math.ceil((clock() + 60_000) / END_STEP) * END_STEP;
/** Milliseconds: after that nobody remembers a read of the chain. */
const MEMORIES = 10_000;
const passTo = (time: number) => void (skew += Math.max(0, time - clock()));

interface Scene {
  readonly owner: Client;
  readonly vaultId: string;
  readonly objectId: string;
  /** "first", written by the one whose access ends. */
  readonly fileId: string;
  readonly end: number;
  readonly ending: SharedPerson;
  readonly staying: SharedPerson;
  /** All that `ending` had before its end: the view, the key of the first place, and its own signing key. */
  readonly kept: OpenedVault;
}

/** Made before the clock is moved: what agents sign to redeem an invite names the time of this machine. */
const people: SharedPerson[] = [];
let staying: SharedPerson;
beforeAll(async () => {
  staying = await stack.invite("staying");
  for (let at = 0; at < 13; at += 1) people.push(await stack.invite(`ending ${String(at)}`));
});
afterEach(() => {
  for (const server of SERVERS) stack.localnet.faults.keyServer(server).stale = false;
  if (stack.serviceNode !== null) stack.serviceNode.lag = 0;
});

function nextPerson(): SharedPerson {
  const person = people.pop();
  if (person === undefined) throw new Error("nobody is left");
  return person;
}

async function openScene(): Promise<Scene> {
  const [owner, ending] = [stack.owner.client, nextPerson()];
  const vault: Vault = await owner.vaults.create({ name: `Ended ${crypto.randomUUID()}`, type: "shared" });
  const vaultId = vault.id;
  const end = nextEnd();
  await owner.vaults.members.add(vaultId, staying.signer.chainAddress);
  await owner.vaults.members.add(vaultId, ending.signer.chainAddress, { until: new Date(end) });
  const { file } = await ending.client.files.upload({ vaultId, name: "a.txt", body: "first" });
  const kept = await openVaultOutside(ending, vault, stack.network, undefined, clock);
  return { owner, vaultId, objectId: vault.chainObjectId ?? "", fileId: file.id, end, ending, staying, kept };
}

async function placeOf(fileId: string): Promise<[bigint, bigint]> {
  const { shared } = onWire(await stack.owner.client.files.get(fileId));
  const { generation, after } = parseVersionStatement(Buffer.from(shared?.version ?? "", "base64"));
  return [generation, after];
}

const put = async ({ owner, vaultId }: Scene, name: string) =>
  (await owner.files.upload({ vaultId, name, body: name })).file.id;

/** What that person gets from the key servers for each record that the service lists, in the order of their places. */
async function asked({ owner, vaultId, objectId }: Scene, { signer }: SharedPerson): Promise<string[]> {
  const chain = openChain(stack.network, { clock });
  const vault = await chain.readVault(objectId);
  const { keys } = await owner.call(vaultKeysGroup.list, { params: { vaultId } });
  const records = keys.map(({ record }) => parseRecord(Uint8Array.from(Buffer.from(record, "base64"))));
  records.sort((one, other) => Number(one.generation - other.generation || one.after - other.after));
  const answers: string[] = [];
  for (const { sealedKey, vault: id, generation, after, creator } of records) {
    const wrap = sealVaultKeyWrap({
      client: chain.client,
      network: stack.network,
      clock,
      signer,
      vaultObjects: { locate: () => Promise.resolve(locateVault(vault, signer.chainAddress)) },
    });
    const place = { vault: id, generation, after, creator };
    const opening = wrap.unwrap([{ sealedKey, place }]);
    answers.push(await opening.then(([key]) => `${String(key?.length)} bytes`, codeOf));
    wrap.close();
  }
  return answers;
}

/** The service lists the key of whoever forges, too. */
function listing({ record }: OpenedVault): Middleware {
  const keyId = Buffer.from(record.keyId).toString("hex");
  const [generation, after] = [Number(record.generation), Number(record.after)];
  const made = { keyId, generation, after, record: Buffer.from(record.bytes).toString("base64") };
  return lyingAt("vaultKeys.list", (said: { keys: { keyId: string }[] }) => {
    const isListed = said.keys.some((listed) => listed.keyId === keyId);
    return isListed ? said : { ...said, keys: [{ ...said.keys[0], ...made }, ...said.keys] };
  });
}

/** Somebody who has seen nothing yet, or with these stores, and a service that gives out what was forged. */
async function readForged(
  { fileId }: Scene,
  by: OpenedVault,
  open: (options: Partial<ClientOptions>) => Client | Promise<Client> = (options) => staying.another(options),
): Promise<string> {
  const forged = await writeOutside(by, await keepVersion(stack, fileId), FORGED, clock());
  const client = await open({ middleware: [servingVersion(forged), listing(by)] });
  return read(client, fileId).catch(refusalOf);
}

const GIVEN = "32 bytes";
/** Without any transaction after the end. */
const OVER = "membership_ended";
/** What is said of who signed where it could not. */
const NOBODY = "could not sign at its place";

const codeOf = (error: unknown): string => (error as { code: string }).code;
const refusalOf = (error: unknown): string =>
  error instanceof Error && error.message.includes(NOBODY) ? NOBODY : codeOf(error);

type Case = readonly [what: string, run: (scene: Scene) => Promise<void>];

const attacks: readonly Case[] = [
  [
    "is refused each key by the key servers, with no transaction at its end; who stays is given them",
    async (scene) => {
      const chain = openChain(stack.network, { clock });
      const { version } = await chain.readVault(scene.objectId);
      passTo(scene.end);
      await put(scene, "after.txt");
      expect(await asked(scene, scene.ending)).toEqual([OVER, OVER]);
      expect(await asked(scene, staying)).toEqual([GIVEN, GIVEN]);
      expect((await chain.readVault(scene.objectId, { maxAge: 0 })).version).toBe(version);
    },
  ],
  [
    "gets from key servers whose nodes stand still what it had before, and never a key of after its end",
    async (scene) => {
      passTo(scene.end - 30_000);
      for (const server of SERVERS) stack.localnet.faults.keyServer(server).stale = true;
      passTo(scene.end + 1_000);
      await put(scene, "after.txt");
      expect(await asked(scene, scene.ending)).toEqual([GIVEN, OVER]);
      passTo(scene.end + 100_000);
      expect(await asked(scene, scene.ending)).toEqual([OVER, OVER]);
    },
  ],
  [
    "replays its lower place: refused by whoever has seen a later one, in each process of that machine",
    async (scene) => {
      passTo(scene.end);
      await scene.owner.files.replace(scene.fileId, { body: HONEST, vaultId: scene.vaultId });
      await using machine = await openMachine(stack, staying);
      expect(await read(await machine.newProcess(), scene.fileId)).toBe(HONEST);
      expect(await readForged(scene, scene.kept, (options) => machine.newProcess(options))).toBe("rolled_back");
      // Who has seen nothing cannot tell, until the owner rotates: as after a removal.
      expect(await readForged(scene, scene.kept)).toBe(FORGED);
      await scene.owner.vaults.rotate(scene.vaultId);
      expect(await readForged(scene, scene.kept)).toBe("rolled_back");
      expect(await read(staying.another(), scene.fileId)).toBe(HONEST);
    },
  ],
  [
    "forges past a rotation: at its own places it is below the floor, and at later ones it is nobody",
    async (scene) => {
      passTo(scene.end);
      await scene.owner.vaults.rotate(scene.vaultId);
      const { generation } = await openChain(stack.network, { clock }).readVault(scene.objectId);
      const end = BigInt(scene.end);
      const results = [];
      for (const [at, after] of [
        [1n, 0n],
        [1n, end],
        [generation, 0n],
        [generation, end],
        [generation + 1n, 0n],
      ] as const)
        results.push(await readForged(scene, await pretending(scene.kept, { generation: at, after })));
      expect(results).toEqual(["rolled_back", "rolled_back", NOBODY, NOBODY, NOBODY]);
    },
  ],
  [
    "sets itself another signing key: refused, before and after it is marked and swept",
    async (scene) => {
      const chain = openChain(stack.network, { clock });
      const rekey = () =>
        setSigningKey(chain, scene.ending.signer, { objectId: scene.objectId, signingKey: randomBytes(32) });
      passTo(scene.end);
      await expect(rekey()).rejects.toMatchObject({ code: OVER });
      await renew(chain, stack.owner.signer, { objectId: scene.objectId, base: 1n });
      await expect(rekey()).rejects.toMatchObject({ code: OVER });
      await sweep(chain, staying.signer, scene);
      await expect(rekey()).rejects.toMatchObject({ code: "not_a_member" });
    },
  ],
  [
    "accepts an offer of the ownership of before its end: refused, and gone with its mark",
    async (scene) => {
      const chain = openChain(stack.network, { clock });
      const accept = () => acceptOwnership(chain, scene.ending.signer, scene);
      await scene.owner.vaults.offerOwnership(scene.vaultId, scene.ending.signer.chainAddress);
      passTo(scene.end);
      await expect(accept()).rejects.toMatchObject({ code: OVER });
      await renew(chain, stack.owner.signer, { objectId: scene.objectId, base: 1n });
      await expect(accept()).rejects.toMatchObject({ code: "not_offered" });
      await sweep(chain, stack.owner.signer, scene);
      await expect(accept()).rejects.toMatchObject({ code: "not_offered" });
    },
  ],
];

/** As if it were a member without an end, and the vault at that place; with a key that it makes there, unless it has one. */
async function pretending(kept: OpenedVault, { generation, after }: Place): Promise<OpenedVault> {
  const { address, signer } = kept.author;
  const entry = { address, signingKey: signer.publicKey, since: 0n, endsAt: NO_END, until: null };
  const passed = { ...entry, address: randomBytes(32), endsAt: after };
  const members = after === 0n ? [entry] : [entry, passed];
  const view = { ...kept.view, generation, floor: 0n, time: after, members, former: [] };
  const isOwn = generation === kept.record.generation && after === kept.record.after;
  return { ...kept, view, ...(isOwn ? {} : await newVaultKeyRecord(view, kept.wrap, kept.author)) };
}

const around: readonly Case[] = [
  [
    "a rotation's first act and a sweep come in between: all that was written true stays readable, and nothing is forged",
    async (scene) => {
      const { objectId, vaultId, end, fileId, kept } = scene;
      const chain = openChain(stack.network, { clock });
      passTo(end);
      const after = await put(scene, "after the end");
      await renew(chain, stack.owner.signer, { objectId, base: 1n });
      passTo(clock() + MEMORIES);
      const renewed = await put(scene, "after renew");
      const swept = await sweep(chain, staying.signer, scene);
      expect(swept).toMatchObject({ outcome: "done", vault: { generation: 2n, base: 2n } });
      expect(swept.vault.former.map(({ until, endsAt }) => [until, endsAt])).toEqual([[1n, BigInt(end)]]);
      expect(await sweep(chain, staying.signer, scene)).toMatchObject({ outcome: "already" });
      passTo(clock() + MEMORIES);
      const last = await put(scene, "after sweep");
      expect(await Promise.all([after, renewed, last].map(placeOf))).toEqual([
        [1n, BigInt(end)],
        [2n, 0n],
        [2n, 0n],
      ]);
      const reader = staying.another();
      const texts = await Promise.all([fileId, after, renewed, last].map((id) => read(reader, id)));
      expect(texts).toEqual(["first", "after the end", "after renew", "after sweep"]);
      for (const place of [
        { generation: 1n, after: BigInt(end) },
        { generation: 2n, after: 0n },
      ])
        expect(await readForged(scene, await pretending(kept, place))).toBe(NOBODY);
      await stack.owner.client.vaults.rotate(vaultId);
      expect(await read(staying.another(), fileId)).toBe("first");
    },
  ],
  [
    "its entry is the oldest of 1,800 former ones: what it wrote stays true until the next one takes its place",
    async (scene) => {
      const { objectId, vaultId, end, fileId, ending } = scene;
      const chain = openChain(stack.network, { clock });
      passTo(end);
      await renew(chain, stack.owner.signer, { objectId, base: 1n });
      await sweep(chain, staying.signer, scene);
      await enlargeVault(stack.localnet, objectId, ({ former: [first] }) => ({
        former: Array.from({ length: 1_800 }, (_, at) =>
          at === 0 && first !== undefined
            ? first
            : {
                ...first,
                chainAddress: strangerAt("cc", at),
                signingKey: randomBytes(32),
                since: "1",
                until: "1",
                endsAt: String(NO_END),
              },
        ),
      }));
      const all = await chain.readVault(objectId, { maxAge: 0 });
      expect([all.former.length, all.former[0]?.chainAddress]).toEqual([1_800, ending.signer.chainAddress]);
      expect(await read(staying.another(), fileId)).toBe("first");
      const { members } = stack.owner.client.vaults;
      const next = nextPerson();
      await members.add(vaultId, next.signer.chainAddress, { signingKey: next.signer.statements.publicKey });
      await members.remove(vaultId, next.signer.chainAddress);
      const evicted = await chain.readVault(objectId, { maxAge: 0 });
      expect(evicted.former.map(({ chainAddress }) => chainAddress)).not.toContain(ending.signer.chainAddress);
      expect(await read(staying.another(), fileId).catch(refusalOf)).toBe(NOBODY);
    },
  ],
  [
    "it is one of 1,000 that end: all are refused, the rest read and write, and sweeps make room",
    async (scene) => {
      const { objectId, vaultId, end, fileId, ending } = scene;
      const chain = openChain(stack.network, { clock });
      await enlargeVault(stack.localnet, objectId, ({ members }) => ({
        members: [
          ...members,
          ...Array.from({ length: 1_000 - members.length }, (_, at) => ({
            chainAddress: strangerAt("bb", at),
            signingKey: randomBytes(32),
            since: "1",
            endsAt: String(end + (at % 4) * END_STEP),
            until: "0",
            replacedKeys: 0,
          })),
        ],
      }));
      const last = end + 3 * END_STEP;
      passTo(last);
      const after = await put(scene, "after all ends");
      expect(await placeOf(after)).toEqual([1n, BigInt(last)]);
      expect(await asked(scene, ending)).toEqual([OVER, OVER]);
      const reader = staying.another();
      expect([await read(reader, fileId), await read(reader, after)]).toEqual(["first", "after all ends"]);
      // A full list is swept by who adds; the rest goes by fifties.
      await stack.owner.client.vaults.members.add(vaultId, strangerAt("dd", 1));
      let left = Number.POSITIVE_INFINITY;
      for (let calls = 0; left > 2; calls += 1) {
        expect(calls).toBeLessThan(20);
        left = (await sweep(chain, staying.signer, scene)).vault.members.length;
      }
      const swept = await chain.readVault(objectId, { maxAge: 0 });
      expect(swept).toMatchObject({ generation: 2n });
      expect(swept.former).toHaveLength(999);
      expect(await read(staying.another(), fileId)).toBe("first");
      expect(await placeOf(await put(scene, "swept"))).toEqual([2n, 0n]);
    },
  ],
  [
    "a writer's node is late: what it seals for who has ended the service takes only if late itself, and serves to nobody like that",
    async ({ vaultId, end, ending }) => {
      const { url: grpcUrl } = await stack.localnet.openNode({ lag: 20_000 });
      const writer = staying.another({ shared: { network: { ...stack.network, grpcUrl } } });
      if (stack.serviceNode !== null) stack.serviceNode.lag = 20_000;
      passTo(end + 1_000);
      const { file } = await writer.files.upload({ vaultId, name: "sealed", body: "sealed" });
      expect(await placeOf(file.id)).toEqual([1n, 0n]);
      for (const apiKey of [ending.apiKey, stack.owner.apiKey])
        expect(await read(ending.another({ credentials: { apiKey } }), file.id).catch(codeOf)).toBe(OVER);
      expect(await read(staying.another(), file.id)).toBe("sealed");
      if (stack.serviceNode !== null) stack.serviceNode.lag = 0;
      const late = () => writer.files.upload({ vaultId, name: randomBytes(8).toString("hex"), body: "late" });
      // The service's memory of the chain goes by real time, which no test moves.
      await vi.waitFor(async () => expect(await late().catch(codeOf)).toBe("generation_moved"), { timeout: 15_000 });
    },
  ],
  [
    "nodes disagree whether it came, before it is put off at the last second: nobody who saw the place writes below it, in any process",
    async (scene) => {
      const { vaultId, end, ending } = scene;
      const { serviceNode: early } = stack;
      if (early === null) throw new Error("the service has a node of its own");
      const { owner } = stack;
      await using machine = await openMachine(stack, owner);
      await using elsewhere = await openMachine(stack, owner);
      expect(await read(await elsewhere.newProcess(), scene.fileId)).toBe("first");
      passTo(end - 15_000);
      // Both nodes' clocks are 20 seconds ahead: an honest writer and the service take the end for reached.
      early.lag = -20_000;
      const network = { ...stack.network, grpcUrl: early.url };
      const writer = staying.another({ shared: { network } });
      const { file } = await writer.files.upload({ vaultId, name: "early", body: "early" });
      early.lag = 0;
      await stack.owner.client.vaults.members.setUntil(vaultId, ending.signer.chainAddress, new Date(end + END_STEP));
      passTo(end + 1_000);
      expect(await placeOf(file.id)).toEqual([1n, BigInt(end)]);
      expect(await read(ending.another(), file.id)).toBe("early");
      expect(await read(await machine.newProcess(), file.id)).toBe("early");
      const fresh = await machine.newProcess();
      const next = await fresh.files.upload({ vaultId, name: "next", body: "next" });
      expect(await placeOf(next.file.id)).toEqual([1n, BigInt(end)]);
      expect(await read(ending.another(), next.file.id)).toBe("next");
      // A machine that has seen nothing of that place learns of it from the folder's names.
      const unaware = await (await elsewhere.newProcess()).files.upload({ vaultId, name: "lower", body: "lower" });
      expect(await placeOf(unaware.file.id)).toEqual([1n, BigInt(end)]);
      // A service whose node hangs behind may refuse who was kept on; it serves nobody whose end has come.
      passTo(end + END_STEP);
      early.lag = 20_000;
      expect(await read(ending.another(), file.id).catch(codeOf)).toBe(OVER);
      expect(await read(staying.another(), file.id)).toBe("early");
    },
  ],
];

describe("around the end of a member,", () => {
  test.each(around)("%s", async (_what, run) => run(await openScene()));
});

describe("a member whose access has ended", () => {
  test.each(attacks)("%s", async (_what, run) => run(await openScene()));
});
