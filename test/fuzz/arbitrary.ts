/** Values that a contract schema accepts, as they travel on the wire. */
import { END_STEP, membershipEnd } from "@coffer/contract";
import * as fc from "fast-check";
import * as z from "zod/mini";

type Schema = z.core.$ZodType;

/** What is drawn already: at first the schemas of which next to no text that their pattern matches is valid. */
const cache = new WeakMap<Schema, fc.Arbitrary<unknown>>([[membershipEnd, ends()]]);

/** An arbitrary of wire values. Throws for a kind of schema the contract has not used before. */
export function arbitraryOf(schema: Schema): fc.Arbitrary<unknown> {
  const known = cache.get(schema);
  if (known !== undefined) return known;
  const made = fromSchema(schema as z.core.$ZodTypes);
  cache.set(schema, made);
  return made;
}

function fromSchema(schema: z.core.$ZodTypes): fc.Arbitrary<unknown> {
  const { def } = schema._zod;
  switch (def.type) {
    case "string":
      return texts(schema as z.core.$ZodString);
    case "number":
      return numbers(schema as z.core.$ZodNumber);
    case "boolean":
      return fc.boolean();
    case "literal":
      return fc.constantFrom(...def.values);
    case "enum":
      return fc.constantFrom(...Object.values(def.entries));
    case "nullable":
      return fc.oneof({ weight: 4, arbitrary: arbitraryOf(def.innerType) }, fc.constant(null));
    case "optional":
      return arbitraryOf(def.innerType);
    case "array":
      return fc.array(arbitraryOf(def.element), { minLength: 1, maxLength: 4 });
    case "object":
      return objects(def.shape);
    case "union":
      return fc.oneof(...def.options.map((option) => arbitraryOf(option)));
    case "pipe":
      // A codec: draw what the handler shall see and encode it, so that its range holds.
      return arbitraryOf(def.out).map((value) => z.encode(schema, value));
    default:
      throw new Error(`no arbitrary for a schema of kind ${def.type}`);
  }
}

function objects(shape: Readonly<Record<string, Schema>>): fc.Arbitrary<unknown> {
  const fields = Object.fromEntries(Object.entries(shape).map(([name, field]) => [name, arbitraryOf(field)]));
  const needed = Object.keys(shape).filter((name) => shape[name]?._zod.optin !== "optional");
  return fc.record(fields, { requiredKeys: needed, noNullPrototype: true });
}

function texts(schema: z.core.$ZodString): fc.Arbitrary<unknown> {
  const checks = (schema._zod.def.checks ?? []).map((check) => (check as z.core.$ZodChecks)._zod.def);
  const pattern = checks.find(
    (check) => check.check === "string_format" && "pattern" in check && check.format === "regex",
  );
  if (pattern !== undefined && "pattern" in pattern && pattern.pattern instanceof RegExp)
    return fc.stringMatching(pattern.pattern).filter((text) => z.safeParse(schema, text).success);
  if (checks.some((check) => check.check === "string_format" && check.format === "email")) return emails();
  const units = fc.oneof(
    fc.string({ minLength: 1, maxLength: 30 }),
    fc.string({ minLength: 1, maxLength: 60, unit: "grapheme" }),
  );
  return units.filter((text) => z.safeParse(schema, text).success);
}

function ends(): fc.Arbitrary<string> {
  const last = Date.UTC(9999, 11, 31) / END_STEP;
  return fc.integer({ min: 1, max: last }).map((quarter) => new Date(quarter * END_STEP).toISOString());
}

/** zod accepts fewer addresses than RFC 5322 allows. */
function emails(): fc.Arbitrary<string> {
  return fc.stringMatching(/^[a-z][a-z0-9]{3,12}(\.[a-z0-9]{1,8})?@[a-z]{3,10}\.example$/);
}

function numbers(schema: z.core.$ZodNumber): fc.Arbitrary<number> {
  const checks = (schema._zod.def.checks ?? []).map((check) => (check as z.core.$ZodChecks)._zod.def);
  let low = -1000;
  let high = 1000;
  for (const check of checks) {
    if (check.check === "greater_than") low = Number(check.value);
    if (check.check === "less_than") high = Number(check.value);
  }
  const drawn = fc.oneof(
    fc.integer({ min: low, max: Math.min(high, low + 100) }),
    fc.nat({ max: 2 ** 31 - 1 }).map((offset) => low + Math.round((offset / 2 ** 31) * (high - low))),
    fc.constantFrom(low, high),
  );
  // A limit may itself be left out.
  return drawn.filter((value) => z.safeParse(schema, value).success);
}
