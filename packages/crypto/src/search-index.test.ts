import { describe, expect, it } from "vitest";
import { encodeText } from "./bytes.ts";
import { webPlatform } from "./platform/web.ts";
import { decryptSearchIndex, encryptSearchIndex } from "./search-index.ts";
import { randomVaultKey } from "./vault-key.ts";

const PLACE = { generation: 1n, after: 0n };
const vault = new Uint8Array(32).fill(1);
const key = randomVaultKey(vault, PLACE);
const place = { vaultId: crypto.randomUUID(), keyId: new Uint8Array(32).fill(2) };
const text = encodeText("salary of the director.pdf");

describe("the local index of names", () => {
  it("opens for one vault and one key, and holds nothing in the clear [S21]", async () => {
    const encrypted = await encryptSearchIndex(webPlatform, key, place, text);
    expect(await decryptSearchIndex(webPlatform, key, place, encrypted)).toEqual(text);
    expect(Buffer.from(encrypted).includes("salary")).toBe(false);
    const others = [
      [randomVaultKey(vault, PLACE), place],
      [key, { ...place, vaultId: crypto.randomUUID() }],
      [key, { ...place, keyId: vault }],
    ] as const;
    for (const [otherKey, other] of others)
      await expect(decryptSearchIndex(webPlatform, otherKey, other, encrypted)).rejects.toMatchObject({
        code: "wrong_key",
      });
    const last = encrypted.length - 1;
    const altered = encrypted.with(last, (encrypted[last] ?? 0) ^ 1);
    await expect(decryptSearchIndex(webPlatform, key, place, altered)).rejects.toMatchObject({ code: "damaged" });
  });
});
