import type { CryptoPlatform } from "@coffer/crypto";
import { nodePlatform } from "@coffer/crypto/node";

/** A platform that draws what a vector was made with: exactly these bytes, in this order. */
export function drawing(...drawn: readonly Uint8Array[]): CryptoPlatform {
  const left = [...drawn];
  const randomBytes = (length: number): Uint8Array<ArrayBuffer> => {
    const next = left.shift();
    if (next?.length !== length) throw new Error(`nothing of ${length} bytes is left to draw`);
    return Uint8Array.from(next);
  };
  return { ...nodePlatform, randomBytes };
}
