/** The one way to exclude anything from the scan: by its content, for one test file, with a reason. */
import { currentUnit } from "./unit.ts";

/**
 * Says that a test itself puts these bytes, or this name, where the scan looks, so that they are no leak. Give them to no other file:
 * what is equal to them is not looked for.
 */
export function sendsInTheClear(content: Uint8Array | string, reason: string): void {
  if (reason.length < 20) throw new TypeError("say why the test does that");
  currentUnit()?.noteAllowed(typeof content === "string" ? Buffer.from(content) : content);
}
