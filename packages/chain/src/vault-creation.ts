/**
 * A creation that a crash or a lost answer left open. It goes on while its transaction is valid, and begins again when
 * that is void.
 */
import { fromBase64, toBase64 } from "@mysten/sui/utils";
import { bcs } from "@mysten/sui/bcs";
import { TransactionDataBuilder } from "@mysten/sui/transactions";
import * as z from "zod/mini";
import type { Chain } from "./chain.ts";
import { ChainError } from "./errors.ts";
import { type Executed, findExecuted, send, type SignedTransaction } from "./execution.ts";
import { isExpired } from "./expiration.ts";
import { toTransaction, vaultCalls } from "./vault-functions.ts";
import type { VaultObject } from "./vault-object.ts";
import { readCreated } from "./vault-transactions.ts";

/** What the owner wants to create. */
export interface NewVaultFacts {
  readonly signingKey?: Uint8Array;
  readonly plainNames?: boolean;
}

/** A creation is one call with two short arguments; more is not read. */
const MAX_TEXT = 65_536;

const unfinished = z.strictObject({
  transaction: z.string().check(z.regex(/^[A-Za-z0-9+/]+={0,2}$/), z.maxLength(MAX_TEXT)),
  signature: z.string().check(z.minLength(1), z.maxLength(MAX_TEXT)),
});

/** The journal's form: no secret, but only its signer should have it. */
export function encodeCreation({ bytes, signature }: SignedTransaction): string {
  return JSON.stringify({ transaction: toBase64(bytes), signature });
}

/**
 * The vault of an unfinished creation: its very transaction is sent again, which executes once. null if it can never
 * be executed: it has expired or was refused. Also null if it is another address's, creates another vault than wanted,
 * or cannot be read. Then a new transaction makes no second vault.
 * @throws ChainError `transaction_unknown`, `chain_unavailable`, and the errors of reading the vault.
 */
export async function resumeCreation(
  chain: Chain,
  chainAddress: string,
  facts: NewVaultFacts,
  saved: string,
): Promise<VaultObject | null> {
  await chain.verifyNetwork();
  const signed = await parseWanted(chain, chainAddress, facts, saved);
  if (signed === null) return null;
  const executed = await settle(chain, signed);
  return executed?.status.success === true ? readCreated(chain, executed) : null;
}

/** Its final result: executed, or null if no node executes it any more. */
async function settle(chain: Chain, signed: SignedTransaction): Promise<Executed | null> {
  const digest = TransactionDataBuilder.getDigestFromBytes(signed.bytes);
  if (!(await isExpired(chain, signed.bytes))) {
    const sent = await send(chain, signed, digest);
    if (!(sent instanceof ChainError)) return sent;
  }
  // It may have been executed before it expired, or before another transaction paid with its coin.
  return findExecuted(chain, digest);
}

async function parseWanted(
  { network }: Chain,
  chainAddress: string,
  { signingKey = new Uint8Array(), plainNames = false }: NewVaultFacts,
  saved: string,
): Promise<SignedTransaction | null> {
  const signed = parseUnfinished(saved);
  const call = vaultCalls.create(signingKey, plainNames);
  const kind = await toTransaction(call, network.latestPackageId).build({ onlyTransactionKind: true });
  return signed !== null && isFor(signed.bytes, chainAddress, kind) ? signed : null;
}

function parseUnfinished(saved: string): SignedTransaction | null {
  try {
    const { transaction, signature } = z.parse(unfinished, JSON.parse(saved));
    return { bytes: fromBase64(transaction), signature };
  } catch {
    return null;
  }
}

function isFor(bytes: Uint8Array, chainAddress: string, kind: Uint8Array): boolean {
  try {
    const { sender, kind: transactionKind } = bcs.TransactionData.parse(bytes).V1;
    return (
      sender === chainAddress && toBase64(bcs.TransactionKind.serialize(transactionKind).toBytes()) === toBase64(kind)
    );
  } catch {
    return false;
  }
}
