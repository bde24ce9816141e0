import { inProcessTransport } from "../../http/transports.ts";
import {
  isRecordForWriting,
  KeyDisposedError,
  newVaultKeyRecord,
  NO_END,
  openLadderStep,
  openVaultKeys,
  parseLadderStep,
  parseRecord,
  placeOf,
  randomVaultKey,
  type VaultKeyWrap,
  type VaultView,
  webPlatform,
} from "@coffer/crypto";
import { expect, it } from "vitest";
import { afterAwait } from "../../../../../test/kit/after-await.ts";
import { statementSigner } from "../../signers/chain-key.ts";
import { connectionOf, createClient } from "../../client.ts";
import { toBase64, toHex } from "../../transfer/digest.ts";
import type { VaultPin } from "../trust/pins.ts";
import type { VaultRegistry } from "../vault-registry.ts";
import { KeyRing } from "./key-ring.ts";
import { OwnedKeys } from "./owned-keys.ts";

const flip = (key: Uint8Array): Uint8Array => key.map((byte) => byte ^ 0xff);

const VAULT_ID = "0197b6f0-0000-7000-8000-000000000001";

it("returns no key for a record that its creator did not sign, also where a true one has the same check", async () => {
  const signer = await statementSigner(new Uint8Array(32).fill(3));
  const author = { address: new Uint8Array(32).fill(1), signer };
  const owner = { address: author.address, signingKey: signer.publicKey, since: 1n, endsAt: NO_END };
  const numbers = { generation: 1n, floor: 0n, base: 1n, time: 0n, plainNames: false };
  const view: VaultView = { ...numbers, vault: new Uint8Array(32).fill(2), owner, members: [], former: [] };
  // "Sealed" is the key with its bits turned over, and one byte more.
  const wrap: VaultKeyWrap = {
    wrap: (key) => Promise.resolve(Uint8Array.of(...flip(key), 0)),
    unwrap: (items) => Promise.resolve(items.map(({ sealedKey }) => flip(sealedKey.slice(0, -1)))),
  };
  const made = await newVaultKeyRecord(view, wrap, author);
  const { keyId, bytes, generation } = made.record;
  const listed = {
    keyId: toHex(keyId),
    record: toBase64(bytes),
    generation: Number(generation),
    after: 0,
    current: true,
    createdAt: "2026-11-22T12:00:00.000Z",
  };
  const connection = connectionOf(
    createClient({
      baseUrl: "http://127.0.0.1:1",
      transport: () => Promise.resolve(Response.json({ keys: [listed], nextCursor: null })),
    }),
  );
  const ring = () =>
    new KeyRing(
      { connection, wrap: () => wrap } as unknown as VaultRegistry,
      { vaultId: VAULT_ID } as VaultPin,
      {
        view: () => Promise.resolve(view),
        author: () => author,
        numbers: numbersOf(),
      },
      new OwnedKeys(),
    );
  expect(await ring().find(made.record)).toBeDefined();
  const spoiled = Uint8Array.from(bytes, (byte, at) => (at === bytes.length - 1 ? byte ^ 1 : byte));
  const forged = parseRecord(spoiled);
  expect(forged.check).toEqual(made.record.check);
  await expect(ring().find(forged)).rejects.toMatchObject({ code: "damaged", step: "record" });
});

/** A memory that is asked nothing but what it is told here. */
function numbersOf() {
  const made = new Set<string>();
  return {
    isBaseConfirmed: () => Promise.resolve(true),
    isMakerConfirmed: () => Promise.resolve(true),
    recordMakers: () => Promise.resolve(),
    recordMade: (name: string) => Promise.resolve(void made.add(name)),
    isMade: (name: string) => Promise.resolve(made.has(name)),
  };
}

const END = 1_800_000_000_000n;

/** A service that keeps one current record for each place, as the real one does. */
async function openPlaces() {
  const signer = await statementSigner(new Uint8Array(32).fill(3));
  const author = { address: new Uint8Array(32).fill(1), signer };
  const owner = { address: author.address, signingKey: signer.publicKey, since: 1n, endsAt: NO_END };
  const ending = { ...owner, address: new Uint8Array(32).fill(7), endsAt: END, until: null };
  const viewAt = (time: bigint): VaultView => ({
    generation: 1n,
    floor: 0n,
    base: 1n,
    time,
    plainNames: false,
    vault: new Uint8Array(32).fill(2),
    owner,
    members: [ending],
    former: [],
  });
  const wrap: VaultKeyWrap = {
    wrap: (key) => Promise.resolve(Uint8Array.of(...flip(key), 0)),
    unwrap: (items) => Promise.resolve(items.map(({ sealedKey }) => flip(sealedKey.slice(0, -1)))),
  };
  const kept = new Map<string, { readonly record: string }>();
  const laid: ({ readonly step: string }[] | undefined)[] = [];
  const transport = inProcessTransport(async (request) => {
    if (request.url.includes("/keys/steps") && request.method === "GET")
      return Response.json({ steps: [], nextCursor: null });
    if (request.method === "GET") return Response.json({ keys: [...kept.values()], nextCursor: null });
    const { record, replaces, steps } = (await request.json()) as {
      record: string;
      replaces?: string;
      steps?: { readonly step: string }[];
    };
    laid.push(steps);
    const { after, generation, keyId } = parseRecord(Uint8Array.from(Buffer.from(record, "base64")));
    const key = {
      keyId: toHex(keyId),
      record,
      generation: Number(generation),
      after: Number(after),
      current: true,
      createdAt: "2026-11-22T12:00:00.000Z",
    };
    expect([replaces, kept.has(`${generation} ${after}`)]).toEqual([undefined, false]);
    kept.set(`${generation} ${after}`, key);
    return Response.json({ key }, { status: 201 });
  });
  const connection = connectionOf(
    createClient({ baseUrl: "http://127.0.0.1:1", transport, credentials: { apiKey: "any" } }),
  );
  const more = { platform: webPlatform, signer: { statements: signer }, clock: () => 0 };
  const registry = { connection, wrap: () => wrap, ...more } as unknown as VaultRegistry;
  const ring = (time: bigint, isConfirmed = true, owned = new OwnedKeys()) =>
    new KeyRing(
      registry,
      { vaultId: VAULT_ID } as VaultPin,
      {
        view: () => Promise.resolve(viewAt(time)),
        author: () => author,
        numbers: { ...numbersOf(), isBaseConfirmed: () => Promise.resolve(isConfirmed) },
      },
      owned,
    );
  return { ring, viewAt, kept, laid, wrap, platform: more.platform };
}

it("writes with a key of exactly its place: another one after an end, which takes the place of none", async () => {
  const { kept, laid, ring, viewAt } = await openPlaces();
  const [before, after] = [viewAt(END - 1n), viewAt(END)];
  const first = await ring(END - 1n).forWriting(before, placeOf(before), "new");
  const one = ring(END);
  const second = await one.forWriting(after, placeOf(after), "new");
  expect([first.record.after, second.record.after]).toEqual([0n, END]);
  expect(second.key.reveal()).not.toEqual(first.key.reveal());
  expect([...kept.keys()]).toEqual(["1 0", `1 ${END}`]);
  // The step from the new key to the one before it, also within a generation.
  expect(laid).toEqual([undefined, [{ to: toHex(first.record.keyId), step: expect.any(String) as string }]]);
  // Another process uses what stands; nobody writes under the key of before.
  expect((await ring(END).forWriting(after, placeOf(after), "new")).record.keyId).toEqual(second.record.keyId);
  expect(isRecordForWriting(after, first.record)).toBe(false);
  expect(isRecordForWriting(before, second.record)).toBe(false);
});

it("lays no step while nothing confirms the base of the ladder [K1]", async () => {
  const { laid, ring, viewAt } = await openPlaces();
  const [before, after] = [viewAt(END - 1n), viewAt(END)];
  await ring(END - 1n).forWriting(before, placeOf(before), "new");
  await ring(END, false).forWriting(after, placeOf(after), "new");
  expect(laid).toEqual([undefined, undefined]);
});

it("publishes nothing under a key of zeros, after whichever await its keys are disposed, and keeps none of them", async () => {
  const kinds = new Set<string>();
  for (let nth = 1; ; nth += 1) {
    const { kept, laid, ring, viewAt, wrap, platform } = await openPlaces();
    const [before, after] = [viewAt(END - 1n), viewAt(END)];
    const lower = await ring(END - 1n).forWriting(before, placeOf(before), "new");
    const owned = new OwnedKeys();
    const { awaits, error } = await afterAwait(
      nth,
      () => ring(END, true, owned).forWriting(after, placeOf(after), "new"),
      () => {
        owned.dispose();
      },
    );
    kinds.add(error === null ? "done" : error instanceof KeyDisposedError ? "disposed" : (error as Error).message);
    const published = [...kept.values()].map(({ record }) => parseRecord(Buffer.from(record, "base64")));
    for (const { record, key } of await openVaultKeys(after, published, wrap)) {
      expect(key.reveal()).not.toEqual(new Uint8Array(32));
      if (record.after !== END) continue;
      // The step down, if it came with the record, holds the lower key under the higher one.
      for (const { step } of laid[1] ?? []) {
        const parsed = parseLadderStep(Buffer.from(step, "base64"));
        const opened = await openLadderStep(platform, after, { record, key }, parsed, lower.record);
        expect(opened.key.reveal()).toEqual(lower.key.reveal());
      }
    }
    if (awaits < nth) break;
    // A second disposal finds none that the first, or what came after it, has left.
    const late = randomVaultKey(after.vault, placeOf(after));
    owned.own(late);
    expect(() => late.reveal()).toThrow(KeyDisposedError);
  }
  expect([...kinds].sort()).toEqual(["disposed", "done"]);
});
