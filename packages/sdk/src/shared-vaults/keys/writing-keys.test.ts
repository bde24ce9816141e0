/** Under which vault keys a client writes (encryption design §9.1), against a service that keeps one current record for each place. */
import { inProcessTransport } from "../../http/transports.ts";
import {
  newVaultKeyRecord,
  NO_END,
  parseRecord,
  placeOf,
  webPlatform,
  type Author,
  type VaultKeyRecord,
  type VaultKeyWrap,
  type VaultView,
} from "@coffer/crypto";
import { beforeEach, describe, expect, test } from "vitest";
import { statementSigner } from "../../signers/chain-key.ts";
import { connectionOf, createClient } from "../../client.ts";
import { toBase64, toHex } from "../../transfer/digest.ts";
import { SeenNumbers } from "../trust/seen-numbers.ts";
import { memoryPins, type PinStore, type VaultPin } from "../trust/pins.ts";
import type { VaultRegistry } from "../vault-registry.ts";
import { KeyRing } from "./key-ring.ts";
import { OwnedKeys } from "./owned-keys.ts";

const OBJECT = `0x${"5a".repeat(32)}`;
const PIN = { vaultId: "0197b6f0-0000-7000-8000-000000000001", chainObjectId: OBJECT } as VaultPin;

const flip = (key: Uint8Array): Uint8Array => key.map((byte) => byte ^ 0xff);
/** "Sealed" is the key with its bits turned over, and one byte more. */
const wrap: VaultKeyWrap = {
  wrap: (key) => Promise.resolve(Uint8Array.of(...flip(key), 0)),
  unwrap: (items) => Promise.resolve(items.map(({ sealedKey }) => flip(sealedKey.slice(0, -1)))),
};

async function person(byte: number): Promise<Author> {
  return { address: new Uint8Array(32).fill(byte), signer: await statementSigner(new Uint8Array(32).fill(byte)) };
}
const [me, other] = [await person(1), await person(2)];

const entry = ({ address, signer }: Author) => ({
  address,
  signingKey: signer.publicKey,
  since: 1n,
  endsAt: NO_END,
  until: null,
});
const VIEW: VaultView = {
  vault: new Uint8Array(32).fill(0x5a),
  generation: 1n,
  floor: 0n,
  base: 1n,
  time: 0n,
  plainNames: false,
  owner: entry(me),
  members: [entry(other)],
  former: [],
};
/** The other one was never a member: one node made that up. */
const HONEST: VaultView = { ...VIEW, members: [] };

/** What the service has, oldest first; the last one is current. */
let records: VaultKeyRecord[];
/** Called after each record that comes. */
let afterwards: () => Promise<void>;
let isAnswerLost: boolean;
let pins: PinStore;
/** Milliseconds since 1970; pauses pass at once. */
let now: number;
let view: VaultView;

beforeEach(() => {
  records = [];
  afterwards = () => Promise.resolve();
  isAnswerLost = false;
  pins = memoryPins();
  now = 1_800_000_000_000;
  view = VIEW;
});

const made = async (by: Author): Promise<VaultKeyRecord> => (await newVaultKeyRecord(VIEW, wrap, by)).record;

async function answer(request: Request): Promise<Response> {
  if (request.url.includes("/keys/steps")) return Response.json({ steps: [], nextCursor: null });
  const listed = records.map((record, at) => ({
    keyId: toHex(record.keyId),
    record: toBase64(record.bytes),
    generation: 1,
    after: 0,
    current: at === records.length - 1,
    createdAt: "2026-11-22T12:00:00.000Z",
  }));
  if (request.method === "GET") return Response.json({ keys: listed, nextCursor: null });
  const body = (await request.json()) as { record: string; replaces?: string };
  const current = records.at(-1);
  if (body.replaces !== (current && toHex(current.keyId)))
    return Response.json({ error: { code: "key_exists", message: "x" } }, { status: 409 });
  const record = parseRecord(Uint8Array.from(Buffer.from(body.record, "base64")));
  records.push(record);
  await afterwards();
  if (isAnswerLost) throw new TypeError("the connection is gone");
  const key = { keyId: toHex(record.keyId), record: body.record, generation: 1, after: 0, current: true };
  return Response.json({ key: { ...key, createdAt: "2026-11-22T12:00:00.000Z" } }, { status: 201 });
}

/** A process of this machine. */
function newProcess({ isWitnessed = false } = {}) {
  const clock = {
    now: () => performance.now(),
    random: () => 0,
    after: (ms: number, action: () => void) => {
      if (ms > 4_000) return () => undefined;
      now += ms;
      const timer = setImmediate(action);
      return () => {
        clearImmediate(timer);
      };
    },
  };
  const connection = connectionOf(
    createClient({
      baseUrl: "http://127.0.0.1:1",
      transport: inProcessTransport(answer),
      clock,
      retry: { limit: 0 },
      credentials: { apiKey: "any" },
    }),
  );
  const chain = {
    network: isWitnessed ? { witnessUrls: ["x"] } : {},
    newestShown: () => null,
    forgetVault: () => undefined,
  };
  const signer = { chainAddress: `0x${toHex(me.address)}`, statements: me.signer };
  const registry = {
    connection,
    chain,
    pins,
    signer,
    platform: webPlatform,
    clock: () => now,
    wrap: () => wrap,
  } as unknown as VaultRegistry;
  const numbers = new SeenNumbers(registry, PIN);
  const owned = new OwnedKeys();
  const ring = new KeyRing(registry, PIN, { view: () => Promise.resolve(view), author: () => me, numbers }, owned);
  return {
    forget: () => {
      ring.forgetWriting();
    },
    key: async (use: "new" | "again" | "rotation", seen = VIEW) =>
      (await ring.forWriting(seen, placeOf(seen), use)).record,
  };
}

describe("content that the caller brings whole", () => {
  test("goes under the key that is there, and under an own one where the answer was lost", async () => {
    records = [await made(other)];
    expect((await newProcess().key("new")).keyId).toEqual(records[0]?.keyId);
    records = [];
    isAnswerLost = true;
    const own = await newProcess().key("new");
    expect([records.length, records[0]?.keyId]).toEqual([1, own.keyId]);
  });

  test("replaces no record whose maker was added a moment ago", async () => {
    records = [await made(other)];
    expect((await newProcess().key("new", HONEST)).maker).toEqual(other.address);
    expect(records).toHaveLength(1);
  });
});

describe("what was stored before, encrypted again", () => {
  test("goes under another member's key after ten seconds in which the node did not take it back [N4]", async () => {
    records = [await made(other)];
    const begun = now;
    expect((await newProcess().key("again")).maker).toEqual(other.address);
    expect(now - begun).toBe(10_000);
    // Another process of this machine saw the maker then, and waits no more.
    expect((await newProcess().key("again")).maker).toEqual(other.address);
    expect(now - begun).toBe(10_000);
  });

  test("goes under no key of a member whom the node has made up for less than that [N4]", async () => {
    records = [await made(other)];
    const process = newProcess();
    await process.key("new");
    view = HONEST;
    await expect(process.key("again")).rejects.toMatchObject({ code: "generation_moved" });
  });

  test("waits for nothing beside a witness, nor for a key of this machine's own", async () => {
    records = [await made(other)];
    const begun = now;
    expect((await newProcess({ isWitnessed: true }).key("again")).maker).toEqual(other.address);
    records = [];
    const own = await newProcess().key("new");
    expect((await newProcess().key("again")).keyId).toEqual(own.keyId);
    expect(now).toBe(begun);
  });

  test("takes the signer's name in a record for no proof that this machine made the key", async () => {
    records = [await made(me)];
    const begun = now;
    await newProcess().key("again");
    expect(now - begun).toBe(10_000);
  });
});

describe("a rotation", () => {
  test("writes under its own key, which takes the place of any other, and a resumed one knows it", async () => {
    records = [await made(other)];
    const noted: unknown[] = [];
    afterwards = async () => void noted.push((await pins.loadHighest(OBJECT)).made?.length);
    const own = await newProcess().key("rotation");
    expect([own.maker, records.length]).toEqual([me.address, 2]);
    // On disk before it was sent.
    expect(noted).toEqual([1]);
    expect((await newProcess().key("rotation")).keyId).toEqual(own.keyId);
    expect(records).toHaveLength(2);
  });

  test("believes no record in its own name that this machine has not noted", async () => {
    records = [await made(me)];
    await newProcess().key("rotation");
    expect(records).toHaveLength(2);
  });

  test("stops after three replacements by others at one place", async () => {
    const process = newProcess();
    afterwards = async () => void records.push(await made(other));
    for (let at = 0; at < 3; at += 1) {
      expect((await process.key("rotation")).maker).toEqual(me.address);
      process.forget();
    }
    await expect(process.key("rotation")).rejects.toMatchObject({ code: "generation_moved" });
    expect(records.filter(({ maker }) => toHex(maker) === toHex(me.address))).toHaveLength(3);
  });
});
