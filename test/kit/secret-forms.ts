/** The ways in which a secret can stand in a file or a log: as it is, or as some layer has written it. */

export interface SecretForm {
  readonly name: string;
  readonly bytes: Buffer;
}

/** Shorter pieces are too likely to be found by chance. */
const SHORTEST = 10;
/** Different bytes: a made-up `AAAA…` is no secret, and its decoded zeros stand everywhere. */
const FEWEST = 6;

/** All forms of the text that differ, none of them short. */
export function formsOf(text: string): SecretForm[] {
  const plain = Buffer.from(text);
  return usable([
    { name: "raw", bytes: plain },
    ...textForms(text),
    ...binaryForms("", plain),
    ...decoded(text).flatMap(({ name, bytes }) => [{ name, bytes }, ...binaryForms(`${name}, as `, bytes)]),
  ]);
}

/** All forms of bytes that are no text: a key, a piece of a file. */
export function formsOfBytes(given: Uint8Array): SecretForm[] {
  const bytes = Buffer.from(given);
  return usable([
    { name: "raw", bytes },
    ...binaryForms("", bytes),
    { name: "a list of numbers", bytes: Buffer.from([...bytes].join(",")) },
    { name: "a spaced list of numbers", bytes: Buffer.from([...bytes].join(", ")) },
  ]);
}

function usable(forms: readonly SecretForm[]): SecretForm[] {
  const seen = new Set<string>();
  return forms.filter(({ bytes }) => {
    const key = bytes.toString("latin1");
    if (bytes.length < SHORTEST || new Set(bytes).size < FEWEST || seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

function textForms(text: string): SecretForm[] {
  const compact = text.replaceAll(/[\s-]/g, "");
  const json = JSON.stringify(text).slice(1, -1);
  const percent = encodeURIComponent(text);
  const texts = {
    "JSON-escaped": json,
    "JSON-escaped twice": JSON.stringify(json).slice(1, -1),
    "percent-encoded": percent,
    "percent-encoded in lower case": percent.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    "form-encoded": percent.replaceAll("%20", "+"),
    "in lower case": text.toLowerCase(),
    "without separators": compact,
    "without separators in lower case": compact.toLowerCase(),
    ...pieces(text),
  };
  const wide = Buffer.from(text, "utf16le");
  return [
    ...Object.entries(texts).map(([name, value]) => ({ name, bytes: Buffer.from(value) })),
    { name: "UTF-16LE", bytes: wide },
    { name: "UTF-16BE", bytes: Buffer.from(wide).swap16() },
  ];
}

/** A part is as bad as the whole when the rest can be guessed: the inner half of a token, the signature of a JWT. */
function pieces(text: string): Record<string, string> {
  const signature = /^eyJ[\w-]+\.[\w-]+\.([\w-]{20,})$/.exec(text)?.[1];
  if (signature !== undefined) return { "the signature": signature };
  const signing = /^whsec_([0-9A-Za-z+/]{32,})=*$/.exec(text)?.[1];
  if (signing !== undefined) return { "without its prefix": signing };
  const random = /^(?:[a-z]{2,8}_)?([0-9A-Za-z_-]{32,})$/.exec(text)?.[1];
  return random === undefined ? {} : { "the first half": random.slice(0, 24), "the second half": random.slice(-24) };
}

/** Hex, and base64 wherever in a longer text the secret begins: at each of its three alignments. */
function binaryForms(prefix: string, bytes: Buffer): SecretForm[] {
  const hex = bytes.toString("hex");
  const forms = [
    { name: `${prefix}hex`, bytes: Buffer.from(hex) },
    { name: `${prefix}hex in upper case`, bytes: Buffer.from(hex.toUpperCase()) },
  ];
  for (const offset of [0, 1, 2]) {
    const base64 = alignedBase64(bytes, offset);
    forms.push(
      { name: `${prefix}base64`, bytes: Buffer.from(base64) },
      { name: `${prefix}base64url`, bytes: Buffer.from(base64.replaceAll("+", "-").replaceAll("/", "_")) },
    );
  }
  return forms;
}

/** The digits that are made of these bytes alone, when `offset` other bytes come before them and more come after. */
function alignedBase64(bytes: Buffer, offset: number): string {
  const digits = Buffer.concat([Buffer.alloc(offset), bytes])
    .toString("base64")
    .replace(/=+$/, "");
  return digits.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
}

/** The bytes that the text stands for, when it is hex or base64url. */
function decoded(text: string): SecretForm[] {
  if (/^(?:[0-9a-f]{2}){16,}$/i.test(text)) return [{ name: "the decoded bytes", bytes: Buffer.from(text, "hex") }];
  const signing = /^whsec_([0-9A-Za-z+/]{32,})=*$/.exec(text)?.[1];
  if (signing !== undefined) return [{ name: "the decoded bytes", bytes: Buffer.from(signing, "base64") }];
  if (/^[\w-]{43}$/.test(text)) return [{ name: "the decoded bytes", bytes: Buffer.from(text, "base64url") }];
  return [];
}
