/** Sign-up and sign-in as the web application does them, and the access codes that an operator hands out. */
import assert from "node:assert/strict";
import { freshEmail, fieldsOf, objectAt } from "./account.ts";
import { send, type Answer } from "./http.ts";
import { runOperator } from "./operator.ts";
import { parseObject, textOf } from "./stack.ts";

/** Fifteen characters and more, and no common phrase. */
export const PASSWORD = "granite otter 71 lanterns";
export const OTHER_PASSWORD = "seven brass kettles whistle";

type Variables = Readonly<Record<string, string>>;

/** Makes an access code with the operator's command, on the data and environment of a running server. */
export async function makeAccessCode(variables: Variables, options: { readonly uses?: number } = {}): Promise<string> {
  const uses = options.uses === undefined ? [] : ["--uses", String(options.uses)];
  const made = await runOperator(["access-codes", "create", "--json", ...uses], variables);
  assert.equal(made.code, 0, made.stderr);
  return textOf(parseObject(made.stdout), "code");
}

export interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string;
}

export interface SignedUp extends Tokens {
  readonly id: string;
  readonly email: string;
  readonly password: string;
}

/** Signs up with a code, or throws what the server said. */
export async function signUpWithCode(
  baseUrl: string,
  accessCode: string,
  { email = freshEmail(), password = PASSWORD, ...more }: { email?: string; password?: string; name?: string } = {},
): Promise<SignedUp> {
  const body = { email, password, accessCode, ...more };
  const answer = await send(baseUrl, "/api/auth/signup", { method: "POST", body });
  assert.equal(answer.status, 201, new TextDecoder().decode(answer.bytes));
  const id = textOf(objectAt(fieldsOf(answer), "user"), "id");
  return { id, email, password, ...tokensIn(answer) };
}

export function logIn(baseUrl: string, email: string, password = PASSWORD): Promise<Answer> {
  return send(baseUrl, "/api/auth/login", { method: "POST", body: { email, password } });
}

export function refresh(baseUrl: string, refreshToken: string): Promise<Answer> {
  return send(baseUrl, "/api/auth/refresh", { method: "POST", body: { refreshToken } });
}

export function tokensIn(answer: Answer): Tokens {
  const fields = fieldsOf(answer);
  return { accessToken: textOf(fields, "accessToken"), refreshToken: textOf(fields, "refreshToken") };
}
