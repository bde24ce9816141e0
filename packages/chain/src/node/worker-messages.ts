/** The messages between a thread and its key-wrap worker. */
import { CryptoError, type CryptoErrorCode, type CryptoStep, type SealedVaultKey } from "@coffer/crypto";
import { ChainError, type ChainErrorCode } from "../errors.ts";
import type { NetworkConfiguration } from "../network.ts";

/** The start data of a worker. */
export interface WorkerStart {
  readonly network: NetworkConfiguration;
  readonly chainAddress: string;
  readonly timeout: number | undefined;
}

export type Call =
  | { readonly method: "wrap"; readonly key: Uint8Array; readonly place: SealedVaultKey["place"] }
  | { readonly method: "unwrap"; readonly items: readonly SealedVaultKey[] }
  | { readonly method: "checkKeyServers" | "checkSession" | "prepare" };

/** The worker cannot do these itself: sign, and look vaults up. */
export type Question =
  | { readonly method: "signPersonalMessage"; readonly message: Uint8Array }
  | { readonly method: "locate"; readonly vault: Uint8Array };

/** Calls go to the worker and questions come from it; each answer carries the number of its call. */
export type Message<Asked> =
  | { readonly kind: "asked"; readonly id: number; readonly asked: Asked }
  | { readonly kind: "answered"; readonly id: number; readonly value: unknown }
  | { readonly kind: "failed"; readonly id: number; readonly error: WrittenError };

/** Errors keep class, code and message on the way; their causes stay where they were thrown. */
export type WrittenError =
  | { readonly name: "ChainError"; readonly code: ChainErrorCode; readonly message: string }
  | {
      readonly name: "CryptoError";
      readonly code: CryptoErrorCode;
      readonly step: CryptoStep;
      readonly message: string;
    }
  | { readonly name: "Error"; readonly message: string };

export function writeError(error: unknown): WrittenError {
  if (error instanceof ChainError) return { name: "ChainError", code: error.code, message: error.message };
  if (error instanceof CryptoError)
    return { name: "CryptoError", code: error.code, step: error.step, message: error.message };
  return { name: "Error", message: error instanceof Error ? error.message : "something that is no error was thrown" };
}

export function readError(written: WrittenError): Error {
  switch (written.name) {
    case "ChainError":
      return new ChainError(written.code, { message: written.message });
    case "CryptoError":
      return new CryptoError(written.code, written.step, written.message);
    case "Error":
      return new Error(written.message);
  }
}
