/**
 * Checks that an answer is about the object that was asked for. It is below all resources, so that no call goes around
 * it (encryption design §7, pins).
 */
import { isBytes, type EndpointDefinition } from "@coffer/contract";
import { ContractError } from "./errors.ts";
import type { File } from "./file.ts";
import { unnamed } from "./unreadable.ts";

interface Sections {
  readonly params?: unknown;
  readonly query?: unknown;
  readonly body?: unknown;
}

/**
 * Name and value of a place, a party, an object or its type; null: the top of a vault. The service may answer anything
 * else that a call names otherwise.
 */
const HELD = /^type |(Ids?|Address) (0x.+|.{8}-.+|)$/;

export interface ListOptions {
  /**
   * An item that was not asked for is one unreadable item: for lists whose reader checks each. Else it fails the call.
   */
  readonly eachByItself?: boolean | undefined;
  /** The `folderId` of the query is that of a folder with all below it. */
  readonly isBelow?: boolean | undefined;
}

/**
 * Compares the ids of a call with those of its answer. First the id of the object that the path names: `{fileId}` is
 * the id of `file`, `{keyId}` that of `apiKey`. Then every field of the same name: in the answer itself, in its
 * objects, and in each item of its lists. The code needs no list of endpoints, because the same name means the same
 * thing everywhere in the contract. Answers the output, without the names of items that were not asked for.
 * @throws ContractError in both modes of checking answers.
 */
export function requireAsked(
  { id, effect, body }: EndpointDefinition,
  input: Sections,
  output: unknown,
  { eachByItself = false, isBelow = false }: ListOptions = {},
): unknown {
  const [params, query, answer] = [fieldsOf(input.params), fieldsOf(input.query), fieldsOf(output)];
  // Bytes name nothing, and each byte would count as a field.
  const named = isBytes(body) ? {} : fieldsOf(input.body);
  const refuse = (issue: string): never => {
    throw new ContractError("response", id, [`body.${issue}`]);
  };
  // A page that names itself as the next one would keep its reader turning pages for ever. One that waits may: nothing came.
  if ((query["wait"] ?? query["cursor"] ?? 0) === answer["nextCursor"]) refuse("nextCursor: the same again");
  const begin = bare(query["idPrefix"] ?? "");
  const asked = Object.entries({ ...named, ...query, ...params }).flatMap(([name, value]) => {
    if (value === undefined || (isBelow && name === "folderId") || !HELD.test(`${name} ${textOf(value)}`)) return [];
    // A new object (`create`, `append`) has an id of its own.
    const target = name in params && !/^[ca]/.test(effect) ? name.slice(0, -2).toLowerCase() : "-";
    return [{ name, value: textOf(value), target }];
  });
  const otherOf = (key: string, object: Readonly<Record<string, unknown>>): string | undefined =>
    asked
      .flatMap(({ name, value, target }) =>
        (key.toLowerCase().endsWith(target) ? [name, "id"] : [name]).map((field) => ({ field, value })),
      )
      .find(({ field, value }) => field in object && textOf(object[field]) !== value)?.field;
  const held = Object.entries({ "": answer, ...answer }).flatMap(([key, inside]) => {
    if (eachByItself && begin === "" && Array.isArray(inside))
      return [[key, inside.map((item: File) => setAside(item, otherOf(key, fieldsOf(item))))]];
    for (const object of [inside].flat().map(fieldsOf)) {
      if (begin !== "" && Array.isArray(inside) && !bare(object["id"]).startsWith(begin)) refuse(`${key}: other id`);
      const field = otherOf(key, object);
      if (field !== undefined) refuse(`${key}: other ${field}`);
    }
    return [];
  });
  return held.length === 0 ? output : { ...answer, ...Object.fromEntries(held) };
}

/** Like an item of a shared vault's list: of another vault, or in another folder than was asked for. */
function setAside(item: File, other: string | undefined): File {
  return other === undefined ? item : unnamed(item, other === "vaultId" ? "vault_changed" : "damaged");
}

function bare(id: unknown): string {
  return String(id).replaceAll("-", "").toLowerCase();
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return Object(value) as Readonly<Record<string, unknown>>;
}

/** The order of several does not matter, and neither does the case (RFC 9562 §4). */
function textOf(value: unknown): string {
  return String([value === "root" ? null : value].flat().sort()).toLowerCase();
}
