/** Schema-valid messages for an endpoint, with ids that lead somewhere. */
import { isBytes, sharedHeaders, TUS_VERSION, batchPart, type EndpointDefinition } from "@coffer/contract";
import type * as z from "zod/mini";
import { digestField, tusChecksum, tusMetadata } from "../conformance/samples.ts";
import { arbitraryOf } from "./arbitrary.ts";
import type { Draw } from "./draw.ts";
import type { Message } from "./message.ts";
import type { Kind, Pool, Sources, Fields } from "./pool.ts";
import { drawEvent, signEvent, telling } from "./secrets.ts";
import { batchForm, FORM_TYPE } from "../kit/batch-form.ts";

export function validMessage(e: EndpointDefinition, sources: Sources): Message {
  const params = withVersion(withDelivery(section(e.params, sources), sources), sources);
  const drawn = likely(e, section(e.query, sources), sources.draw);
  const query = new URLSearchParams(textFields(telling(e, drawn, sources)));
  const body = drawBody(e, sources);
  const template = sources.draw.any([e.path, ...(e.aliases ?? [])]) ?? e.path;
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name])));
  return {
    method: e.method,
    target: query.size === 0 ? path : `${path}?${query.toString()}`,
    headers: drawHeaders(e, sources, body),
    body,
    origin: e,
    mutations: [],
  };
}

/** A delivery is found under its own endpoint alone. */
function withDelivery(params: Fields, { draw, pool }: Sources): Fields {
  const known = "deliveryId" in params && draw.chance(0.8) ? pool.draw("delivery", draw) : undefined;
  if (known === undefined) return params;
  const [webhookId, , deliveryId] = known.split("/");
  return { ...params, webhookId, deliveryId };
}

/** A version is found under its own file alone. */
function withVersion(params: Fields, { draw, pool }: Sources): Fields {
  const name = ["versionId", "sourceId"].find((each) => each in params);
  const known = name !== undefined && draw.chance(0.8) ? pool.draw("version", draw) : undefined;
  if (name === undefined || known === undefined) return params;
  const [fileId, , id] = known.split("/");
  return { ...params, fileId, [name]: id };
}

function section(schema: z.core.$ZodType | undefined, sources: Sources): Fields {
  if (schema === undefined) return {};
  return ground(sources.draw.value(arbitraryOf(schema)) as Fields, sources);
}

/** Drops what rarely fits together, so that most valid messages also succeed. */
function likely(e: EndpointDefinition, query: Fields, draw: Draw): Fields {
  const kept: Fields = { ...query };
  if (draw.chance(0.7)) delete kept["cursor"];
  if (draw.chance(0.6)) delete kept["folderId"];
  if (draw.chance(0.6)) delete kept["vaultId"];
  if (e.id === "files.upload" && draw.chance(0.9)) kept["name"] ??= `f${String(draw.int(1_000_000))}`;
  return kept;
}

/** What stands in a message for a shared vault: a public one refuses it, and there are no others here. */
function withoutStatements(fields: Fields, draw: Draw): Fields {
  if (draw.chance(0.2)) return fields;
  const plain = Object.entries(fields).filter(([name]) => name !== "shared" && !Object.hasOwn(sharedHeaders, name));
  return { ...Object.fromEntries(plain), ...(fields["type"] === "shared" ? { type: "public" } : {}) };
}

/** Header fields that are left out more often than not. */
const RARE: Readonly<Record<string, number>> = {
  "content-type": 0.6,
  "content-digest": 0.7,
  "repr-digest": 0.8,
  "upload-checksum": 0.6,
  "if-match": 0.6,
  "if-none-match": 0.6,
};

const KINDS: Readonly<Record<string, Kind>> = {
  vaultId: "vaultId",
  folderId: "folderId",
  parentId: "folderId",
  fileId: "fileId",
  uploadId: "uploadId",
  keyId: "keyId",
  inviteId: "inviteId",
  sessionId: "sessionId",
  webhookId: "webhookId",
  cursor: "cursor",
};

/** Puts real ids where the schema drew some: mostly the account's own, sometimes another's, sometimes nobody's. */
function ground(fields: Fields, { draw, pool, foreign }: Sources): Fields {
  const real = (kind: Kind) => (draw.chance(0.85) ? pool : foreign).draw(kind, draw);
  const entries = Object.entries(fields).map(([name, value]): [string, unknown] => {
    if (name === "vaultIds" && Array.isArray(value)) return [name, [real("vaultId") ?? value[0]]];
    const kind = KINDS[name];
    if (kind === undefined || value === null || value === "root" || draw.chance(0.08)) return [name, value];
    return [name, real(kind) ?? value];
  });
  return Object.fromEntries(entries);
}

function textFields(fields: Fields): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, String(value)]),
  );
}

function drawBody(e: EndpointDefinition, sources: Sources): Buffer | null {
  const { draw } = sources;
  if (e.body === undefined || (e.bodyOptional && draw.chance(0.5))) return null;
  if (e.id === "billing.events" && draw.chance(0.7)) return drawEvent(sources);
  if (e.id === "files.batch" && draw.chance(0.9)) return drawForm(sources);
  if (isBytes(e.body)) return draw.bytes(draw.pick([0, 1, 10, 10, 300, 300, 3000]));
  const fields = withoutStatements(ground(draw.value(arbitraryOf(e.body)) as Fields, sources), draw);
  return Buffer.from(JSON.stringify(telling(e, fields, sources)));
}

/** Parts with headers as the contract has them, a few of them cut or of other bytes. */
function drawForm({ draw, ...sources }: Sources): Buffer {
  const parts = Array.from({ length: draw.pick([0, 1, 1, 2, 5, 101]) }, () => {
    const drawn = ground(draw.value(arbitraryOf(batchPart)) as Fields, { draw, ...sources });
    const { shared: _, contentDigest: __, reprDigest: ___, ...plain } = drawn;
    const text = JSON.stringify(draw.chance(0.8) ? plain : drawn).replace(/[^ -~]/gu, "?");
    return { said: draw.chance(0.1) ? text.slice(0, draw.int(text.length)) : text, content: draw.bytes(draw.int(300)) };
  });
  const form = batchForm(parts);
  return draw.chance(0.1) ? form.subarray(0, draw.int(form.length)) : form;
}

function drawHeaders(e: EndpointDefinition, sources: Sources, body: Buffer | null): [string, string][] {
  const { draw, keys } = sources;
  const all = Object.entries(textFields(withoutStatements(section(e.headers, sources), draw)));
  const drawn = Object.fromEntries(all.filter(([name]) => !draw.chance(RARE[name] ?? 0)));
  const fields: Record<string, string> = { ...drawn };
  for (const name of Object.keys(drawn)) fields[name] = meaningful(name, drawn[name] ?? "", sources, body);
  if (e.auth === "credential") fields.authorization = `Bearer ${draw.chance(0.85) ? keys[0] : draw.pick(keys)}`;
  if (body !== null && e.body !== undefined) {
    if (!isBytes(e.body)) fields["content-type"] = "application/json";
    else if (e.id === "files.batch") fields["content-type"] = FORM_TYPE;
    else if (e.body.mediaType !== undefined) fields["content-type"] = e.body.mediaType;
  }
  if (e.id === "billing.events" && draw.chance(0.8)) Object.assign(fields, signEvent(body, sources));
  if (e.effect === "create" && draw.chance(0.2)) fields["idempotency-key"] = `"fuzz-${String(draw.int(40))}"`;
  return Object.entries(fields).map(([name, value]) => [name, asHeader(value)]);
}

const RANGES = [
  "bytes=0-0",
  "bytes=1-5",
  "bytes=0-",
  "bytes=-1",
  "bytes=-0",
  "bytes=9-1",
  "bytes=0-1,3-4",
  "bytes=99999999999999999999-",
  "bytes=99999999-",
  "lines=1-2",
] as const;

/** Headers whose schema is wide (any text) mostly get a value that means something. */
function meaningful(name: string, drawn: string, { draw, pool, foreign }: Sources, body: Buffer | null): string {
  if (draw.chance(0.1)) return drawn;
  const bytes = body ?? Buffer.alloc(0);
  switch (name) {
    case "range":
      return draw.pick(RANGES);
    case "if-range":
    case "if-match":
      return draw.chance(0.8) ? (pool.draw("etag", draw) ?? drawn) : draw.pick(["*", drawn, 'W/"x"']);
    case "if-none-match":
      return drawn === "*" ? drawn : (pool.draw("etag", draw) ?? drawn);
    case "content-type":
      return draw.pick(["text/plain", "application/pdf", "multipart/form-data; boundary=x", drawn]);
    case "content-digest":
    case "repr-digest":
      return draw.pick([digestField(bytes), digestField(bytes), "sha-256=:AAAA:", "md5=:AAAA:", drawn]);
    case "upload-checksum":
      return draw.pick([tusChecksum("sha256", bytes), tusChecksum("sha1", bytes), "sha256 AAAA", "md5 AAAA", drawn]);
    case "tus-resumable":
      return TUS_VERSION;
    case "upload-length":
      return draw.chance(0.8) ? String(draw.pick([0, 1, 10, 300, 310, 3000])) : drawn;
    case "upload-offset":
      return draw.chance(0.8) ? String(draw.pick([0, 0, 0, 1, 10, 300])) : drawn;
    case "upload-metadata":
      return metadata(draw, draw.chance(0.85) ? pool : foreign);
    default:
      return drawn;
  }
}

function metadata(draw: Draw, pool: Pool): string {
  const fields: Record<string, string> = {};
  if (draw.chance(0.85)) fields.filename = `f${String(draw.int(1_000_000))}.bin`;
  if (draw.chance(0.3)) fields.filetype = draw.pick(["text/plain", "x", "image/png"]);
  const add = (kind: "vaultId" | "folderId" | "fileId", probability: number) => {
    const id = draw.chance(probability) ? pool.draw(kind, draw) : undefined;
    if (id !== undefined) fields[kind] = id;
  };
  add("vaultId", 0.4);
  add("folderId", 0.2);
  add("fileId", 0.15);
  return tusMetadata(fields);
}

/** What a header can carry at all: Node's client refuses the rest (the raw-socket cases send it). */
function asHeader(value: string): string {
  return value.replace(/[^\t\u0020-\u007e\u0080-\u00ff]/g, "?");
}
