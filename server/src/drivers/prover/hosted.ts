/**
 * A hosted prover. It speaks the form of Sui's own proving service (`POST {url}/v1`, see "zkLogin Integration Guide").
 * The API key is a bearer token, as Enoki takes it. Vendors also have forms of their own. Enoki's keeps the salts to
 * itself, so that addresses would be the vendor's. Shinami's is JSON-RPC with `X-Api-Key` over the same fields, for
 * which a gateway in front is enough.
 */
import * as z from "zod/mini";
import type { ZkloginProof } from "@coffer/contract";
import {
  type ProofRequest,
  type Prover,
  ProverRefusedError,
  ProverUnavailableError,
  type Zklogin,
} from "../../ports/zklogin.ts";
import { partsOf } from "./token-parts.ts";

export interface HostedProverOptions {
  readonly url: string;
  readonly apiKey: string;
  /** Milliseconds; 20,000 when absent: a proof takes some seconds. */
  readonly timeout?: number;
}

const TIMEOUT = 20_000;
const MAX_BYTES = 64 * 1024;
const points = z.array(z.string().check(z.maxLength(256))).check(z.maxLength(8));

const answerOf = z.object({
  proofPoints: z.object({ a: points, b: z.array(points).check(z.maxLength(8)), c: points }),
  issBase64Details: z.object({ value: z.string().check(z.maxLength(1024)), indexMod4: z.int() }),
  headerBase64: z.string().check(z.maxLength(1024)),
  /** Some provers add it; it must be ours then. */
  addressSeed: z.optional(z.string()),
});

/** Errors name a status and nothing that was sent or received: token, salt and proof are secrets. */
export function openHostedProver(options: HostedProverOptions, zklogin: Zklogin): Prover {
  return {
    capabilities: { checks: false },

    async prove(request) {
      const { claims } = partsOf(request.idToken);
      const addressSeed = await zklogin.addressSeedOf({ ...claims, salt: request.salt });
      const answer = z.safeParse(answerOf, await ask(options, request));
      if (!answer.success) throw new ProverUnavailableError("the prover's answer is not a proof");
      if (answer.data.addressSeed !== undefined && answer.data.addressSeed !== addressSeed) {
        throw new ProverUnavailableError("the prover's answer is about another address");
      }
      return { ...answer.data, addressSeed } satisfies ZkloginProof;
    },

    check: () => Promise.resolve(true),
  };
}

async function ask({ url, apiKey, timeout }: HostedProverOptions, request: ProofRequest): Promise<unknown> {
  const { response, text } = await send(`${url}/v1`, {
    method: "POST",
    // A redirect would take the token elsewhere.
    redirect: "manual",
    headers: { "content-type": "application/json", accept: "application/json", authorization: `Bearer ${apiKey}` },
    signal: AbortSignal.timeout(timeout ?? TIMEOUT),
    body: JSON.stringify({
      jwt: request.idToken,
      extendedEphemeralPublicKey: request.key.publicKey,
      maxEpoch: request.key.maxEpoch,
      jwtRandomness: request.key.randomness,
      salt: request.salt,
      keyClaimName: "sub",
    }),
  });
  if (response.ok) return parseJson(text);
  // The caller's values are wrong, or the operator's: a key that is refused is nothing a user can mend.
  if (response.status === 400 || response.status === 422) {
    throw new ProverRefusedError(`the prover refused the values with ${response.status}`);
  }
  throw new ProverUnavailableError(`the prover answered ${response.status}`);
}

async function send(url: string, init: RequestInit): Promise<{ response: Response; text: string }> {
  try {
    const response = await fetch(url, init);
    return { response, text: await readText(response) };
  } catch {
    throw new ProverUnavailableError("the prover cannot be reached");
  }
}

async function readText(response: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += part.byteLength;
    if (size > MAX_BYTES) throw new RangeError("the answer is too large");
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ProverUnavailableError("the prover's answer is not JSON");
  }
}
