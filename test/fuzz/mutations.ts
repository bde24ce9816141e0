/** Ways to make a valid message wrong, or just odd. */
import { isBytes } from "@coffer/contract";
import type { Draw } from "./draw.ts";
import type { Message } from "./message.ts";

type Mutation = (message: Message, draw: Draw) => Message;

const ODD_VALUES: readonly [unknown, ...unknown[]] = [
  null,
  0,
  -1,
  1e308,
  1.5,
  true,
  "",
  " ",
  [],
  {},
  [[[]]],
  "x".repeat(10_000),
  "\u0000",
  "a\u0000b",
  "\ud800",
  "\u202egnp.exe",
  "../../etc/passwd",
  "e\u0301\u200d\u{1F469}\u200D\u{1F680}",
  "'; DROP TABLE files; --",
  "%00",
  "\r\nX-Injected: 1",
  "NaN",
  "9007199254740993",
  { toString: "x" },
];
const ODD_KEYS = ["__proto__", "constructor", "prototype", "hasOwnProperty", "", "toString", "then", "$where"] as const;
const ODD_IDS = [
  "not-an-id",
  "00000000-0000-0000-0000-000000000000",
  "5F0C1D9E-0000-4000-8000-0123456789AB",
  "..",
  "%2e%2e%2f",
  "%00",
  "%ff",
  "%",
  "'",
  "x".repeat(300),
  "a%2Fb",
  "{fileId}",
  "%F0%9F%92%A9",
] as const;
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "QUERY"] as const;
const TYPES = [
  "text/plain",
  "application/x-www-form-urlencoded",
  "multipart/form-data",
  "multipart/form-data; boundary=x",
  "application/json; charset=utf-16",
  "application/json;charset=utf-8",
  "APPLICATION/JSON",
  "application/offset+octet-stream",
  "x",
  "",
  ";;;",
  "application/vnd.api+json",
] as const;
const ODD_HEADERS: readonly [readonly [string, string], ...(readonly [string, string])[]] = [
  ["content-encoding", "gzip"],
  ["expect", "100-continue"],
  ["expect", "the-unexpected"],
  ["upgrade", "websocket"],
  ["te", "trailers"],
  ["accept", "application/xml"],
  ["accept-encoding", "br;q=1.0, *;q=0"],
  ["x-http-method-override", "DELETE"],
  ["x-request-id", "not a uuid"],
  ["x-request-id", "\u00ff\u00fe"],
  ["api-version", "tomorrow"],
  ["idempotency-key", ""],
  ["idempotency-key", '"'],
  ["idempotency-key", "k".repeat(256)],
  ["authorization", "Bearer"],
  ["authorization", "Bearer  "],
  ["authorization", `Bearer ${"x".repeat(5000)}`],
  ["authorization", "bearer cof_x, Basic eA=="],
  ["cookie", "a=b; __proto__=c"],
  ["x-forwarded-for", "1.2.3.4, ::1"],
  ["x-forwarded-host", "evil.example"],
  ["origin", "https://evil.example"],
  ["sec-fetch-site", "cross-site"],
  ["range", "bytes=0-0,0-0,0-0,0-0,0-0,0-0,0-0,0-0,0-0,0-0"],
  ["if-modified-since", "yesterday"],
  ["content-range", "bytes 0-1/2"],
  ["upload-defer-length", "1"],
  ["upload-concat", "partial"],
  ["upload-length", "-1"],
  ["upload-length", "0x10"],
  ["upload-offset", "00000000000000000000000001"],
  ["upload-metadata", "filename"],
  ["upload-metadata", ",,,"],
  ["upload-metadata", "filename LyovLi4=,filename eA=="],
  ["tus-resumable", "2.0.0"],
  ["x-big", "h".repeat(20_000)],
];

/** Every mutation by name. */
export const MUTATIONS: Readonly<Record<string, Mutation>> = {
  "odd value": (message, draw) =>
    inJson(message, (object) => ({ ...object, [fieldOf(object, draw)]: draw.pick(ODD_VALUES) })),
  "missing field": (message, draw) => inJson(message, (object) => without(object, fieldOf(object, draw))),
  "extra field": (message, draw) =>
    inJson(message, (object) => ({ ...object, [`x${String(draw.int(99))}`]: draw.pick(ODD_VALUES) })),
  "prototype key": (message, draw) => withBody(message, prototypeKey(message.body, draw.pick(ODD_KEYS))),
  "truncated body": (message, draw) =>
    withBody(message, message.body?.subarray(0, draw.int(message.body.length + 1)) ?? null),
  "flipped byte": (message, draw) => withBody(message, message.body === null ? null : flip(message.body, draw)),
  "deep nesting": (message, draw) => asJson(message, deep(draw.pick([10, 1000, 20_000]))),
  "huge string": (message, draw) =>
    asJson(message, JSON.stringify({ name: "x".repeat(draw.pick([2000, 200_000, 1_200_000])) })),
  "not an object": (message, draw) =>
    asJson(message, draw.pick(["[]", "null", "1", '"x"', "", " ", "\ufeff{}", "{}{}", "undefined", '{"a":1,"a":2}'])),
  "invalid utf-8": (message) =>
    withBody(asJson(message, ""), Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])),
  "unexpected body": (message, draw) => ({
    ...withBody(message, draw.bytes(20)),
    headers: setHeader(message, "content-type", draw.pick(TYPES)),
  }),
  "other method": (message, draw) => ({ ...message, method: draw.pick(METHODS) }),
  "other media type": (message, draw) => ({
    ...message,
    headers: setHeader(message, "content-type", draw.pick(TYPES)),
  }),
  "no media type": (message) => ({ ...message, headers: dropHeader(message, "content-type") }),
  "no credential": (message) => ({ ...message, headers: dropHeader(message, "authorization") }),
  "odd header": (message, draw) => withHeader(message, draw.pick(ODD_HEADERS)),
  "doubled header": (message, draw) => doubled(message, draw),
  "odd id": (message, draw) => ({
    ...message,
    target: message.target.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/, () => draw.pick(ODD_IDS)),
  }),
  "odd path": (message, draw) => ({ ...message, target: oddPath(message.target, draw) }),
  "odd query": (message, draw) => ({ ...message, target: oddQuery(message.target, draw) }),
  "dropped query field": (message) => ({ ...message, target: message.target.replace(/[?&][^&]*$/, "") }),
};

const NAMES = Object.keys(MUTATIONS);

/** A third stay valid; the others get one to three mutations. */
export function mutate(message: Message, draw: Draw): Message {
  const rounds = draw.pick([0, 0, 1, 1, 1, 3]);
  let mutated = message;
  for (let round = 0; round < rounds; round += 1) {
    const name = draw.any(NAMES) ?? "";
    // JSON sent to an endpoint of bytes says little more the hundredth time.
    if (ABOUT_JSON.has(name) && !takesJson(message) && draw.chance(0.8)) continue;
    const change = MUTATIONS[name];
    if (change) mutated = { ...change(mutated, draw), mutations: [...mutated.mutations, name] };
  }
  return mutated;
}

const ABOUT_JSON: ReadonlySet<string> = new Set([
  "odd value",
  "missing field",
  "extra field",
  "prototype key",
  "deep nesting",
  "huge string",
  "not an object",
  "invalid utf-8",
]);

function takesJson({ origin }: Message): boolean {
  return origin.body !== undefined && !isBytes(origin.body);
}

type JsonObject = Record<string, unknown>;

function inJson(message: Message, change: (object: JsonObject) => JsonObject): Message {
  try {
    const value: unknown = JSON.parse((message.body ?? Buffer.from("{}")).toString());
    if (typeof value === "object" && value !== null)
      return asJson(message, JSON.stringify(change(value as JsonObject)));
  } catch {
    // Not a JSON message: an odd JSON body is as good.
  }
  return asJson(message, JSON.stringify(change({})));
}

function fieldOf(object: JsonObject, draw: Draw): string {
  return draw.any(Object.keys(object)) ?? "name";
}

function without(object: JsonObject, field: string): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => name !== field));
}

function asJson(message: Message, text: string): Message {
  return { ...withBody(message, Buffer.from(text)), headers: setHeader(message, "content-type", "application/json") };
}

function withBody(message: Message, body: Buffer | null): Message {
  return { ...message, body };
}

/** Written as text: an object literal would set the prototype instead. */
function prototypeKey(body: Buffer | null, key: string): Buffer {
  const rest = (body?.toString() ?? "{}").replace(/^\{/, "");
  return Buffer.from(`{${JSON.stringify(key)}:{"polluted":true}${rest.startsWith("}") ? "" : ","}${rest}`);
}

function flip(body: Buffer, draw: Draw): Buffer {
  const flipped = Buffer.from(body);
  const at = flipped.length === 0 ? -1 : draw.int(flipped.length);
  if (at >= 0) flipped[at] = draw.int(256);
  return flipped;
}

function deep(levels: number): string {
  return `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
}

function dropHeader(message: Message, name: string): Message["headers"] {
  return message.headers.filter(([other]) => other.toLowerCase() !== name);
}

function setHeader(message: Message, name: string, value: string): Message["headers"] {
  return [...dropHeader(message, name), [name, value]];
}

function withHeader(message: Message, [name, value]: readonly [string, string]): Message {
  return { ...message, headers: setHeader(message, name, value) };
}

function doubled(message: Message, draw: Draw): Message {
  const header = draw.any(message.headers);
  if (header === undefined) return message;
  return { ...message, headers: [...message.headers, [header[0], draw.chance(0.5) ? header[1] : "other"]] };
}

function oddPath(target: string, draw: Draw): string {
  const [path = "", query] = target.split("?", 2);
  const odd = draw.pick([
    `${path}/`,
    `${path}//`,
    path.toUpperCase(),
    `/${path}`,
    `${path}/..`,
    `${path};a=b`,
    path.replace("/api", "/api/./"),
    `${path}%20`,
    `${path}/${"x".repeat(200)}`,
    path.slice(0, -1) || "/",
  ]);
  return query === undefined ? odd : `${odd}?${query}`;
}

function oddQuery(target: string, draw: Draw): string {
  const odd = draw.pick([
    "limit=0",
    "limit=1e3",
    "limit=",
    "limit=1&limit=2",
    "cursor=x",
    "cursor=%00",
    "cursor=eyJ9",
    "name=%ff",
    "name=%E2%80%AE",
    "vaultId=x",
    "__proto__[x]=1",
    "a[b]=c",
    "%=1",
    "&&&",
    "=",
    "trashed=TRUE",
    `name=${"n".repeat(3000)}`,
    "unknown=1",
    "name=..%2f",
    "permanent=1",
    "force=yes",
  ]);
  return `${target}${target.includes("?") ? "&" : "?"}${odd}`;
}
