/** Reads a mail as a mail program would: unfolded headers, encoded words, and the body's transfer encoding. */

export interface ReadMail {
  /** Every header in its order; names in lower case. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The value of a header that must be there once. */
  header(name: string): string;
  /** With "\n" as line break. */
  readonly text: string;
}

export function readMail(bytes: Uint8Array): ReadMail {
  const raw = Buffer.from(bytes).toString("latin1");
  const end = raw.indexOf("\r\n\r\n");
  if (end === -1) throw new Error("the mail has no end of headers");
  const lines = raw
    .slice(0, end)
    .replaceAll(/\r\n(?=[ \t])/g, "")
    .split("\r\n");
  const headers = lines.map((line) => {
    const colon = line.indexOf(":");
    if (colon < 1) throw new Error("a header line has no name");
    return [line.slice(0, colon).toLowerCase(), decodeWords(line.slice(colon + 1).trim())] as const;
  });
  const header = (name: string): string => {
    const found = headers.filter(([each]) => each === name);
    const [first] = found;
    if (first === undefined || found.length > 1) throw new Error(`${found.length} headers ${name}`);
    return first[1];
  };
  const body = decodeBody(raw.slice(end + 4), header("content-transfer-encoding"));
  return { headers, header, text: body.toString("utf8").replaceAll("\r\n", "\n") };
}

/** RFC 2047 §2 and §6.2: white space between two encoded words is none. */
function decodeWords(value: string): string {
  const joined = value.replaceAll(/(\?=)\s+(=\?)/g, "$1$2");
  return joined.replaceAll(/=\?utf-8\?([bq])\?([^?]*)\?=/gi, (_, kind: string, text: string) =>
    kind.toLowerCase() === "b"
      ? Buffer.from(text, "base64").toString("utf8")
      : unquote(text.replaceAll("_", " ")).toString("utf8"),
  );
}

function decodeBody(body: string, encoding: string): Buffer {
  if (encoding === "7bit") return Buffer.from(body, "latin1");
  if (encoding === "base64") return Buffer.from(body, "base64");
  if (encoding === "quoted-printable") return unquote(body.replaceAll("=\r\n", ""));
  throw new Error(`unknown encoding ${encoding}`);
}

function unquote(text: string): Buffer {
  const bytes = text.replaceAll(/=([0-9A-F]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, "latin1");
}
