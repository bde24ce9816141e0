/** Drawn schedules (a failure prints them) of clocks, ends, rotations and sweeps: who gets which key, by the real key servers and two nodes. */
import {
  addMember,
  ChainError,
  createVault,
  fromSuiSigner,
  locateVault,
  openChain,
  renew,
  sealVaultKeyWrap,
  setUntil,
  sweep,
  toVaultView,
  type Chain,
  type TransactionSigner,
} from "@coffer/chain";
import { END_STEP_MS, NO_END, placeOf, type Place, type SealedVaultKey } from "@coffer/crypto";
import { openLocalnet, type LateNode, type Localnet } from "@coffer/localnet";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";

const FULL = process.env["COFFER_TEST_COUNTS"] === "full";
const SCHEDULES = FULL ? 40 : 6;
const SERVERS = [0, 1, 2] as const;
/** Of the key servers, in milliseconds. */
const STALENESS = 120_000;
/** What clients believe of a node's clock, both ways, less a second. */
const MOST_SKEW = 29_000;
const QUARTER = Number(END_STEP_MS);

let now = 1_800_000_000_000;
const clock = (): number => now;
let localnet: Localnet;
/** Two nodes: each may be late, or have a clock that is ahead. */
let nodes: readonly [LateNode, LateNode];
let threshold: number;

beforeAll(async () => {
  localnet = await openLocalnet({ clock });
  await localnet.listen();
  nodes = [await localnet.openNode(), await localnet.openNode()];
  threshold = localnet.network().keyServerSets[0]?.threshold ?? 0;
});
afterAll(() => localnet.close());

/** What the Move module promises, in a few lines. */
class Model {
  generation = 1;
  end = Number.POSITIVE_INFINITY;
  /** The entry whose access ends is on the list, and whether it is marked as ended. */
  isListed = true;
  isMarked = false;

  hasEnded(): boolean {
    return this.isMarked || this.end <= now;
  }

  raise(): void {
    this.isMarked ||= this.isListed && this.end <= now;
    this.generation += 1;
  }

  /** Whether a key server that sees this at that time gives the key. */
  grants(place: Place, time: number, who: Who): boolean {
    const isMember = who === "staying" || (this.isListed && !this.isMarked && time < this.end);
    return isMember && place.generation <= BigInt(this.generation) && place.after <= BigInt(time);
  }

  copy(): Model {
    return Object.assign(new Model(), this);
  }
}

type Who = "ending" | "staying";

const at = fc.nat({ max: 1 });
const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      act: fc.constant("pass" as const),
      by: fc.constantFrom(1, 5_000, 60_000, QUARTER - 1, QUARTER),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ act: fc.constant("toEnd" as const), at, by: fc.constantFrom(-10_000, -1, 0, 0, 1) }),
  },
  fc.record({ act: fc.constant("skew" as const), at, by: fc.integer({ min: -MOST_SKEW, max: MOST_SKEW }) }),
  fc.record({ act: fc.constant("freeze" as const), at: fc.nat({ max: 2 }), by: fc.boolean() }),
  { weight: 2, arbitrary: fc.record({ act: fc.constant("end" as const), by: fc.nat({ max: 3 }) }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant("seal" as const), at }) },
  fc.record({ act: fc.constant("renew" as const) }),
  fc.record({ act: fc.constant("sweep" as const) }),
  { weight: 2, arbitrary: fc.record({ act: fc.constant("ask" as const), at }) },
);

const person = (): TransactionSigner => fromSuiSigner(new Ed25519Keypair());
const key = new Uint8Array(32).fill(42);
const answers = { given: 0, refused: 0 };

class Schedule {
  readonly model = new Model();
  readonly people = { owner: person(), ending: person(), staying: person() };
  readonly sealed: SealedVaultKey[] = [];
  /** What each key server that stands still goes on seeing. */
  readonly frozen = new Map<number, { readonly model: Model; readonly at: number }>();
  readonly chain: Chain = openChain(localnet.network(), { clock });
  objectId = "";

  async begin(): Promise<void> {
    const { owner, ending, staying } = this.people;
    this.objectId = (await createVault(this.chain, owner, {})).vault.objectId;
    const { objectId } = this;
    this.model.end = (Math.floor(now / QUARTER) + 2) * QUARTER;
    const endsAt = BigInt(this.model.end);
    await addMember(this.chain, owner, { objectId, chainAddress: ending.chainAddress, endsAt });
    await addMember(this.chain, owner, { objectId, chainAddress: staying.chainAddress });
    // Nodes that are late have seen it.
    now += 60_000;
    await this.seal(0);
  }

  /** Ends are set at the true node, as far away as is drawn; 0: none. */
  async setEnd(steps: number): Promise<void> {
    const { model, objectId, chain } = this;
    const { owner, ending } = this.people;
    const end = steps === 0 ? Number.POSITIVE_INFINITY : (Math.floor(now / QUARTER) + steps) * QUARTER;
    const endsAt = steps === 0 ? NO_END : BigInt(end);
    const { chainAddress } = ending;
    if (!model.isListed || model.hasEnded()) {
      const late = setUntil(chain, owner, { objectId, chainAddress, endsAt });
      await expect(late).rejects.toMatchObject({ code: model.isListed ? "membership_ended" : "not_a_member" });
      await addMember(chain, owner, { objectId, chainAddress, endsAt });
      if (model.isListed) model.raise();
      Object.assign(model, { isListed: true, isMarked: false });
    } else {
      await setUntil(chain, owner, { objectId, chainAddress, endsAt });
      if (end < model.end) model.raise();
    }
    model.end = end;
  }

  /** Whoever writes by that node makes a key of the place that it shows. */
  async seal(node: number): Promise<void> {
    const network = { ...localnet.network(), grpcUrl: nodes[node]?.url ?? "" };
    const view = toVaultView(await openChain(network, { clock }).readVault(this.objectId));
    const place = { ...placeOf(view), vault: view.vault, creator: view.owner.address };
    const wrap = await this.wrapOf("owner", node);
    this.sealed.push({ sealedKey: await wrap.wrap(key, place), place });
  }

  async wrapOf(who: Who | "owner", node: number) {
    const network = { ...localnet.network(), grpcUrl: nodes[node]?.url ?? "" };
    const signer = this.people[who];
    const { client } = openChain(network, { clock });
    const location = locateVault(await this.chain.readVault(this.objectId), signer.chainAddress);
    let waited = 0;
    return sealVaultKeyWrap({
      client,
      network,
      signer,
      clock: () => now + waited,
      vaultObjects: { locate: () => Promise.resolve(location) },
      // Who waits for key servers that are behind has waited long enough after once.
      sleep: () => Promise.resolve(void (waited += STALENESS)),
    });
  }

  async ask(who: Who, node: number): Promise<void> {
    const wrap = await this.wrapOf(who, node);
    for (const { sealedKey, place } of this.sealed) {
      const given = await wrap.unwrap([{ sealedKey, place }]).then(
        (keys) => keys.length === 1,
        (error: unknown) => {
          if (error instanceof ChainError) return false;
          throw error;
        },
      );
      answers[given ? "given" : "refused"] += 1;
      const granting = SERVERS.filter((server) => {
        const { model, at: time } = this.frozen.get(server) ?? { model: this.model, at: now };
        return now - time <= STALENESS && model.grants(place, time, who);
      });
      const named = { who, generation: place.generation, after: place.after, now, end: this.model.end };
      expect({ ...named, given }).toEqual({ ...named, given: granting.length >= threshold });
    }
    wrap.close();
  }

  freeze(server: number, isFrozen: boolean): void {
    localnet.faults.keyServer(server).stale = isFrozen;
    if (!isFrozen) this.frozen.delete(server);
    else if (!this.frozen.has(server)) this.frozen.set(server, { model: this.model.copy(), at: now });
  }

  async renew(): Promise<void> {
    const { base } = await this.chain.readVault(this.objectId, { maxAge: 0 });
    await renew(this.chain, this.people.owner, { objectId: this.objectId, base });
    this.model.raise();
  }

  async sweep(): Promise<void> {
    const { outcome } = await sweep(this.chain, this.people.staying, this);
    expect(outcome).toBe(this.model.isListed && this.model.isMarked ? "done" : "already");
    if (this.model.isMarked) this.model.isListed = false;
  }

  end(): void {
    for (const server of SERVERS) this.freeze(server, false);
    for (const node of nodes) node.lag = 0;
  }
}

test(
  `in ${String(SCHEDULES)} schedules the key servers give each key to whom the model gives it, and to nobody else (seed 15)`,
  { timeout: 600_000 },
  async () => {
    const property = fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 12 }), async (steps) => {
      const schedule = new Schedule();
      await schedule.begin();
      try {
        for (const each of steps) {
          if (each.act === "pass") now += each.by;
          else if (each.act === "toEnd") {
            if (Number.isFinite(schedule.model.end)) now = Math.max(now, schedule.model.end + each.by);
            await schedule.ask("ending", each.at);
          } else if (each.act === "skew") {
            const node = nodes[each.at === 0 ? 0 : 1];
            node.lag = each.by;
          } else if (each.act === "freeze") schedule.freeze(each.at, each.by);
          else if (each.act === "end") await schedule.setEnd(each.by);
          else if (each.act === "seal") await schedule.seal(each.at);
          else if (each.act === "renew") await schedule.renew();
          else if (each.act === "sweep") await schedule.sweep();
          else await schedule.ask("ending", each.at);
        }
        schedule.end();
        await schedule.ask("ending", 0);
        await schedule.ask("staying", 1);
      } finally {
        schedule.end();
      }
    });
    await fc.assert(property, { numRuns: SCHEDULES, seed: 15, endOnFailure: true });
    // Neither answer is rare.
    expect(Math.min(answers.given, answers.refused)).toBeGreaterThanOrEqual(SCHEDULES);
  },
);
