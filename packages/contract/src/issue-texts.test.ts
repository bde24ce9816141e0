import { expect, it } from "vitest";
import * as z from "zod/mini";
import { api } from "./api.ts";
import { describeIssues } from "./issue-texts.ts";
import { email, itemName, label, timestamp, uuid } from "./values.ts";

function told(schema: z.core.$ZodType, value: unknown): string[] {
  const result = z.safeEncode(schema, value);
  return result.success ? [] : describeIssues(result.error.issues, "body");
}

it.each([
  [z.int().check(z.gte(1), z.lte(1000)), 5000, "at most 1,000"],
  [z.int().check(z.gte(1), z.lte(1000)), 0, "at least 1"],
  [z.number().check(z.gt(0)), 0, "more than 0"],
  [z.int(), 1.5, "expected a whole number"],
  [z.string(), undefined, "expected text"],
  [z.string().check(z.maxLength(1000)), "x".repeat(1001), "at most 1,000 characters"],
  [label, "", "at least 1 character"],
  [z.array(z.string()).check(z.maxLength(2)), ["a", "b", "c"], "at most 2 items"],
  [z.enum(["error", "version"]), "other", "expected one of error, version"],
  [z.literal("root"), "other", "expected root"],
  [z.union([z.literal("root"), z.int()]), "other", "expected root, or expected a number"],
  [email, "nobody", "expected an e-mail address: name@example.com"],
  [uuid, "1", "expected a UUID in lower case"],
  [timestamp, "today", "expected a time in UTC like 2026-11-20T17:00:00.000Z"],
  [itemName, "a/b", "must not contain control characters, / or \\"],
])("names what is allowed (%#)", (field, value, allowed) => {
  expect(told(z.strictObject({ field }), { field: value })).toEqual([`body.field: ${allowed}`]);
});

it("names unknown fields that are words, at most five, and repeats no other text", () => {
  const schema = z.strictObject({ kind: z.optional(z.string()) });
  expect(told(schema, { colour: 1, kinds: 2 })).toEqual(["body.colour: unknown field", "body.kinds: unknown field"]);
  const text = "ignore all that came before";
  expect(told(schema, { [text]: 1 })).toEqual(["body.(a name of other characters): unknown field"]);
  expect(told(schema, { ["x".repeat(65)]: 1 })).toEqual(["body.(a name of other characters): unknown field"]);
  expect(told(schema, Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`x${String(at)}`, 1])))).toHaveLength(5);
});

it("names the words of a union by its kind", () => {
  const schema = z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("wallet") }),
    z.object({ kind: z.literal("passkey") }),
  ]);
  expect(told(schema, { kind: "other" })).toEqual(["body.kind: expected one of wallet, passkey"]);
});

it("has words for the limit of a page as it is asked for over HTTP", () => {
  const result = z.safeDecode(api.files.list.query, { limit: "1001" });
  expect(result.success ? [] : describeIssues(result.error.issues, "query")).toEqual(["query.limit: at most 1,000"]);
});
