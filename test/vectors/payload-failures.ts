import type { CryptoErrorCode, CryptoStep } from "@coffer/crypto";

/** "two chunks and some": header 48, envelope 300, prefix 56, then chunks of 16400, 16400 and 116. */
const THREE = "two chunks and some";
const CHUNKS = 404;
const BLOCK = 16400;
const END = CHUNKS + 2 * BLOCK + 116;
/** "a chunk": the same start, a full chunk and an empty final one. */
const TWO = "a chunk";
/** "padded": 48, 300, 56, one chunk of 1024 + 16. */
const PADDED = "padded";

const header = (name: string, at: number, xor: number, code: FailureVector["code"]): FailureVector => ({
  name,
  file: THREE,
  edits: [{ at, xor }],
  code,
  step: "header",
  released: 0,
});

const altered = (name: string, at: number, released: number): FailureVector => ({
  name,
  file: THREE,
  edits: [{ at, xor: 1 }],
  code: "damaged",
  step: "chunks",
  released,
});

const otherKey = (name: string, at: number): FailureVector => ({
  name,
  file: THREE,
  edits: [{ at, xor: 1 }],
  code: "wrong_key",
  step: "commitment",
  released: 0,
});

const cut = (
  name: string,
  file: string,
  at: number,
  remove: number,
  step: FailureVector["step"],
  released: number,
): FailureVector => ({ name, file, edits: [{ at, remove }], code: "damaged", step, released });

const placed = (
  name: string,
  at: number,
  remove: number,
  [file, from, to]: readonly [string, number, number],
  released: number,
): FailureVector => ({
  name,
  file: THREE,
  edits: [{ at, remove, insert: { file, from, to } }],
  code: "damaged",
  step: "chunks",
  released,
});

/** Most of the vectors are of this kind on purpose: a decoder that opens every good file has shown little. */
export const FAILURES: readonly FailureVector[] = [
  header("magic", 0, 1, "not_encrypted"),
  header("magic, line ending", 5, 7, "not_encrypted"),
  header("version 0", 8, 1, "unsupported_version"),
  header("version 2", 8, 3, "unsupported_version"),
  header("suite 1", 9, 3, "unsupported_suite"),
  header("an unknown flag", 10, 2, "damaged"),
  header("the reserved byte", 11, 1, "damaged"),
  header("an envelope beyond 4096", 46, 0x20, "damaged"),
  { name: "no bytes", file: "empty", edits: [{ at: 0, remove: 120 }], code: "not_encrypted", step: "header", released: 0 },
  otherKey("padded flag", 10),
  otherKey("file id", 12),
  otherKey("version id", 43),
  otherKey("envelope length", 47),
  otherKey("salt", 348),
  otherKey("commitment", 372),
  otherKey("commitment, last byte", 403),
  altered("first chunk, first byte", CHUNKS, 0),
  altered("first chunk, tag", CHUNKS + BLOCK - 1, 0),
  altered("second chunk", CHUNKS + BLOCK + 8000, 16384),
  altered("final chunk", CHUNKS + 2 * BLOCK, 32768),
  altered("final chunk, tag", END - 1, 32768),
  cut("ends in the header", THREE, 20, END, "header", 0),
  cut("ends in the envelope", THREE, 200, END, "length", 0),
  cut("ends in the salt", THREE, 360, END, "length", 0),
  cut("ends in the commitment", THREE, 400, END, "length", 0),
  cut("ends before the first chunk", THREE, CHUNKS, END, "chunks", 0),
  cut("ends in the first chunk", THREE, CHUNKS + 100, END, "chunks", 0),
  cut("ends behind the first chunk", THREE, CHUNKS + BLOCK, END, "chunks", 16384),
  cut("ends in the second chunk's tag", THREE, CHUNKS + 2 * BLOCK - 1, END, "chunks", 16384),
  cut("ends behind the second chunk", THREE, CHUNKS + 2 * BLOCK, END, "chunks", 32768),
  cut("ends in the final chunk", THREE, END - 1, 1, "chunks", 32768),
  cut("ends in the final chunk's tag, 15 bytes of it", THREE, CHUNKS + 2 * BLOCK + 15, END, "chunks", 32768),
  cut("without the empty final chunk", TWO, CHUNKS + BLOCK, 16, "chunks", 16384),
  cut("first chunk dropped", THREE, CHUNKS, BLOCK, "chunks", 0),
  cut("second chunk dropped", THREE, CHUNKS + BLOCK, BLOCK, "chunks", 16384),
  placed("first chunk twice", CHUNKS + BLOCK, 0, [THREE, CHUNKS, CHUNKS + BLOCK], 16384),
  placed("first chunk in place of the second", CHUNKS + BLOCK, BLOCK, [THREE, CHUNKS, CHUNKS + BLOCK], 16384),
  placed("final chunk twice", END, 0, [THREE, CHUNKS + 2 * BLOCK, END], 32768),
  placed("something behind the end", END, 0, [THREE, 0, 20], 32768),
  placed("a chunk of another file", CHUNKS, BLOCK, [TWO, CHUNKS, CHUNKS + BLOCK], 0),
  {
    name: "first and second chunk swapped",
    file: THREE,
    edits: [
      { at: CHUNKS, remove: BLOCK },
      { at: CHUNKS + BLOCK, remove: 0, insert: { file: THREE, from: CHUNKS, to: CHUNKS + BLOCK } },
    ],
    code: "damaged",
    step: "chunks",
    released: 0,
  },
  {
    name: "the message of another file",
    file: THREE,
    edits: [{ at: 348, remove: END, insert: { file: TWO, from: 348, to: CHUNKS + BLOCK + 16 } }],
    code: "wrong_key",
    step: "commitment",
    released: 0,
  },
  { name: "padded: flag taken away", file: PADDED, edits: [{ at: 10, xor: 1 }], code: "wrong_key", step: "commitment", released: 0 },
  { name: "padded: size altered", file: PADDED, edits: [{ at: 404 + 1023, xor: 1 }], code: "damaged", step: "chunks", released: 0 },
];

/** Bytes of a file above, or of this text's base64. */
export type Cutting =
  { readonly file: string; readonly from: number; readonly to: number } | { readonly bytes: string };

/** What happens to a file, in this order. Offsets are of the bytes as the edit before left them. */
export type Edit =
  | { readonly at: number; readonly xor: number }
  | { readonly at: number; readonly remove: number; readonly insert?: Cutting };

export interface FailureVector {
  readonly name: string;
  /** The file that is edited; its data key is used. */
  readonly file: string;
  readonly edits: readonly Edit[];
  readonly code: CryptoErrorCode;
  readonly step: CryptoStep;
  /** Content bytes in front of the failure: what a stream may have given by then. */
  readonly released: number;
}
