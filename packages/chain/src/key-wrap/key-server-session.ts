/** The certificate by which an address lets a fresh key ask key servers for ten minutes. */
import { SessionKey } from "@mysten/seal";
import type { SuiGrpcClient } from "@mysten/sui/grpc";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { isValidPersonalMessageSignature } from "@mysten/sui/verify";
import { ChainError } from "../errors.ts";
import type { TransactionSigner } from "../signer.ts";
import { findEndedSignIn, isMultisig, isZklogin } from "../zklogin.ts";

const MINUTES = 10;
const LIFETIME = MINUTES * 60_000;
/** It is made as if a little earlier: a key server refuses certificates from its future, and clocks differ by some seconds. */
const BACKDATED = 5_000;
/** It is not used in its last moments, when it may end on the way. */
const RESERVE = 30_000;

export interface KeyServerSessionOptions {
  readonly client: SuiGrpcClient;
  readonly signer: TransactionSigner;
  readonly packageId: string;
  /** Milliseconds since 1970. SessionKey itself reads the machine's clock; the two must not be minutes apart. */
  readonly clock: () => number;
}

/** One session at a time, made when it is needed and made again when it has ended. */
export class KeyServerSessions {
  readonly #options: KeyServerSessionOptions;
  #open: { readonly key: Promise<SessionKey>; readonly until: number } | null = null;

  constructor(options: KeyServerSessionOptions) {
    this.#options = options;
  }

  /**
   * @throws ChainError `wrong_chain_key` when the signer does not sign for its address, `sign_in_ended` when its
   * zkLogin no longer does.
   */
  async open(): Promise<SessionKey> {
    const now = this.#options.clock();
    if (this.#open !== null && now < this.#open.until) return await this.#open.key;
    const createdAt = now - BACKDATED;
    const key = createSession(this.#options, createdAt);
    const current = { key, until: createdAt + LIFETIME - RESERVE };
    this.#open = current;
    return await key.catch((error: unknown) => {
      if (this.#open === current) this.#open = null;
      throw error;
    });
  }

  /** The next {@link open} makes a new one. */
  forget(): void {
    this.#open = null;
  }
}

async function createSession(options: KeyServerSessionOptions, createdAt: number): Promise<SessionKey> {
  const { client, signer, packageId } = options;
  const keypair = Ed25519Keypair.generate();
  const session = SessionKey.import(
    {
      address: signer.chainAddress,
      packageId,
      creationTimeMs: createdAt,
      ttlMin: MINUTES,
      sessionKey: keypair.getSecretKey(),
    },
    client,
  );
  const message = session.getPersonalMessage();
  checkMessage(message, packageId, createdAt, keypair.getPublicKey().toBase64());
  const signature = await signer.signPersonalMessage(message);
  await session.setPersonalMessageSignature(signature).catch(async (cause: unknown) => {
    throw (await explainSignature(session, signature, client)) ?? new ChainError("wrong_chain_key", { cause });
  });
  return session;
}

/** Why the signature under a session's certificate does not hold, or no longer does; null when it does. */
export async function findSessionProblem(session: SessionKey, client: SuiGrpcClient): Promise<ChainError | null> {
  return await explainSignature(session, (await session.getCertificate()).signature, client);
}

async function explainSignature(
  session: SessionKey,
  signature: string,
  client: SuiGrpcClient,
): Promise<ChainError | null> {
  const options = { client, address: session.getAddress() };
  try {
    if (await isValidPersonalMessageSignature(session.getPersonalMessage(), signature, options)) return null;
  } catch (cause) {
    // The chain node checks a zkLogin signature, and may not answer; every other is checked here.
    if (isZklogin(signature)) return new ChainError("chain_unavailable", { cause });
    if (isMultisig(signature)) return new ChainError("wrong_chain_key", { message: NOT_CHECKED, cause });
  }
  const ended = await findEndedSignIn(client, signature);
  return ended ?? new ChainError("wrong_chain_key", isZklogin(signature) ? { message: NOT_PROVEN } : {});
}

const NOT_CHECKED =
  "The signature of this multisig cannot be checked here, as of one that zkLogin signed for. Let its other keys sign, or use another address.";
const NOT_PROVEN = "The zkLogin proof is not this address's, or not this key's. Sign in again.";

/** The signer signs this text alone, whatever the library makes of it one day. */
function checkMessage(message: Uint8Array, packageId: string, createdAt: number, sessionKey: string): void {
  const from = new Date(createdAt).toISOString().slice(0, 19).replace("T", " ");
  const expected = `Accessing keys of package ${packageId} for ${MINUTES} mins from ${from} UTC, session key ${sessionKey}`;
  if (new TextDecoder().decode(message) !== expected)
    throw new Error("SessionKey asks for a signature over another text than the documented one");
}
