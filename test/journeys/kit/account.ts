/** The steps that many journeys begin with: an account, another key, a file. */
import assert from "node:assert/strict";
import { send, type Answer } from "./http.ts";
import { parseObject, textOf } from "./stack.ts";

export interface NewAccount {
  readonly id: string;
  readonly email: string;
  readonly apiKey: string;
}

let counter = 0;

/** An address that nobody used before in this process. */
export function freshEmail(): string {
  counter += 1;
  return `journey-${process.pid}-${counter}@example.com`;
}

export async function signUp(baseUrl: string, email = freshEmail()): Promise<NewAccount> {
  const answer = await send(baseUrl, "/api/auth/dev-signup", { method: "POST", body: { email } });
  assert.equal(answer.status, 200);
  const fields = fieldsOf(answer);
  return { id: textOf(fields, "id"), email, apiKey: textOf(fields, "apiKey") };
}

export interface NewKey {
  readonly id: string;
  readonly key: string;
}

export async function createKey(baseUrl: string, ownerKey: string, body: object): Promise<NewKey> {
  const answer = await send(baseUrl, "/api/auth/api-keys", { method: "POST", key: ownerKey, body });
  assert.equal(answer.status, 201);
  const fields = fieldsOf(answer);
  return { id: textOf(fields, "id"), key: textOf(fields, "key") };
}

export async function revokeKey(baseUrl: string, ownerKey: string, keyId: string): Promise<Answer> {
  return send(baseUrl, `/api/auth/api-keys/${keyId}`, { method: "DELETE", key: ownerKey });
}

/** Names of all live files of the account, newest first. */
export async function fileNames(baseUrl: string, key: string): Promise<string[]> {
  const answer = await send(baseUrl, "/api/files?limit=1000", { key });
  assert.equal(answer.status, 200);
  return objectsAt(fieldsOf(answer), "files").map((file) => textOf(file, "name"));
}

/** An answer's body as an object. */
export function fieldsOf(answer: Answer): Readonly<Record<string, unknown>> {
  return parseObject(new TextDecoder().decode(answer.bytes));
}

/** The object at `name`, or throws. */
export function objectAt(fields: Readonly<Record<string, unknown>>, name: string): Readonly<Record<string, unknown>> {
  return parseObject(JSON.stringify(fields[name] ?? null));
}

/** The objects of the list at `name`, or throws. */
export function objectsAt(
  fields: Readonly<Record<string, unknown>>,
  name: string,
): Readonly<Record<string, unknown>>[] {
  const list = fields[name];
  assert.ok(Array.isArray(list), `${name} is a list`);
  return list.map((item: unknown) => parseObject(JSON.stringify(item)));
}

/** The specification's error: that status, and exactly `{ error: string }`. */
export function assertError(answer: Answer, status: number): void {
  assert.equal(answer.status, status);
  const fields = fieldsOf(answer);
  assert.deepEqual(Object.keys(fields), ["error"]);
  assert.notEqual(textOf(fields, "error"), "");
}
