/** The certificate by which an address lets a fresh key ask key servers for ten minutes. */
import { SessionKey } from "@mysten/seal";
import type { SuiGrpcClient } from "@mysten/sui/grpc";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { ChainError } from "../errors.ts";
import type { TransactionSigner } from "../signer.ts";

const MINUTES = 10;
const LIFETIME = MINUTES * 60_000;
/** It is made as if a little earlier: a key server refuses certificates from its future, and clocks differ by some seconds. */
const BACKDATED = 5_000;
/** It is not used in its last moments, when it may end on the way. */
const RESERVE = 30_000;

export interface SessionOptions {
  readonly client: SuiGrpcClient;
  readonly signer: TransactionSigner;
  readonly packageId: string;
  /** Milliseconds since 1970. SessionKey itself reads the machine's clock; the two must not be minutes apart. */
  readonly clock: () => number;
}

/** One session at a time, made when it is needed and made again when it has ended. */
export class Sessions {
  readonly #options: SessionOptions;
  #open: { readonly key: Promise<SessionKey>; readonly until: number } | null = null;

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  /** @throws ChainError `wrong_chain_key` when the signer does not sign for its address. */
  async open(): Promise<SessionKey> {
    const now = this.#options.clock();
    if (this.#open !== null && now < this.#open.until) return await this.#open.key;
    const createdAt = now - BACKDATED;
    const key = createSession(this.#options, createdAt);
    const opened = { key, until: createdAt + LIFETIME - RESERVE };
    this.#open = opened;
    return await key.catch((error: unknown) => {
      if (this.#open === opened) this.#open = null;
      throw error;
    });
  }

  /** The next {@link open} makes a new one. */
  forget(): void {
    this.#open = null;
  }
}

async function createSession(options: SessionOptions, createdAt: number): Promise<SessionKey> {
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
  try {
    await session.setPersonalMessageSignature(signature);
  } catch (error) {
    // A zkLogin signature is checked by the chain node, whose silence looks like a wrong signature.
    await client.ledgerService.getServiceInfo({}).then(
      () => raise(new ChainError("wrong_chain_key", { cause: error })),
      (cause: unknown) => raise(new ChainError("chain_unavailable", { cause })),
    );
  }
  return session;
}

/** Nothing is signed but this text, whatever the library makes of it one day. */
function checkMessage(message: Uint8Array, packageId: string, createdAt: number, sessionKey: string): void {
  const from = new Date(createdAt).toISOString().slice(0, 19).replace("T", " ");
  const expected = `Accessing keys of package ${packageId} for ${MINUTES} mins from ${from} UTC, session key ${sessionKey}`;
  if (new TextDecoder().decode(message) !== expected)
    throw new Error("SessionKey asks for a signature over another text than the documented one");
}

function raise(error: Error): never {
  throw error;
}
