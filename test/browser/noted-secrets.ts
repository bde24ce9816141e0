/** Tells the scan of this test file what a page keeps to itself: all it encrypted, with what. Bytes on the wire are noted by the relay's writes. */
import { nameIn } from "../kit/scan/metadata-name.ts";
import { currentUnit } from "../kit/scan/unit.ts";
import type { WatchedSecrets } from "./pages/watched-secrets.ts";

const KEY_BYTES = 32;
const WINDOW_BYTES = 16;
/** As the taps of Node: windows with fewer different bytes stand in many places. */
const FEWEST_DIFFERENT = 10;

/** Answers with how many of each kind there were. */
export function noteSecrets({
  keys,
  plaintexts,
}: WatchedSecrets): Readonly<Record<"key" | "name" | "content", number>> {
  const counts = { key: 0, name: 0, content: 0 };
  const note = (kind: keyof typeof counts, bytes: Uint8Array): void => {
    counts[kind] += 1;
    currentUnit()?.noteSecret(kind, bytes);
  };
  for (const key of keys.map(decode)) if (key.length === KEY_BYTES) note("key", key);
  for (const plaintext of plaintexts.map(decode)) {
    const name = nameIn(plaintext);
    const window = plaintext.subarray(0, WINDOW_BYTES);
    if (plaintext.length === KEY_BYTES) note("key", plaintext);
    else if (name !== null) note("name", name);
    else if (new Set(window).size >= FEWEST_DIFFERENT) note("content", window);
  }
  return counts;
}

function decode(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, "base64"));
}
