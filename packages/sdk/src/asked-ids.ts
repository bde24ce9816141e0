/** An answer is of what was asked for: held here, below all resources, so that no call goes around it (encryption design §7, pins). */
import { isBytes, type EndpointDefinition } from "@coffer/contract";
import { ContractError } from "./errors.ts";

interface Sections {
  readonly params?: unknown;
  readonly query?: unknown;
  readonly body?: unknown;
}

/** Name and value of a place, a party, an object or its type; null: the top of a vault. What else a call names may be answered otherwise. */
const HELD = /^type |(Ids?|Address) (0x.+|.{8}-.+|)$/;

/**
 * Compares the ids of a call with those of its answer: that of the object which the path names (`{fileId}` is the id of `file`, `{keyId}` that
 * of `apiKey`), and every field of the same name, in the answer itself, in its objects, and in each item of its lists. It knows no endpoint:
 * what the contract names the same is the same.
 * @throws ContractError whatever the client does with other broken answers.
 */
export function requireAsked({ id, effect, body }: EndpointDefinition, input: Sections, output: unknown): void {
  const [params, query, answer] = [fieldsOf(input.params), fieldsOf(input.query), fieldsOf(output)];
  // Bytes name nothing, and each of them would count as a field.
  const named = isBytes(body) ? {} : fieldsOf(input.body);
  const refuse = (issue: string): never => {
    throw new ContractError("response", id, [`body.${issue}`]);
  };
  // A page whose next one is itself would keep whoever turns the pages for ever.
  if (query["cursor"] !== undefined && query["cursor"] === answer["nextCursor"]) refuse("nextCursor: the same again");
  for (const [name, value] of Object.entries({ ...named, ...query, ...params })) {
    if (value === undefined || !HELD.test(`${name} ${textOf(value)}`)) continue;
    // What is made anew (`create`, `append`) has an id of its own.
    const target = name in params && !/^[ca]/.test(effect) ? name.slice(0, -2).toLowerCase() : "-";
    for (const [key, inside] of Object.entries({ "": answer, ...answer }))
      for (const object of [inside].flat().map(fieldsOf))
        for (const field of key.toLowerCase().endsWith(target) ? [name, "id"] : [name])
          if (field in object && textOf(object[field]) !== textOf(value)) refuse(`${key}: other ${field}`);
  }
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return Object(value) as Readonly<Record<string, unknown>>;
}

/** Of several the order does not matter, and of none the case (RFC 9562 §4). */
function textOf(value: unknown): string {
  return String([value === "root" ? null : value].flat().sort()).toLowerCase();
}
