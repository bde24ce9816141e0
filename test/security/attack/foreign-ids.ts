/**
 * Every operation that asks for a credential × every place of it that takes an id × every kind of credential (callers.ts), each with ids of
 * somebody else. The operations and places come from the contract, so a new operation joins by itself.
 */
import { api, endpointsOf, isBytes, TUS_VERSION, type EndpointDefinition } from "@coffer/contract";
import type * as z from "zod/mini";
import { arbitraryOf } from "../../fuzz/arbitrary.ts";
import { openDraw, type Draw } from "../../fuzz/draw.ts";
import { makeCallers } from "./callers.ts";
import { signUp, type SignedUp } from "../../kit/signed-up.ts";
import { type Answer, type Call, type Section, send, type Target } from "./target.ts";
import { makeObjects, readObjects, type Objects } from "./objects.ts";

/** Which object a field names, whatever section it stands in. */
const OBJECT_OF: Readonly<Record<string, keyof Objects>> = {
  vaultId: "vaultId",
  vaultIds: "vaultId",
  folderId: "folderId",
  parentId: "folderId",
  fileId: "fileId",
  uploadId: "uploadId",
  keyId: "keyId",
  inviteId: "inviteId",
  webhookId: "webhookId",
  deliveryId: "deliveryId",
  ids: "fileId",
  id: "fileId",
  versionId: "versionId",
  sourceId: "versionId",
  sessionId: "sessionId",
  chainAddress: "chainAddress",
  chainObjectId: "chainObjectId",
};

/** Draws of everything else of a request, for each place. */
const DRAWS = 3;

/** Where one operation takes an id. */
interface Place {
  readonly endpoint: EndpointDefinition;
  readonly section: "params" | "query" | "body" | "metadata";
  readonly field: string;
  /** The list of objects that the field is in, such as `changes`. Absent: it stands by itself. */
  readonly list?: string;
}

export function placesOf(endpoints: readonly EndpointDefinition[]): Place[] {
  return endpoints
    .filter(({ auth }) => auth === "credential")
    .flatMap((endpoint) =>
      (["params", "query", "body"] as const)
        .flatMap((section) =>
          fieldsOf(endpoint[section])
            .filter((field) => Object.hasOwn(OBJECT_OF, field))
            .map((field): Place => ({ endpoint, section, field }))
            .concat(
              listsIn(endpoint[section]).flatMap(({ list, fields }) =>
                fields.map((field): Place => ({ endpoint, section, field, list })),
              ),
            ),
        )
        .concat(
          fieldsOf(endpoint.headers).includes("upload-metadata")
            ? ["vaultId", "folderId", "fileId"].map((field): Place => ({ endpoint, section: "metadata", field }))
            : [],
        ),
    );
}

/** Lists of objects that hold ids. */
function listsIn(schema: unknown): { readonly list: string; readonly fields: string[] }[] {
  return fieldsOf(schema).flatMap((list) => {
    const element = elementOf(schema, list);
    const fields = fieldsOf(element).filter((field) => Object.hasOwn(OBJECT_OF, field));
    return fields.length === 0 ? [] : [{ list, fields }];
  });
}

function elementOf(schema: unknown, list: string): z.core.$ZodType | undefined {
  const field = (schema as { readonly shape?: Readonly<Record<string, z.core.$ZodTypes>> }).shape?.[list];
  return field?._zod.def.type === "array" ? field._zod.def.element : undefined;
}

function fieldsOf(schema: unknown): string[] {
  return Object.keys((schema as Partial<z.core.$ZodObject["_zod"]["def"]> | undefined)?.shape ?? {});
}

/** Names of ids at any depth of what an operation takes, as `section.field`; `*` stands for what lies deeper. */
export function idsDeepIn(endpoint: EndpointDefinition): string[] {
  return (["params", "query", "body"] as const).flatMap((section) => {
    const schema = endpoint[section];
    if (schema === undefined || isBytes(schema)) return [];
    return namesIn(schema, 0)
      .filter(({ name }) => /(?:Ids?|Address)$|^ids$/.test(name))
      .map(({ name, depth }) => `${endpoint.id} ${section}.${depth === 1 ? "" : "*."}${name}`);
  });
}

function namesIn(schema: z.core.$ZodType, depth: number): { name: string; depth: number }[] {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case "optional":
    case "nullable":
      return namesIn(def.innerType, depth);
    case "array":
      return namesIn(def.element, depth);
    case "union":
      return def.options.flatMap((option) => namesIn(option, depth));
    case "pipe":
      return namesIn(def.in, depth);
    case "object":
      return Object.entries(def.shape).flatMap(([name, field]) => [
        { name, depth: depth + 1 },
        ...namesIn(field, depth + 1),
      ]);
    default:
      return [];
  }
}

/** Whoever is attacked, where it is not an account with public vaults alone. */
export interface Victim {
  readonly account: SignedUp;
  /** In the place of what every account has. */
  readonly objects: Partial<Objects>;
}

export async function attackForeignIds(target: Target, seed: number, given?: Victim): Promise<Section> {
  // In development a request without a credential is the first user's: this one is neither side.
  await signUp(target.baseUrl);
  const victim = given?.account ?? (await signUp(target.baseUrl));
  const attacker = await signUp(target.baseUrl);
  const theirs = { ...(await makeObjects(target, victim)), ...given?.objects };
  const own = await makeObjects(target, attacker);
  const { callers, notes: missing } = await makeCallers(target, victim, attacker, own);
  const before = await readObjects(target, victim, theirs);
  const draw = openDraw(seed);
  const findings: string[] = [];
  const places = placesOf(endpointsOf(api));
  const reached = new Set<string>();
  let checks = 0;
  for (const place of places) {
    for (const caller of callers) {
      for (let turn = 0; turn < DRAWS; turn += 1) {
        const answer = await send(target, callFor(place, { theirs, own, draw }), caller.credential);
        checks += 1;
        // A caller that lacks a credential, a right or a scope is stopped before the id.
        if (caller === callers[0] && answer.code !== "validation_failed") reached.add(nameOf(place));
        findings.push(...judge(answer, theirs).map((what) => `${nameOf(place)}, ${caller.kind}: ${what}`));
      }
    }
  }
  if ((await readObjects(target, victim, theirs)) !== before)
    findings.push("the objects of the other account have changed");
  const missed = places.map(nameOf).filter((name) => !reached.has(name));
  findings.push(...missed.map((name) => `${name}: every request was refused before its id was looked at`));
  const notes = [
    `${String(places.length)} places of ids, ${String(callers.length)} kinds of credential, seed ${String(seed)}`,
    ...missing,
  ];
  return { name: "ids of others", checks, findings, notes };
}

export function nameOf({ endpoint, section, field, list }: Place): string {
  return `${endpoint.id} ${section}.${list === undefined ? "" : "*."}${field}`;
}

interface Ids {
  /** Of the account that is attacked. */
  readonly theirs: Objects;
  /** Of the caller: all other ids of the request. */
  readonly own: Objects;
  readonly draw: Draw;
}

function callFor(place: Place, ids: Ids): Call {
  const { endpoint } = place;
  const params = drawn("params", place, ids);
  const query = new URLSearchParams(
    Object.entries(drawn("query", place, ids)).map(([name, value]) => [name, String(value)]),
  );
  const path = endpoint.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name])));
  const call = {
    method: endpoint.method,
    path: query.size === 0 ? path : `${path}?${query.toString()}`,
    headers: headersFor(place, ids),
  };
  if (endpoint.body === undefined || (endpoint.bodyOptional === true && place.section !== "body")) return call;
  return isBytes(endpoint.body)
    ? { ...call, bytes: Buffer.from("attack") }
    : { ...call, json: drawn("body", place, ids) };
}

/** The fields that must be there, those that name objects, and of the others none: they are what requests are refused for. */
function drawn(
  section: "params" | "query" | "body",
  place: Place,
  { theirs, own, draw }: Ids,
): Record<string, unknown> {
  const schema = place.endpoint[section];
  if (schema === undefined || isBytes(schema)) return {};
  const fields = draw.value(arbitraryOf(schema)) as Record<string, unknown>;
  const shape =
    (schema as { readonly shape?: Readonly<Record<string, { readonly _zod: { readonly optin?: string } }>> }).shape ??
    {};
  const kept = Object.entries(fields).filter(([name]) => shape[name]?._zod.optin !== "optional" || name === "name");
  const set = Object.fromEntries(kept) as Record<string, unknown>;
  for (const name of Object.keys(set)) if (OBJECT_OF[name] !== undefined) set[name] = idFor(name, own, section);
  // What a list holds would be refused before the ids beside it.
  for (const [name, value] of Object.entries(set))
    if (Array.isArray(value) && OBJECT_OF[name] === undefined)
      set[name] = listsIn(schema).some(({ list }) => list === name)
        ? [changed(own, place.section === section && place.list === name ? { field: place.field, theirs } : null)]
        : [];
  if (place.section === section && place.list === undefined) {
    set[place.field] = idFor(place.field, theirs, section);
    // A delivery lies under its own webhook.
    if (place.field === "deliveryId") set["webhookId"] = theirs.webhookId;
  }
  return set;
}

/** A change of one's own file, which the service would make, with one id of somebody else. */
function changed(
  own: Objects,
  other: { readonly field: string; readonly theirs: Objects } | null,
): Record<string, unknown> {
  const change = { id: own.fileId, ifMatch: "*", name: "attack" };
  return other === null ? change : { ...change, [other.field]: idFor(other.field, other.theirs, "body") };
}

function idFor(field: string, objects: Objects, section: Place["section"]): unknown {
  // In a path it is an API key's.
  if (field === "keyId" && section === "body") return objects.vaultKeyId;
  const id = objects[OBJECT_OF[field] ?? "vaultId"];
  return /ids$/i.test(field) ? [id] : id;
}

function headersFor({ endpoint, section, field }: Place, { theirs }: Ids): Record<string, string> {
  const names = fieldsOf(endpoint.headers);
  const mediaType =
    isBytes(endpoint.body ?? { kind: "bytes" }) && endpoint.body !== undefined
      ? (endpoint.body as { mediaType?: string }).mediaType
      : undefined;
  const metadata = {
    filename: "attack",
    ...(section === "metadata" ? { [field]: String(idFor(field, theirs, section)) } : {}),
  };
  if (section === "metadata" && field === "fileId") delete (metadata as { filename?: string }).filename;
  const known: Readonly<Record<string, string>> = {
    "tus-resumable": TUS_VERSION,
    "upload-length": "6",
    "upload-offset": "0",
    "upload-metadata": Object.entries(metadata)
      .map(([key, value]) => `${key} ${Buffer.from(value).toString("base64")}`)
      .join(","),
  };
  const set = Object.fromEntries(Object.entries(known).filter(([name]) => names.includes(name)));
  return mediaType === undefined ? set : { ...set, "content-type": mediaType };
}

/** What an answer to a request about somebody else's object must not be. */
function judge(given: Answer, theirs: Objects): string[] {
  const answer = { ...given, ...(refusalOfAll(given) ?? emptyPast(given)) };
  const found: string[] = [];
  if (answer.status >= 500 && answer.code !== "not_configured") found.push(`status ${String(answer.status)}`);
  if (answer.status < 400) found.push(`it was let in with ${String(answer.status)}`);
  if (answer.status >= 400 && answer.text !== "" && !/^\{"error":"(?:[^"\\]|\\.)*"\}$/.test(answer.text))
    found.push("the body is not { error }");
  for (const text of [theirs.canary, ...(answer.status < 400 ? Object.values(theirs) : [])])
    if (answer.text.includes(text)) found.push("the answer shows what is not the caller's");
  return found;
}

/** A request of several parts answers 200: it was refused when each of them was. Each result repeats the id that was asked for. */
function refusalOfAll({ status, text }: Answer): { status: number; text: string } | null {
  if (status !== 200 || !text.startsWith('{"results":')) return null;
  const { results } = JSON.parse(text) as { results: { error: { message: string } | null }[] };
  const [first] = results;
  if (first?.error == null || results.some(({ error }) => error === null)) return null;
  return { status: 404, text: JSON.stringify({ error: first.error.message }) };
}

/** A filter of the change feed takes ids of what is gone too: an unknown one meets no change, whoever had it. */
function emptyPast({ status, text }: Answer): { status: number; text: string } | null {
  if (status !== 200 || !text.startsWith('{"changes":[],')) return null;
  return { status: 404, text: "" };
}
