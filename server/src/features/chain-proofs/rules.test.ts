import { renderKeyAddressText, renderLinkText, renderRedeemText } from "@coffer/contract";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { Secp256k1Keypair } from "@mysten/sui/keypairs/secp256k1";
import { Secp256r1Keypair } from "@mysten/sui/keypairs/secp256r1";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openSuiSignatures } from "../../drivers/message-signatures/sui.ts";
import { ChainUnavailableError, ClockSkewError, OtherChainError } from "../../ports/chain.ts";
import type { MessageSignatures } from "../../ports/message-signatures.ts";
import { ServiceError } from "../../service-error.ts";
import { requireFresh, requireProof } from "./rules.ts";
import { digestOf, openSigner, serialize } from "./signer.test-kit.ts";
import { codeOf } from "../service.test-kit.ts";

const RUNS = process.env["COFFER_TEST_COUNTS"] === "full" ? 500 : 15;

const signer = openSigner(Uint8Array.from({ length: 32 }, (_, index) => index + 1));
const { chainAddress } = signer;
const place = { origin: "https://coffer.example", network: "testnet", chainAddress } as const;
const codeHash = "ab".repeat(32);
const signedAt = "2026-11-18T11:06:40.000Z";
const text = renderRedeemText({ ...place, codeHash, signedAt });
const signature = signer.sign(text);

const clock = { now: () => 0, elapsed: () => 0 };
const deps = { signatures: openSuiSignatures(null, { clock }) };
type Proof = Parameters<typeof requireProof>[1];

async function outcomeOf(proof: Proof): Promise<string> {
  const code = await codeOf(requireProof(deps, proof));
  return code === "ok" ? "proven" : code;
}

async function messageOf(proof: Proof): Promise<string> {
  return requireProof(deps, proof).then(
    () => "proven",
    (error: unknown) => (error as Error).message,
  );
}

describe("a proof of possession", () => {
  it("is a personal message as @mysten/sui signs it, byte for byte, of any length", async () => {
    const keypair = Ed25519Keypair.fromSecretKey(signer.seed);
    expect(chainAddress).toBe(keypair.toSuiAddress());
    await fc.assert(
      fc.asyncProperty(fc.string({ maxLength: 400, unit: "binary" }), async (message) => {
        const theirs = await keypair.signPersonalMessage(new TextEncoder().encode(message));
        // Lone surrogates become U+FFFD in both encodings.
        expect(theirs.signature).toBe(signer.sign(message));
        expect(await outcomeOf({ chainAddress, text: message, signature: theirs.signature })).toBe("proven");
      }),
      { numRuns: RUNS, examples: [["x".repeat(127)], ["x".repeat(128)], [text]] },
    );
  });

  it("is bound to every field of every text [Z1]", async () => {
    const accountId = "0199";
    const claims = [
      text,
      renderRedeemText({ ...place, codeHash: "ac".repeat(32), signedAt }),
      renderRedeemText({ ...place, codeHash, signedAt: "2026-11-18T11:06:40.001Z" }),
      renderRedeemText({ ...place, codeHash, signedAt, origin: "https://coffer.example:8443" }),
      renderRedeemText({ ...place, codeHash, signedAt, network: "mainnet" }),
      renderRedeemText({ ...place, codeHash, signedAt, chainAddress: `0x${"0".repeat(64)}` }),
      renderLinkText({ ...place, accountId, nonce: "1795000000000" }),
      renderLinkText({ ...place, accountId: "0198", nonce: "1795000000000" }),
      renderKeyAddressText({ ...place, accountId, signedAt }),
    ];
    expect(new Set(claims).size).toBe(claims.length);
    for (const [at, signed] of claims.entries()) {
      for (const [other, claimed] of claims.entries()) {
        const outcome = await outcomeOf({ chainAddress, text: claimed, signature: signer.sign(signed) });
        expect([at, other, outcome]).toEqual([at, other, at === other ? "proven" : "signature_invalid"]);
      }
    }
  });

  it("says for which service and chain it should have been", async () => {
    const elsewhere = renderRedeemText({ ...place, codeHash, signedAt, network: "mainnet" });
    const message = await messageOf({ chainAddress, text, signature: signer.sign(elsewhere) });
    expect(message).toContain("(origin: https://coffer.example, chain: sui:testnet)");
  });

  it("is of the address's own key", async () => {
    const other = openSigner(new Uint8Array(32).fill(9));
    expect(await outcomeOf({ chainAddress: other.chainAddress, text, signature })).toBe("signature_invalid");
    expect(await outcomeOf({ chainAddress, text, signature: other.sign(text) })).toBe("signature_invalid");
    const mixed = serialize(Buffer.from(other.sign(text), "base64").subarray(1, 65), signer.publicKey);
    expect(await outcomeOf({ chainAddress, text, signature: mixed })).toBe("signature_invalid");
  });

  it("carries the intent of a personal message: no transaction's signature passes for one", async () => {
    const { createPrivateKey, sign } = await import("node:crypto");
    const pkcs8 = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), signer.seed]);
    const key = createPrivateKey({ key: pkcs8, format: "der", type: "pkcs8" });
    const signed = (bytes: Uint8Array) => serialize(sign(null, bytes, key), signer.publicKey);
    expect(await outcomeOf({ chainAddress, text, signature: signed(digestOf(text)) })).toBe("proven");
    for (const intent of [[0, 0, 0], [3, 1, 0], [3, 0, 1], [4, 0, 0], []]) {
      expect(await outcomeOf({ chainAddress, text, signature: signed(digestOf(text, intent)) })).toBe(
        "signature_invalid",
      );
    }
    expect(await outcomeOf({ chainAddress, text, signature: signed(Buffer.from(text)) })).toBe("signature_invalid");
  });

  it("has one form: canonical base64, nothing more or less", async () => {
    const bytes = Buffer.from(signature, "base64");
    const forms = [
      bytes.subarray(0, 96).toString("base64"),
      Buffer.concat([bytes, Uint8Array.of(0)]).toString("base64"),
      bytes.toString("base64url"),
      signature.replace(/=+$/, ""),
      `${signature.replace(/=+$/, "").slice(0, -1)}B==`,
      `${signature}\n`,
      "AAAA",
      "",
    ].filter((form) => form !== signature);
    for (const form of forms)
      expect(await outcomeOf({ chainAddress, text, signature: form })).toBe("signature_invalid");
  });

  it("does not survive a changed bit", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 97 * 8 - 1 }), async (bit) => {
        const bytes = Buffer.from(signature, "base64");
        bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        const changed = bytes.toString("base64");
        expect(await outcomeOf({ chainAddress, text, signature: changed })).toBe("signature_invalid");
      }),
      { numRuns: RUNS * 2 },
    );
  });

  it("is of an Ed25519 key, whose public key it tells, or of another kind of signer, which has none to tell", async () => {
    const bytes = new TextEncoder().encode(text);
    for (const keypair of [new Secp256k1Keypair(), new Secp256r1Keypair()]) {
      const { signature } = await keypair.signPersonalMessage(bytes);
      const claim = { chainAddress: keypair.toSuiAddress(), text, signature };
      expect(await requireProof(deps, claim)).toBeNull();
      expect(await outcomeOf({ ...claim, chainAddress })).toBe("signature_invalid");
      expect(await outcomeOf({ ...claim, text: `${text} ` })).toBe("signature_invalid");
      const trailing = `${signature.slice(0, -1)}=\n`;
      expect(await outcomeOf({ ...claim, signature: trailing })).toBe("signature_invalid");
    }
    expect(await requireProof(deps, { chainAddress, text, signature })).toBe(
      Buffer.from(signer.publicKey).toString("base64"),
    );
  });

  it("does not pass for another scheme's by its flag", async () => {
    const signed = Buffer.from(signature, "base64").subarray(1, 65);
    for (const flag of [1, 2, 3, 6]) {
      const flagged = serialize(signed, signer.publicKey, flag);
      expect(await outcomeOf({ chainAddress, text, signature: flagged })).toBe("signature_invalid");
    }
    for (const flag of [4, 7, 255]) {
      const flagged = serialize(signed, signer.publicKey, flag);
      expect(await messageOf({ chainAddress, text, signature: flagged })).toContain("Ed25519, secp256k1, secp256r1");
    }
  });

  it("is not taken of zkLogin by a server without a chain, which says what is missing", async () => {
    const flagged = serialize(Buffer.alloc(64), signer.publicKey, 5);
    expect(await outcomeOf({ chainAddress, text, signature: flagged })).toBe("not_configured");
    expect(await messageOf({ chainAddress, text, signature: flagged })).toContain("SERVICE_CHAIN_URL");
  });

  it("says what became of it at the chain's node, and nothing that the node said", async () => {
    const flagged = serialize(Buffer.alloc(64), signer.publicKey, 5);
    const claim = { chainAddress, text, signature: flagged };
    const told = async (verify: MessageSignatures["verify"]) => {
      const signatures: MessageSignatures = { capabilities: { zklogin: true }, verify };
      const error: unknown = await requireProof({ signatures }, claim).catch((reason: unknown) => reason);
      return error instanceof ServiceError ? [error.code, error.message] : error;
    };
    expect(await told(() => Promise.resolve("valid"))).toBeNull();
    expect(await told(() => Promise.resolve("expired"))).toEqual([
      "signature_invalid",
      expect.stringMatching(/sign in again/),
    ]);
    expect(await told(() => Promise.resolve("other_address"))).toEqual(["signature_invalid", expect.any(String)]);
    expect(await told(() => Promise.reject(new ChainUnavailableError("node 7 says boo")))).toEqual([
      "chain_unavailable",
      expect.not.stringContaining("boo"),
    ]);
    expect(await told(() => Promise.reject(new OtherChainError("chain A, not chain B")))).toEqual([
      "chain_unavailable",
      "chain A, not chain B",
    ]);
    expect(await told(() => Promise.reject(new ClockSkewError("31 s behind")))).toEqual(["clock_skew", "31 s behind"]);
    expect(await told(() => Promise.reject(new RangeError("a defect")))).toBeInstanceOf(RangeError);
  });
});

describe("the texts", () => {
  it.each(["a\nnonce: b", "a b", "", "a\r", "\u2028", "é", "x".repeat(513)])("refuse the field %j", (nonce) => {
    expect(() => renderLinkText({ ...place, accountId: "a", nonce })).toThrow(RangeError);
  });
});

it("the time of a signature is refused beyond 5 minutes, with the seconds and the direction, and when it is no time at all", () => {
  for (const [off, said] of [
    [300_000, null],
    [300_001, "301 s ahead of"],
    [-300_001, "301 s behind"],
  ] as const) {
    const sign = (): void => requireFresh(new Date(1_795_000_000_000 + off).toISOString(), 1_795_000_000_000);
    if (said === null) sign();
    else expect(sign).toThrow(`${said} the service's clock`);
  }
  expect(() => requireFresh("when it suits", 1_795_000_000_000)).toThrow("not a valid time");
});
