/** TEST ONLY: what a test of invites does all the time: make one, redeem it as an agent would. */
import { hash, randomBytes } from "node:crypto";
import { renderRedeemText, type Scope } from "@coffer/contract";
import type { TestAnswer, TestApp } from "../../app.test-kit.ts";
import { toTimestamp } from "../timestamps.ts";
import { openSigner, type TestSigner } from "../chain-proofs/signer.test-kit.ts";

type Service = Pick<TestApp, "ask">;

/** Where `inject` says it reached the service. */
export const TEST_PLACE = { origin: "http://localhost", network: "localnet" } as const;

export interface MadeInvite {
  readonly id: string;
  readonly code: string;
  readonly expiresAt: string;
}

export async function makeInvite(
  service: Service,
  key: string,
  wanted: { scopes?: readonly Scope[]; vaultIds?: readonly string[]; expiresInHours?: number } = {},
): Promise<MadeInvite> {
  const made = await service.ask("POST", "/api/auth/invites", { key, json: { name: "Agent", ...wanted } });
  if (made.status !== 201) throw new Error(`no invite: ${made.text}`);
  return made.body as unknown as MadeInvite;
}

export function newSigner(): TestSigner {
  return openSigner(randomBytes(32));
}

export interface Claim {
  readonly code: string;
  readonly chainAddress: string;
  readonly signature?: string;
  readonly signedAt?: string;
  readonly addressProof?: string;
}

export function claimOf(
  signer: TestSigner,
  code: string,
  at: number,
  place: { origin: string; network: "localnet" | "testnet" | "mainnet" } = TEST_PLACE,
): Claim {
  const { chainAddress } = signer;
  const signedAt = toTimestamp(at);
  const text = renderRedeemText({ ...place, chainAddress, codeHash: hash("sha256", code, "hex"), signedAt });
  return { code, chainAddress, signature: signer.sign(text), signedAt };
}

export function redeem(service: Service, json: Claim): Promise<TestAnswer> {
  return service.ask("POST", "/api/auth/invites/redeem", { json });
}

export function errorCodeOf(answer: TestAnswer): unknown {
  return answer.headers["x-error-code"];
}
