/** What the local provider answers instead of itself, when a suite wants it to misbehave. */
import type { ServerResponse } from "node:http";
import type { ManualClock } from "../kit/clock.ts";
import type { LocalProvider, ProviderUser } from "../kit/identity-provider.ts";

export function tokens(idToken: string | null) {
  const rest = { access_token: "access", token_type: "Bearer", expires_in: 600 };
  return idToken === null ? rest : { ...rest, id_token: idToken };
}

export function answerTokens(local: LocalProvider, idToken: string | null): void {
  local.override = (path, response) => path === "/token" && json(response, tokens(idToken));
}

export function unsigned(local: LocalProvider, user: ProviderUser, nonce: string, clock: ManualClock): string {
  const claims = local.claimsFor(user, { nonce, issuedAt: Math.floor(clock.now() / 1000) });
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${encode({ alg: "none", typ: "JWT" })}.${encode(claims)}.`;
}

export function json(response: ServerResponse, body: unknown): boolean {
  return status(response, 200, "application/json", JSON.stringify(body));
}

export function status(response: ServerResponse, code: number, type: string, body: string): boolean {
  response.writeHead(code, { "content-type": type }).end(body);
  return true;
}

export function redirect(response: ServerResponse): boolean {
  response.writeHead(302, { location: "http://127.0.0.1:9/elsewhere" }).end();
  return true;
}

export function hangUp(response: ServerResponse): boolean {
  response.destroy();
  return true;
}
