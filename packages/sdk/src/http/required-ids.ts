/**
 * Checks that an answer is about the object that was asked for. It is below all resources, so that no call goes around
 * it (encryption design §7, pins).
 */
import { isBytes, type EndpointDefinition } from "@coffer/contract";
import { ContractError } from "./errors.ts";
import type { WireFile } from "../storage/file.ts";
import { unnamed } from "../storage/unnamed-item.ts";

interface Sections {
  readonly params?: unknown;
  readonly query?: unknown;
  readonly body?: unknown;
}

export interface ListOptions {
  /**
   * An item that was not asked for is one unreadable item: for lists whose reader checks each. Else it fails the call.
   */
  readonly eachByItself?: boolean | undefined;
  /** The `folderId` of the query is that of a folder with all below it. */
  readonly isBelow?: boolean | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

/** What a call named, under which the answer has to have the same value. */
interface NamedId {
  readonly name: string;
  readonly value: string;
  /** The object that the path names: its `id` is the value, too. null: the name is no parameter of the path. */
  readonly object: string | null;
}

/**
 * Compares the ids of a call with those of its answer. First the id of the object that the path names: `{fileId}` is
 * the id of `file`, `{keyId}` that of `apiKey`. Then every field of the same name: in the answer itself, in its
 * objects, and in each item of its lists. The code needs no list of endpoints, because the same name means the same
 * thing everywhere in the contract. Returns the output, without the names of items that were not asked for.
 * @throws ContractError in both modes of checking answers.
 */
export function requireNamedIds(
  endpoint: EndpointDefinition,
  input: Sections,
  output: unknown,
  { eachByItself = false, isBelow = false }: ListOptions = {},
): unknown {
  const answer = fieldsOf(output);
  const query = fieldsOf(input.query);
  requireNextPage(endpoint, query, answer);
  const namedIds = namedIdsOf(endpoint, input).filter(({ name }) => !(isBelow && name === "folderId"));
  const { idPrefix } = query;
  const setAsideItems: Record<string, WireFile[]> = {};
  for (const [key, part] of [["", answer] as const, ...Object.entries(answer)]) {
    if (eachByItself && idPrefix === undefined && Array.isArray(part)) {
      setAsideItems[key] = part.map((item: WireFile) => setAside(item, otherField(namedIds, key, fieldsOf(item))));
      continue;
    }
    for (const item of [part].flat()) {
      const object = fieldsOf(item);
      if (idPrefix !== undefined && Array.isArray(part) && !bareId(object["id"]).startsWith(bareId(idPrefix)))
        throw refusal(endpoint, `${key}: other id`);
      const field = otherField(namedIds, key, object);
      if (field !== undefined) throw refusal(endpoint, `${key}: other ${field}`);
    }
  }
  return Object.keys(setAsideItems).length === 0 ? output : { ...answer, ...setAsideItems };
}

/** A page that names itself as the next one would keep its reader turning pages for ever. One that waits may: nothing came. */
function requireNextPage(endpoint: EndpointDefinition, query: Fields, answer: Fields): void {
  const { cursor, wait } = query;
  if (wait === undefined && cursor !== undefined && cursor === answer["nextCursor"])
    throw refusal(endpoint, "nextCursor: the same again");
}

/** Places, parties, objects and their types that the call names. */
function namedIdsOf({ effect, body }: EndpointDefinition, input: Sections): NamedId[] {
  const params = fieldsOf(input.params);
  // Bytes name nothing, and each byte would count as a field.
  const fields = isBytes(body) ? {} : fieldsOf(input.body);
  // A new object has an id of its own, and not that of the path.
  const isNew = effect === "create" || effect === "append";
  return Object.entries({ ...fields, ...fieldsOf(input.query), ...params })
    .filter(([name, value]) => value !== undefined && isCompared(name, textOf(value)))
    .map(([name, value]) => ({
      name,
      value: textOf(value),
      object: name in params && !isNew ? name.replace(/Id$/, "").toLowerCase() : null,
    }));
}

/** Ids and addresses; `""` is the top of a vault. The service may answer anything else that a call names otherwise. */
function isCompared(name: string, value: string): boolean {
  if (name === "type") return true;
  return /(Id|Ids|Address)$/.test(name) && (value === "" || value.startsWith("0x") || /^.{8}-./.test(value));
}

/** The first field of an object of the answer that has another value than was asked for. */
function otherField(namedIds: readonly NamedId[], key: string, object: Fields): string | undefined {
  for (const { name, value, object: named } of namedIds) {
    const isNamed = named !== null && key.toLowerCase().endsWith(named);
    for (const field of isNamed ? [name, "id"] : [name])
      if (field in object && textOf(object[field]) !== value) return field;
  }
  return undefined;
}

/** Like an item of a shared vault's list: of another vault, or in another folder than was asked for. */
function setAside(item: WireFile, other: string | undefined): WireFile {
  return other === undefined ? item : unnamed(item, other === "vaultId" ? "vault_changed" : "damaged");
}

function refusal({ id }: EndpointDefinition, issue: string): ContractError {
  return new ContractError("response", id, [`body.${issue}`]);
}

function bareId(id: unknown): string {
  return String(id).replaceAll("-", "").toLowerCase();
}

function fieldsOf(value: unknown): Fields {
  return Object(value) as Fields;
}

/** The order of several does not matter, and neither does the case (RFC 9562 §4). */
function textOf(value: unknown): string {
  return String([value === "root" ? null : value].flat().sort()).toLowerCase();
}
