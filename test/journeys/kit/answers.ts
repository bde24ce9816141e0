/** What the tests expect of an answer, each failure with what the server said. */
import { expect } from "vitest";
import { fieldsOf } from "./account.ts";
import type { Answer } from "./http.ts";

export type Fields = Readonly<Record<string, unknown>>;

/** The fields of an answer with the expected status; the failure shows the body. */
export function fieldsAt(answer: Answer, status: number): Fields {
  expectStatus(answer, status);
  return fieldsOf(answer);
}

/** Says what the server said when the status is another. */
export function expectStatus(answer: Answer, status: number): void {
  expect(answer.status, new TextDecoder().decode(answer.bytes.subarray(0, 500))).toBe(status);
}

/** Exactly `{ error: string }` (specification §7), with the machine code in its header. */
export function expectError(answer: Answer, status: number, code: string): string {
  const fields = fieldsAt(answer, status);
  expect(Object.keys(fields)).toEqual(["error"]);
  expect(answer.headers.get("x-error-code")).toBe(code);
  expect(fields["error"]).toEqual(expect.stringMatching(/./));
  return String(fields["error"]);
}

/** The object at `name`. */
export function objectIn(fields: Fields, name: string): Fields {
  const value = fields[name];
  expect(value).toBeTypeOf("object");
  return value as Fields;
}

/** The objects of the list at `name`. */
export function listIn(fields: Fields, name: string): readonly Fields[] {
  const value = fields[name];
  expect(value).toBeInstanceOf(Array);
  return value as readonly Fields[];
}

/** The text at `name`. */
export function textIn(fields: Fields, name: string): string {
  const value = fields[name];
  expect(value).toBeTypeOf("string");
  return value as string;
}

/** RFC 3339 UTC with milliseconds (decisions §1). */
export const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
