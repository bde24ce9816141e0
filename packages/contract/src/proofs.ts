/** The form of what chain addresses sign; the texts themselves are in proof-texts.ts. */
import * as z from "zod/mini";

/**
 * A serialised Sui signature in base64: scheme flag, then what the scheme has. 97 bytes for Ed25519, some 1,500 for zkLogin, and no more
 * than 8,193 for a multisig of passkeys, which is as much as `@mysten/sui` makes.
 */
export const chainSignature = z.string().check(z.minLength(4), z.maxLength(10_924), z.regex(/^[A-Za-z0-9+/]+={0,2}$/));

/** The header `Coffer-Proof`: the nonce of a deletion challenge, a dot, and the signature of the vault's owner. */
export const ownerProof = z.string().check(z.maxLength(11_000), z.regex(/^[\w-]{43}\.[\w+/=]+$/));

/** How far the clocks of signer and service may differ, in milliseconds (decisions §4). */
export const MAX_CLOCK_SKEW = 5 * 60_000;

export const CHAIN_NETWORKS = ["localnet", "testnet", "mainnet"] as const;
export type ChainNetwork = (typeof CHAIN_NETWORKS)[number];
