import { api, isBytes, renderKey, type EndpointDefinition } from "@coffer/contract";
import type { Flow, Subject } from "../subject.ts";
import { minimalRequest, NOBODYS_ADDRESS } from "./isolation.ts";
import { renderPath } from "../wire.ts";

const SOMETHING = "5f0c1d9e-0000-4000-8000-0123456789ab";
const NAMES = [
  "vaultId",
  "folderId",
  "fileId",
  "keyId",
  "uploadId",
  "sessionId",
  "inviteId",
  "webhookId",
  "deliveryId",
  "versionId",
  "sourceId",
];
const IDS = { ...Object.fromEntries(NAMES.map((name) => [name, SOMETHING])), chainAddress: NOBODYS_ADDRESS };

/** decisions §1, for every endpoint from its data. */
export const conventionsFlow: Flow = async (subject) => {
  await credentials(subject);
  await bodies(subject);
  await queries(subject);
  await paths(subject);
};

async function credentials({ owner, endpoints }: Subject): Promise<void> {
  owner.step("a key that nobody has, and another scheme");
  const unknownKey = renderKey(new Uint8Array(32).fill(7));
  for (const e of endpoints.filter(({ auth }) => auth === "credential")) {
    const refused = await owner.send(e, minimalRequest(owner.baseUrl, e, IDS, unknownKey), "invalid_credential");
    owner.check(
      e,
      /^Bearer .*error="invalid_token"/.test(refused.headers.get("www-authenticate") ?? ""),
      'WWW-Authenticate is not Bearer error="invalid_token"',
    );
    const request = minimalRequest(owner.baseUrl, e, IDS, "x");
    request.headers.set("authorization", "Basic bm90OmFrZXk=");
    await owner.send(e, request, "invalid_credential");
  }
}

async function bodies({ owner, ownerKey, stranger, endpoints }: Subject): Promise<void> {
  // Where there is no dev-signup it is 404 whatever its body (decisions §7).
  const offered = endpoints.filter((e) => e.id !== api.development.signup.id || stranger !== null);
  const withJson = offered.filter((e) => e.body !== undefined && !isBytes(e.body));
  const send = (e: EndpointDefinition, body: string, type = "application/json") => {
    const headers = { authorization: `Bearer ${ownerKey}`, "content-type": type };
    return new Request(new URL(renderPath(e, IDS), owner.baseUrl), { method: e.method, headers, body });
  };
  owner.step("a body that is no JSON");
  for (const e of withJson)
    for (const body of ['{"name":', "{'a':1}", '{"a":1}}']) await owner.send(e, send(e, body), "malformed_json");
  owner.step("a body of another media type");
  for (const e of withJson)
    await owner.send(e, send(e, "name=x", "application/x-www-form-urlencoded"), "unsupported_media_type");
  owner.step("JSON that is no object, or has fields the endpoint does not know");
  for (const e of withJson)
    for (const body of ["[]", "1", '"text"', '{"unknownField":1}'])
      await owner.send(e, send(e, body), "validation_failed");
  owner.step("a JSON body above 1 MiB");
  const large = JSON.stringify({ name: "x".repeat(1_100_000) });
  for (const e of withJson) await owner.send(e, send(e, large), "body_too_large");
}

async function queries({ owner, ownerKey, endpoints }: Subject): Promise<void> {
  owner.step("query fields that are unknown or out of range");
  for (const e of endpoints.filter(({ query }) => query !== undefined)) {
    const ask = async (name: string, value: string) => {
      const request = minimalRequest(owner.baseUrl, e, IDS, ownerKey);
      const url = new URL(request.url);
      url.searchParams.set(name, value);
      await owner.send(e, new Request(url, request), "validation_failed");
    };
    await ask("unknownField", "1");
    if ("limit" in (e.query?._zod.def.shape ?? {}))
      for (const value of ["0", "1001", "-1", "1.5", "x", ""]) await ask("limit", value);
  }
}

async function paths({ owner, ownerKey, endpoints }: Subject): Promise<void> {
  const headers = { authorization: `Bearer ${ownerKey}` };
  const ask = (path: string, method = "GET") => new Request(new URL(path, owner.baseUrl), { method, headers });
  owner.step("a path of no endpoint");
  for (const path of ["/api/nothing", "/nothing/here", "/api/files/%00", "/api/files/a/b/c"])
    await owner.send(null, ask(path), "any");
  for (const path of ["/api/nothing", "/nothing/here", "/api/files/a/b/c"])
    await owner.send(null, ask(path), "not_found");

  owner.step("a method that the path does not have");
  const methods = new Map<string, string[]>();
  for (const e of endpoints) methods.set(e.path, [...(methods.get(e.path) ?? []), e.method]);
  for (const e of endpoints) {
    const known = methods.get(e.path) ?? [];
    const other = ["PUT", "DELETE", "PATCH"].find((method) => !known.includes(method));
    if (other === undefined) continue;
    const refused = await owner.send(e, ask(renderPath(e, IDS), other), "method_not_allowed");
    const allowed = (refused.headers.get("allow") ?? "").split(/\s*,\s*/);
    owner.check(
      e,
      known.every((method) => allowed.includes(method)),
      `Allow lacks one of ${known.join(", ")}`,
    );
  }

  owner.step("a trailing slash");
  for (const path of ["/api/files/", "/api/vaults/"]) {
    const e = path === "/api/files/" ? api.files.list : api.vaults.list;
    await owner.send(e, ask(path), 200);
  }
}
