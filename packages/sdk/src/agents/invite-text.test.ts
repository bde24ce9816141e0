/** The texts of invites, held to bytes that are written out here (file-format §13). */
import { createHmac, hash } from "node:crypto";
import { renderInviteCode } from "@coffer/contract";
import { describe, expect, it } from "vitest";
import {
  MAX_TOLD,
  parseInviteText,
  renderInviteText,
  type Told,
  TOLD_NOTHING,
  type ToldVault,
  type ToldVaults,
} from "./invite-text.ts";
import { checkAddressProof } from "../account/address-proof.ts";

const CODE = renderInviteCode(new Uint8Array(32).fill(7));
const CHAIN_ID = "4vJ9JU1bJJE96FWSJKvHsmmFADCg4gpZQff4P3bkLKi";
const toldOf = (index: number): ToldVault => ({
  vaultId: `0000000${String(index % 10)}-1111-4222-8333-${String(index).padStart(12, "0")}`,
  chainObjectId: `0x${"ab".repeat(32)}`,
  ownerAddress: `0x${"cd".repeat(32)}`,
});
const TOLD: Told = { accessUntil: null, vaults: { chainId: CHAIN_ID, networkDigest: null, vaults: [toldOf(1)] } };
const END = "2026-11-23T12:15:00.000Z";
const ENCODED = [
  "01ffffffffffffffff2b",
  Buffer.from(CHAIN_ID).toString("hex"),
  "00000001111142228333000000000001",
  "ab".repeat(32),
  "cd".repeat(32),
].join("");

const HEAD = ENCODED.slice(0, 18);

function textOf(hex: string, secret = "A".repeat(43)): string {
  return `${CODE}.${secret}.${Buffer.from(hex, "hex").toString("base64url")}`;
}

describe("an invite's text", () => {
  it("tells the object, the owner and the network of its vaults in one encoding", () => {
    const text = renderInviteText(CODE, TOLD);
    expect(Buffer.from(text.split(".")[2] ?? "", "base64url").toString("hex")).toBe(ENCODED);
    expect(parseInviteText(` ${text}\n`)).toMatchObject({ code: CODE, told: TOLD });
    const many = Array.from({ length: MAX_TOLD }, (_, index) => toldOf(index)).reverse();
    const told = { accessUntil: null, vaults: { chainId: CHAIN_ID, networkDigest: null, vaults: many } };
    const read = parseInviteText(renderInviteText(CODE, told)).told.vaults?.vaults ?? [];
    expect(read).toHaveLength(MAX_TOLD);
    expect(new Set(read.map(({ vaultId }) => vaultId))).toEqual(new Set(many.map(({ vaultId }) => vaultId)));
  });

  it("shows when the access ends, with vaults and without [E17]", () => {
    const told = (text: string) => Buffer.from(text.split(".")[2] ?? "", "base64url").toString("hex");
    const alone = renderInviteText(CODE, { accessUntil: END, vaults: null });
    expect(told(alone)).toBe(`01${Date.parse(END).toString(16).padStart(16, "0")}`);
    expect(parseInviteText(alone).told).toEqual({ accessUntil: END, vaults: null });
    const both = { ...TOLD, accessUntil: END };
    expect(parseInviteText(renderInviteText(CODE, both)).told).toEqual(both);
    expect(() => renderInviteText(CODE, { accessUntil: "2026-11-23T12:14:00.000Z", vaults: null })).toThrow(RangeError);
  });

  const DIGEST = "9f".repeat(32);
  const WITH_DIGEST = `02${ENCODED.slice(2, -160)}${DIGEST}${ENCODED.slice(-160)}`;
  const TELLING_DIGEST: Told = { ...TOLD, vaults: { chainId: CHAIN_ID, networkDigest: DIGEST, vaults: [toldOf(1)] } };

  it("tells the digest of the network's file, in a version of its own [issue 51]", () => {
    const text = renderInviteText(CODE, TELLING_DIGEST);
    expect(Buffer.from(text.split(".")[2] ?? "", "base64url").toString("hex")).toBe(WITH_DIGEST);
    expect(parseInviteText(text).told).toEqual(TELLING_DIGEST);
    const most = {
      chainId: "z".repeat(64),
      networkDigest: DIGEST,
      vaults: Array.from({ length: MAX_TOLD }, (_, index) => toldOf(index)),
    };
    expect(
      parseInviteText(renderInviteText(CODE, { accessUntil: END, vaults: most })).told.vaults?.vaults,
    ).toHaveLength(MAX_TOLD);
    for (const wrong of ["9f".repeat(31), "9F".repeat(32), "no digest"])
      expect(() => renderInviteText(CODE, { ...TOLD, vaults: { ...most, networkDigest: wrong } })).toThrow(RangeError);
  });

  it("goes on without telling anything: a code, and a code with a secret", () => {
    expect(parseInviteText(CODE)).toEqual({ code: CODE, secret: null, told: TOLD_NOTHING, toldBytes: null });
    expect(parseInviteText(renderInviteText(CODE))).toMatchObject({ code: CODE, told: TOLD_NOTHING });
    expect(renderInviteText(CODE)).toMatch(/^cofi_\w{49}\.[\w-]{43}$/);
  });

  const vault = ENCODED.slice(-160);
  const wrong: Record<string, string> = {
    "another version": `03${ENCODED.slice(2)}`,
    "the version with a digest, and none": `02${ENCODED.slice(2)}`,
    "a digest and no vault": WITH_DIGEST.slice(0, -160),
    "a digest and an end alone": `02${Date.parse(END).toString(16).padStart(16, "0")}`,
    "a digest in the version without": `01${WITH_DIGEST.slice(2)}`,
    "no vault": ENCODED.slice(0, -160),
    "a byte too few": ENCODED.slice(0, -2),
    "a byte too many": `${ENCODED}00`,
    "a vault twice": `${ENCODED}${vault}`,
    "vaults out of order": `${ENCODED}${"00".repeat(16)}${vault.slice(32)}`,
    "too many vaults": `${ENCODED.slice(0, -160)}${Array.from({ length: MAX_TOLD + 1 }, (_, at) => at.toString(16).padStart(32, "0") + vault.slice(32)).join("")}`,
    "a chain id that ends early": `${HEAD}20${ENCODED.slice(20)}`,
    "a chain id that is none": `${HEAD}2b30${ENCODED.slice(22)}`,
    nothing: "01",
    "neither an end nor vaults": HEAD,
    "an end that is no quarter of an hour": `01${(Date.parse(END) + 1).toString(16).padStart(16, "0")}`,
  };
  it.each(Object.entries(wrong))("is none with %s", (_, hex) => {
    expect(() => parseInviteText(textOf(hex))).toThrow(expect.objectContaining({ code: "invalid_request" }) as Error);
  });

  it("is none in another form of its characters", () => {
    const text = textOf(ENCODED);
    expect(parseInviteText(text).told).toEqual(TOLD);
    for (const other of [`${text}=`, `${text}.`, `${text}A`, text.replace(/.$/, "!"), `${text}${"A".repeat(7000)}`])
      expect(() => parseInviteText(other)).toThrow(expect.objectContaining({ code: "invalid_request" }) as Error);
  });

  it("is not made of what no vault can be", () => {
    const telling = (vaults: ToldVaults): Told => ({ accessUntil: null, vaults });
    const broken = { ...toldOf(1), ownerAddress: `0x${"zz".repeat(32)}` };
    expect(() => renderInviteText(CODE, telling({ chainId: CHAIN_ID, networkDigest: null, vaults: [broken] }))).toThrow(
      RangeError,
    );
    expect(() =>
      renderInviteText(CODE, telling({ chainId: "no chain", networkDigest: null, vaults: [toldOf(1)] })),
    ).toThrow(RangeError);
  });
});

describe("the proof of an address", () => {
  const origin = "https://coffer.example";
  const chainAddress = `0x${"12".repeat(32)}`;
  const secret = Buffer.alloc(32, 3);
  const text = `${CODE}.${secret.toString("base64url")}`;
  const proof = (key: Buffer, ...more: Buffer[]): string => {
    const places = [Buffer.from("coffer/invite/v1\0"), Buffer.from(chainAddress.slice(2), "hex"), key];
    const parts = [...places, hash("sha256", CODE, "buffer"), Buffer.from(origin), ...more];
    return createHmac("sha256", secret).update(Buffer.concat(parts)).digest("hex");
  };
  const told = Buffer.from(ENCODED, "hex");
  const telling = `${text}.${told.toString("base64url")}`;

  it("has zeros for the signing key of an Ed25519 chain key, and the key of any other signer", () => {
    const zeros = { chainAddress, addressProof: proof(Buffer.alloc(32)) };
    expect(zeros.addressProof).toBe("0f520bc2bf2f871ec573582778717e6cfd09961d4b42df72b0e24315773203c5");
    expect(checkAddressProof(origin, text, zeros)).toBe(true);
    const key = Buffer.alloc(32, 9);
    const other = { chainAddress, addressProof: proof(key), signingKey: key.toString("base64") };
    expect(checkAddressProof(origin, text, other)).toBe(true);
    expect(checkAddressProof(origin, text, { ...other, signingKey: null })).toBe(false);
  });

  it("takes no zeros for a key: the proof of an Ed25519 chain key would give a member one that nothing verifies under", () => {
    const own = { chainAddress, addressProof: proof(Buffer.alloc(32)) };
    expect(checkAddressProof(origin, text, { ...own, signingKey: Buffer.alloc(32).toString("base64") })).toBe(false);
    expect(checkAddressProof(origin, text, own, new Uint8Array(32))).toBe(false);
  });

  it("covers what the invite tells: one that was cut or changed on its way proves nothing", () => {
    const whole = { chainAddress, addressProof: proof(Buffer.alloc(32), Buffer.of(0), hash("sha256", told, "buffer")) };
    expect(checkAddressProof(origin, telling, whole)).toBe(true);
    expect(checkAddressProof(origin, text, whole)).toBe(false);
    expect(checkAddressProof(origin, telling, { chainAddress, addressProof: proof(Buffer.alloc(32)) })).toBe(false);
    const other = textOf(ENCODED.replace(/cd$/, "ce"), secret.toString("base64url"));
    expect(checkAddressProof(origin, other, whole)).toBe(false);
  });
});
