import { newVaultKeyRecord, NO_END, parseRecord, type VaultKeyWrap, type VaultView } from "@coffer/crypto";
import { expect, it } from "vitest";
import { statementSigner } from "../../chain/chain-key.ts";
import { connectionOf, createClient } from "../../client.ts";
import { toBase64, toHex } from "../../digest.ts";
import type { VaultPin } from "../memory/pins.ts";
import type { VaultSession } from "../session.ts";
import { KeyRing } from "./key-ring.ts";

const VAULT_ID = "0197b6f0-0000-7000-8000-000000000001";

it("answers no key for a record that its creator did not sign, also where a true one has the same check", async () => {
  const signer = await statementSigner(new Uint8Array(32).fill(3));
  const author = { address: new Uint8Array(32).fill(1), signer };
  const owner = { address: author.address, signingKey: signer.publicKey, since: 1n, endsAt: NO_END };
  const numbers = { generation: 1n, floor: 0n, base: 1n, time: 0n, plainNames: false };
  const view: VaultView = { ...numbers, vault: new Uint8Array(32).fill(2), owner, members: [], former: [] };
  // "Sealed" is the key itself, with one byte more.
  const wrap: VaultKeyWrap = {
    wrap: (key) => Promise.resolve(Uint8Array.of(...key, 0)),
    unwrap: (items) => Promise.resolve(items.map(({ sealedKey }) => sealedKey.slice(0, -1))),
  };
  const made = await newVaultKeyRecord(view, wrap, author);
  const { keyId, bytes, generation } = made.record;
  const listed = {
    ...{ keyId: toHex(keyId), record: toBase64(bytes), generation: Number(generation), current: true },
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
      { connection, wrap: () => wrap } as unknown as VaultSession,
      { vaultId: VAULT_ID } as VaultPin,
      () => Promise.resolve(view),
      () => author,
    );
  expect(await ring().find(made.record)).toBeDefined();
  const spoiled = Uint8Array.from(bytes, (byte, at) => (at === bytes.length - 1 ? byte ^ 1 : byte));
  const forged = parseRecord(spoiled);
  expect(forged.check).toEqual(made.record.check);
  await expect(ring().find(forged)).rejects.toMatchObject({ code: "damaged", step: "record" });
});
