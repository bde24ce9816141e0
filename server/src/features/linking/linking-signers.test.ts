import { renderKeyAddressText, renderLinkText } from "@coffer/contract";
import type { Signer } from "@mysten/sui/cryptography";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SUI_SIGNERS } from "../../../../test/kit/sui-signers.ts";
import { ChainUnavailableError } from "../../ports/chain.ts";
import type { MessageSignatures, SignatureVerdict } from "../../ports/message-signatures.ts";
import { openTestApp, type TestApp } from "../../app.test-kit.ts";
import { toTimestamp } from "../timestamps.ts";
import { errorCodeOf, TEST_PLACE } from "../invites/invites.test-kit.ts";

/** What the chain's node answers to zkLogin signatures; null: it is away. */
let verdict: SignatureVerdict | null;
let asked: number;
let service: TestApp;
let owner: { id: string; key: string };
beforeEach(async () => {
  [verdict, asked] = ["valid", 0];
  service = await openTestApp({ replace: ({ signatures }) => ({ signatures: withNode(signatures) }) });
  owner = await service.signUp();
});
afterEach(() => service[Symbol.asyncDispose]());

/** The real driver, with a node of the test's for zkLogin. */
function withNode(signatures: MessageSignatures): MessageSignatures {
  return {
    capabilities: { zklogin: true },
    verify: (signed) => {
      asked += 1;
      if (signed.signature[0] !== 5) return signatures.verify(signed);
      return verdict === null ? Promise.reject(new ChainUnavailableError("away")) : Promise.resolve(verdict);
    },
  };
}

async function challenge(): Promise<string> {
  const { body } = await service.ask("POST", "/api/account/link-chain/challenge", { key: owner.key });
  return String(body["nonce"]);
}

const ZKLOGIN = `0x${"5".repeat(64)}`;
/** Flag 5 and what a node makes of it. */
const SIGNATURE = Buffer.from([5, ...new Uint8Array(1400)]).toString("base64");

const send = (json: { chainAddress: string; signature: string; nonce: string }) =>
  service.ask("POST", "/api/account/link-chain", { key: owner.key, json });

async function sign(signer: Signer, text: string): Promise<string> {
  return (await signer.signPersonalMessage(new TextEncoder().encode(text))).signature;
}

async function linkBody(signer: Signer, nonce: string, chainAddress = signer.toSuiAddress()) {
  const text = renderLinkText({ ...TEST_PLACE, chainAddress, accountId: owner.id, nonce });
  return { chainAddress, signature: await sign(signer, text), nonce };
}

describe.each(SUI_SIGNERS)("%s", (_name, open) => {
  it("[D4-link-chain] links its address, as external, and no other [Z1]", async () => {
    const [wallet, thief] = await Promise.all([open(), open()]);
    const stolen = await linkBody(thief, await challenge(), wallet.toSuiAddress());
    expect(errorCodeOf(await send(stolen))).toBe("signature_invalid");
    const { status, body, text } = await send(await linkBody(wallet, await challenge()));
    expect(status, text).toBe(200);
    expect(body["account"]).toMatchObject({ chainAddress: wallet.toSuiAddress(), chainAddressSource: "external" });
  });

  it("binds an API key, of which the service keeps no public key", async () => {
    const wallet = await open();
    const chainAddress = wallet.toSuiAddress();
    const signedAt = toTimestamp(service.clock.now());
    const text = renderKeyAddressText({ ...TEST_PLACE, chainAddress, accountId: owner.id, signedAt });
    const json = { name: "K", chainAddress, addressProof: { signature: await sign(wallet, text), signedAt } };
    const made = await service.ask("POST", "/api/auth/api-keys", { key: owner.key, json });
    expect(made.status, made.text).toBe(201);
    const { body } = await service.ask("GET", `/api/auth/api-keys/${String(made.body["id"])}`, { key: owner.key });
    expect(body["apiKey"]).toMatchObject({ chainAddress, chainPublicKey: null, accessLevel: "agent" });
  });
});

describe("a zkLogin signature", () => {
  const claim = async () => ({ chainAddress: ZKLOGIN, signature: SIGNATURE, nonce: await challenge() });

  it("links its address when the chain's node vouches for it, as external [Z6]", async () => {
    const { status, body, text } = await send(await claim());
    expect(status, text).toBe(200);
    expect(body["account"]).toMatchObject({ chainAddress: ZKLOGIN, chainAddressSource: "external" });
  });

  it("leaves the challenge as it was while the node is away, and uses it up when it is refused", async () => {
    const json = await claim();
    verdict = null;
    for (let times = 0; times < 3; times += 1) {
      const answer = await send(json);
      expect([answer.status, errorCodeOf(answer)]).toEqual([503, "chain_unavailable"]);
    }
    verdict = "expired";
    const late = await send(json);
    expect([late.status, errorCodeOf(late), late.body["error"]]).toEqual([
      400,
      "signature_invalid",
      expect.stringContaining("sign in again"),
    ]);
    verdict = "valid";
    expect(errorCodeOf(await send(json))).toBe("token_invalid");
    expect((await send(await claim())).status).toBe(200);
  });

  it("is not looked at without a live challenge", async () => {
    expect(errorCodeOf(await send({ chainAddress: ZKLOGIN, signature: SIGNATURE, nonce: "unknown" }))).toBe(
      "token_invalid",
    );
    expect(asked).toBe(0);
  });

  it("is bounded in size: as long as the largest multisig, and no longer", async () => {
    verdict = "invalid";
    const sized = async (bytes: number) =>
      errorCodeOf(await send({ ...(await claim()), signature: Buffer.alloc(bytes, 5).toString("base64") }));
    expect(await sized(8193)).toBe("signature_invalid");
    expect(await sized(8194)).toBe("validation_failed");
    expect(asked).toBe(1);
  });
});
