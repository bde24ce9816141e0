/**
 * "A key can never mint a wider key" (decisions §4), over any sequence of what makes keys or changes what they are: create,
 * rotate, invite and redeem, link, revoke, and a clock that goes on or back.
 */
import { AGENT_SCOPES, renderKeyAddressText, renderLinkText, type Scope, SCOPES } from "@coffer/contract";
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openTestApp, type TestAnswer, type TestApp } from "../../app.test-kit.ts";
import { toTimestamp } from "../timestamps.ts";
import type { TestSigner } from "../chain-proofs/signer.test-kit.ts";
import { claimOf, newSigner, redeem, TEST_PLACE } from "../invites/invites.test-kit.ts";

const RUNS = process.env["COFFER_TEST_COUNTS"] === "full" ? 400 : 20;
const HOUR = 3_600_000;

/** What a credential can do in effect. */
interface Reach {
  readonly level: string;
  readonly scopes: ReadonlySet<string>;
  readonly vaultIds: ReadonlySet<string> | null;
  readonly expiresAt: string | null;
}

interface Key {
  readonly id: string;
  readonly key: string;
  /** When it was made. */
  readonly reach: Reach;
}

let service: TestApp;
const accepted = new Map<string, number>();
beforeAll(async () => {
  service = await openTestApp();
});
afterAll(() => service[Symbol.asyncDispose]());

/** One account with its keys; `signers` are the addresses that any of them may be bound to. */
class World {
  readonly accountId: string;
  readonly vaultIds: readonly string[];
  readonly keys: Key[];
  readonly invites: { readonly code: string; readonly maker: Reach }[] = [];
  readonly signers: readonly TestSigner[] = Array.from({ length: 2 }, newSigner);

  constructor(accountId: string, vaultIds: readonly string[], first: Key) {
    this.accountId = accountId;
    this.vaultIds = vaultIds;
    this.keys = [first];
  }

  static async open(): Promise<World> {
    const { id, key } = await service.signUp();
    const vaultIds = [await service.newVault(key, "A"), await service.newVault(key, "B")];
    const reach = await reachOf(key);
    if (reach === null) throw new Error("the first key is dead");
    return new World(id, vaultIds, { id: "first", key, reach });
  }

  keyAt(index: number): Key {
    return at(this.keys, index);
  }
}

function at<Item>(items: readonly Item[], index: number): Item {
  const item = items[index % items.length];
  if (item === undefined) throw new Error("there is none");
  return item;
}

/** As the service says it; null: the key is dead. */
async function reachOf(key: string): Promise<Reach | null> {
  const { status, body } = await service.ask("GET", "/api/account", { key });
  if (status === 401) return null;
  const { accessLevel: level } = body["account"] as { accessLevel: string };
  const held = body["credential"] as { scopes: Scope[] | null; vaultIds: string[] | null; expiresAt: string | null };
  const allowed = level === "owner" ? SCOPES : AGENT_SCOPES;
  return {
    level,
    scopes: new Set(allowed.filter((scope) => held.scopes === null || held.scopes.includes(scope))),
    vaultIds: held.vaultIds === null ? null : new Set(held.vaultIds),
    expiresAt: held.expiresAt,
  };
}

function excessOf(wider: Reach, than: Reach): string[] {
  const excess: string[] = [];
  if (wider.level === "owner" && than.level !== "owner") excess.push("level");
  if (!isWithin(wider.scopes, than.scopes)) excess.push("scopes");
  if (than.vaultIds !== null && !(wider.vaultIds !== null && isWithin(wider.vaultIds, than.vaultIds)))
    excess.push("vaults");
  if (than.expiresAt !== null && (wider.expiresAt === null || wider.expiresAt > than.expiresAt)) excess.push("time");
  return excess;
}

function isWithin(items: ReadonlySet<string>, held: ReadonlySet<string>): boolean {
  return [...items].every((item) => held.has(item));
}

/** What every step brings along; each kind takes what it needs. */
interface Wish {
  readonly maker: number;
  readonly target: number;
  readonly signer: number;
  readonly bound: boolean;
  readonly proven: boolean;
  readonly scopes: readonly Scope[] | undefined;
  readonly vaults: readonly number[] | undefined;
  readonly hours: number | undefined;
}

type Step = (world: World, wish: Wish) => Promise<void>;

const STEPS = {
  async create(world, wish) {
    const maker = world.keyAt(wish.maker);
    const days = wish.hours === undefined ? {} : { expiresInDays: Math.ceil(wish.hours / 24) };
    const json = { name: "K", ...rightsOf(world, wish), ...days, ...(wish.bound ? bindingOf(world, wish) : {}) };
    const before = await reachOf(maker.key);
    const made = await service.ask("POST", "/api/auth/api-keys", { key: maker.key, json });
    await takeKey("create", world, made, before, "id");
  },
  async rotate(world, wish) {
    const [maker, { id }] = [world.keyAt(wish.maker), world.keyAt(wish.target)];
    const before = await reachOf(maker.key);
    const json = { overlapHours: Math.min(168, Math.ceil(wish.hours ?? 0)) };
    const made = await service.ask("POST", `/api/auth/api-keys/${id}/rotate`, { key: maker.key, json });
    await takeKey("rotate", world, made, before, "id");
  },
  async invite(world, wish) {
    const maker = world.keyAt(wish.maker);
    const before = await reachOf(maker.key);
    const lifetime = wish.hours === undefined ? {} : { expiresInHours: wish.hours };
    const json = { name: "I", ...rightsOf(world, wish), ...lifetime };
    const made = await service.ask("POST", "/api/auth/invites", { key: maker.key, json });
    if (made.status !== 201 || before === null) return;
    count("invite");
    world.invites.push({ code: String(made.body["code"]), maker: before });
  },
  async redeem(world, wish) {
    if (world.invites.length === 0) return;
    const { code, maker } = at(world.invites, wish.target);
    const made = await redeem(service, claimOf(at(world.signers, wish.signer), code, service.clock.now()));
    await takeKey("redeem", world, made, maker, "keyId");
    if (made.status === 201) expect(world.keys.at(-1)?.reach.level).toBe("agent");
  },
  async link(world, wish) {
    const { key } = world.keyAt(wish.maker);
    const { status, body } = await service.ask("POST", "/api/account/link-chain/challenge", { key });
    if (status !== 200) return;
    const signer = at(world.signers, wish.signer);
    const { chainAddress } = signer;
    const nonce = String(body["nonce"]);
    const text = renderLinkText({ ...TEST_PLACE, chainAddress, accountId: world.accountId, nonce });
    const json = { chainAddress, signature: signer.sign(text), nonce };
    if ((await service.ask("POST", "/api/account/link-chain", { key, json })).status === 200) count("link");
  },
  async revoke(world, wish) {
    // The first key stays: a world without an owner has nothing more to tell.
    const { id } = world.keyAt(wish.target);
    const { status } = await service.ask("DELETE", `/api/auth/api-keys/${id}`, { key: world.keyAt(wish.maker).key });
    if (status === 204) count("revoke");
  },
  wait: (_world, { hours = 1, proven }) => {
    service.clock.advance((proven ? hours : -hours) * HOUR);
    return Promise.resolve();
  },
} satisfies Record<string, Step>;

function rightsOf({ vaultIds }: World, { scopes, vaults }: Wish) {
  return {
    ...(scopes === undefined ? {} : { scopes }),
    ...(vaults === undefined ? {} : { vaultIds: vaults.map((index) => at(vaultIds, index)) }),
  };
}

function bindingOf({ accountId, signers }: World, wish: Wish) {
  const signer = at(signers, wish.signer);
  const { chainAddress } = signer;
  const signedAt = toTimestamp(service.clock.now());
  const text = renderKeyAddressText({ ...TEST_PLACE, chainAddress, accountId, signedAt });
  return { chainAddress, ...(wish.proven ? { addressProof: { signature: signer.sign(text), signedAt } } : {}) };
}

/** Adds the key of an answer, if there is one, and compares it with what made it. */
async function takeKey(kind: string, world: World, made: TestAnswer, maker: Reach | null, id: string): Promise<void> {
  if (made.status !== 201) return;
  count(kind);
  const key = String(made.body["key"]);
  const reach = await reachOf(key);
  if (maker === null || reach === null) throw new Error(`${kind}: a key was made by, or is, a dead one`);
  expect([kind, ...excessOf(reach, maker)]).toEqual([kind]);
  world.keys.push({ id: String(made.body[id]), key, reach });
}

function count(kind: string): void {
  accepted.set(kind, (accepted.get(kind) ?? 0) + 1);
}

const index = fc.nat({ max: 7 });
const wishes = fc.record({
  maker: fc.oneof({ weight: 2, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: index }),
  target: index,
  signer: index,
  bound: fc.boolean(),
  proven: fc.oneof({ weight: 3, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
  scopes: fc.option(fc.uniqueArray(fc.constantFrom(...SCOPES), { minLength: 1 }), { nil: undefined }),
  vaults: fc.option(fc.uniqueArray(fc.nat({ max: 1 }), { minLength: 1 }), { nil: undefined, freq: 2 }),
  hours: fc.option(fc.double({ min: 0.01, max: 72, noNaN: true }), { nil: undefined, freq: 1 }),
});
const kinds = fc.constantFrom(...(Object.keys(STEPS) as (keyof typeof STEPS)[]));

const PLAIN: Wish = {
  maker: 0,
  target: 0,
  signer: 0,
  bound: false,
  proven: true,
  scopes: undefined,
  vaults: undefined,
  hours: undefined,
};
/** The straight ways to try it. */
const ATTEMPTS: [keyof typeof STEPS, Wish][][] = [
  [
    ["create", { ...PLAIN, bound: true }],
    ["link", PLAIN],
  ],
  [
    ["invite", PLAIN],
    ["redeem", PLAIN],
    ["rotate", { ...PLAIN, target: 1, hours: 24 }],
    ["link", PLAIN],
  ],
  [
    ["link", PLAIN],
    ["create", { ...PLAIN, bound: true, hours: 24 }],
    ["link", { ...PLAIN, signer: 1 }],
    ["link", PLAIN],
  ],
  [
    ["create", { ...PLAIN, bound: true, hours: 24 }],
    ["wait", { ...PLAIN, hours: 25 }],
    ["link", PLAIN],
    ["wait", { ...PLAIN, hours: 25, proven: false }],
  ],
  [
    ["create", { ...PLAIN, scopes: ["invites:write", "api-keys:write", "files:read"], vaults: [0], hours: 24 }],
    ["invite", { ...PLAIN, maker: 1 }],
    ["redeem", PLAIN],
    ["create", { ...PLAIN, maker: 1 }],
    ["rotate", { ...PLAIN, maker: 1, target: 0 }],
  ],
  [
    ["create", PLAIN],
    ["invite", { ...PLAIN, maker: 1 }],
    ["revoke", { ...PLAIN, target: 1 }],
    ["redeem", PLAIN],
  ],
];

it("no sequence of create, rotate, invite, redeem and link makes a key wider than its maker, or widens one that is there [D4-no-wider-key]", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(kinds, wishes), { minLength: 4, maxLength: 16, size: "max" }), async (steps) => {
      const world = await World.open();
      for (const [kind, wish] of steps) {
        await STEPS[kind](world, wish);
        for (const { key, reach } of world.keys) {
          const now = await reachOf(key);
          if (now !== null) expect([kind, ...excessOf(now, reach)]).toEqual([kind]);
        }
      }
    }),
    { numRuns: RUNS + ATTEMPTS.length, examples: ATTEMPTS.map((steps) => [steps]) },
  );
  // A property that nothing ever passes through proves nothing.
  for (const kind of ["create", "rotate", "invite", "redeem", "link", "revoke"]) {
    expect([kind, accepted.get(kind) ?? 0]).not.toEqual([kind, 0]);
  }
});
