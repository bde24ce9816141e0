import { randomBytes, randomUUID } from "node:crypto";

/** Where chance comes from. Both members are cryptographically strong in production. */
export interface Random {
  bytes(length: number): Uint8Array;
  /** RFC 9562 version 4, lower case. */
  uuid(): string;
}

export const systemRandom: Random = { bytes: (length) => randomBytes(length), uuid: () => randomUUID() };
