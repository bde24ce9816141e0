/** Lies made of truths: whatever the service has served, in the place of something else, whole or in part. */
import type { Draw } from "./draw.ts";

type Fields = Readonly<Record<string, unknown>>;

/** A content as it was served: its headers and its bytes. */
export interface ServedContent {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Everything that was ever served, by what it is. */
export interface Served {
  /** Objects by kind: `file`, `vault`, `key`, … */
  readonly objects: Map<string, Fields[]>;
  /** Whole answers by endpoint. */
  readonly answers: Map<string, Fields[]>;
  readonly contents: ServedContent[];
}

export function openServed(): Served {
  return { objects: new Map(), answers: new Map(), contents: [] };
}

/** How many of a kind are remembered; later ones replace a random one behind the first ones, which are the world as it was built. */
const MOST = 400;
const FIRST = 250;

/** Each once: what is served again and again would be all that lies are made of. */
function keep<Value>(list: Value[], value: Value, draw: Draw): void {
  const text = JSON.stringify(value);
  if (!list.some((known) => JSON.stringify(known) === text)) keepAnother(list, value, draw);
}

function keepAnother<Value>(list: Value[], value: Value, draw: Draw): void {
  if (list.length < MOST) list.push(value);
  else list[FIRST + draw.below(MOST - FIRST)] = value;
}

function listOf<Value>(map: Map<string, Value[]>, name: string): Value[] {
  const list = map.get(name) ?? [];
  map.set(name, list);
  return list;
}

/** Remembers an honest answer. */
export function noteAnswer(served: Served, endpointId: string, said: Fields, draw: Draw): void {
  keep(listOf(served.answers, endpointId), said, draw);
  for (const [name, value] of Object.entries(said))
    for (const object of Array.isArray(value) ? value : [value])
      if (isFields(object)) keep(listOf(served.objects, kindOf(name)), object, draw);
}

export function noteContent(served: Served, content: ServedContent, draw: Draw): void {
  const isKept = served.contents.some(({ body }) => body.equals(content.body));
  if (content.body.length > 0 && !isKept) keepAnother(served.contents, content, draw);
}

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Of a list's or an object's name in an answer: `files` and `file` are the same. */
function kindOf(name: string): string {
  return name.endsWith("ies") ? `${name.slice(0, -3)}y` : name.replace(/s$/, "");
}

/** Fields that only together say something that could be true. */
const GROUPS: readonly (readonly string[])[] = [
  ["vaultId", "shared", "encrypted"],
  ["vaultId"],
  ["type", "chainObjectId", "generation", "plainNames"],
  ["chainObjectId", "generation"],
  ["chainObjectId"],
  ["folderId"],
  ["parentId"],
  ["versionId", "size", "sha256"],
  ["keyId", "record", "generation"],
  ["shared"],
  ["id"],
];

const SHARED_GROUPS: readonly (readonly string[])[] = [
  ["version"],
  ["entry", "metadata"],
  ["entry", "metadata", "nameIndex"],
  ["metadata"],
  ["nameIndex"],
];

/** What one call is lied to with: the same lie about the same object in all of its answers, mostly. */
export interface Plan {
  /** How probable a lie is in each answer. */
  readonly rate: number;
  readonly kind: "replace" | "mix" | "impostor" | "other id" | "insert" | "replay" | "public" | "chaos";
  readonly partners: Map<string, Fields | null>;
}

const KINDS: readonly Plan["kind"][] = [
  ...["replace", "mix", "mix", "impostor", "other id", "insert", "replay", "public", "public", "chaos"],
] as readonly Plan["kind"][];

export function drawPlan(draw: Draw): Plan {
  return { rate: draw.pick([0.3, 0.6, 1, 1]), kind: draw.pick(KINDS), partners: new Map() };
}

/** What the service says in place of `said`; the same value when this answer is true. */
export function lieAbout(served: Served, plan: Plan, endpointId: string, said: Fields, draw: Draw): Fields {
  if (!draw.chance(plan.rate)) return said;
  if (plan.kind === "replay") return draw.pick([said, ...(served.answers.get(endpointId) ?? [])]);
  const entries = Object.entries(said).map(([name, value]): [string, unknown] => {
    const kind = kindOf(name);
    if (isFields(value)) return [name, lieAboutObject(served, plan, kind, value, draw)];
    if (!Array.isArray(value)) return [name, lieAboutScalar(served, plan, endpointId, name, value, draw)];
    const items = value.map((item: unknown) =>
      isFields(item) && draw.chance(0.7) ? lieAboutObject(served, plan, kind, item, draw) : item,
    );
    return [name, plan.kind === "insert" ? withMore(served, kind, items, draw) : items];
  });
  return Object.fromEntries(entries);
}

/** What stands beside the objects: the key of a folder's names, a page's cursor. */
function lieAboutScalar(
  served: Served,
  plan: Plan,
  endpointId: string,
  name: string,
  value: unknown,
  draw: Draw,
): unknown {
  const keys = name === "keyId" ? (served.objects.get("key") ?? []).map(({ keyId }) => keyId) : [];
  if (keys.length > 0 && draw.chance(0.5)) return draw.pick(keys);
  if (name === "nextCursor" || !["chaos", "replace", "mix"].includes(plan.kind)) return value;
  return draw.pick([value, ...(served.answers.get(endpointId) ?? []).map((answer) => answer[name] ?? value)]);
}

function withMore(served: Served, kind: string, items: readonly unknown[], draw: Draw): unknown[] {
  const pool = served.objects.get(kind) ?? [];
  if (pool.length === 0) return [...items];
  const more = Array.from({ length: 1 + draw.below(3) }, () => {
    const invented = draw.pick(pool);
    return draw.chance(0.5) ? invented : mixed(invented, draw.pick(pool), draw);
  });
  return draw.chance(0.5) ? [...more, ...items] : [...items, ...more];
}

function lieAboutObject(served: Served, plan: Plan, kind: string, object: Fields, draw: Draw): Fields {
  const pool = served.objects.get(kind) ?? [];
  if (pool.length === 0 || plan.kind === "insert") return object;
  const name = `${kind} ${JSON.stringify(object["id"] ?? object["keyId"])}`;
  const known = plan.partners.get(name);
  if (known !== undefined && draw.chance(0.8)) return known === null ? object : told(plan, object, known, draw);
  const partner = draw.chance(0.1) ? null : draw.pick(partnersFor(plan, pool));
  plan.partners.set(name, partner);
  return partner === null ? object : told(plan, object, partner, draw);
}

function partnersFor({ kind }: Plan, pool: readonly Fields[]): readonly Fields[] {
  if (kind !== "public") return pool;
  const open = pool.filter((one) => one["type"] === "public" || ("shared" in one && one["shared"] === null));
  return open.length === 0 ? pool : open;
}

function told({ kind }: Plan, object: Fields, other: Fields, draw: Draw): Fields {
  if (kind === "replace") return other;
  if (kind === "impostor") return { ...other, ...taken(object, ["id", "keyId"]) };
  if (kind === "other id") return { ...object, ...taken(other, ["id", "keyId"]) };
  if (kind === "public")
    return {
      ...object,
      ...taken(other, ["vaultId", "shared", "encrypted", "type", "chainObjectId", "generation", "plainNames"]),
    };
  return mixed(object, other, draw);
}

/** `object` with some fields of `other`. */
function mixed(object: Fields, other: Fields, draw: Draw): Fields {
  const groups = GROUPS.filter((group) => group.every((name) => name in object && name in other));
  let lie = object;
  for (let times = 1 + draw.below(2); times > 0 && groups.length > 0; times -= 1)
    lie = { ...lie, ...taken(other, draw.pick(groups)) };
  const [own, foreign] = [object["shared"], other["shared"]];
  if (isFields(own) && isFields(foreign) && draw.chance(0.4))
    lie = { ...lie, shared: { ...own, ...taken(foreign, draw.pick(SHARED_GROUPS)) } };
  if (draw.chance(0.2)) {
    const name = draw.pick(Object.keys(object));
    if (name in other) lie = { ...lie, [name]: other[name] };
  }
  return lie;
}

function taken(from: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(names.filter((name) => name in from).map((name) => [name, from[name]]));
}
