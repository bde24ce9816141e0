import { AjvJsonSchemaValidator } from "@modelcontextprotocol/client/validators/ajv";
import { describe, expect, it } from "vitest";
import { createKey, fieldsOf, revokeKey } from "../kit/account.ts";
import { expectStatus, fieldsAt, listIn, objectIn, textIn, type Fields } from "../kit/answers.ts";
import { newChainKey } from "../kit/chain.ts";
import type { Call } from "../kit/http.ts";
import { signUpWithCode } from "../kit/identity.ts";
import { readMailedToken } from "../kit/outbox.ts";
import { delivery, PAYMENT_SECRET } from "../kit/payments.ts";
import { useService, useWebhookSink } from "../kit/service.ts";
import { eventIn, verifyArrived, type Arrived } from "../kit/webhook-sink.ts";
import { openWebhooks } from "../kit/webhooks.ts";

const service = useService({ SERVICE_PAYMENT_SECRET: PAYMENT_SECRET });

const sink = useWebhookSink();

/** Decisions §6, transcribed by hand. */
const KINDS = [
  ...["file.uploaded", "file.updated", "file.trashed", "file.restored", "file.deleted"],
  ...["folder.created", "folder.updated", "folder.trashed", "folder.restored", "folder.deleted"],
  ...["vault.created", "vault.updated", "vault.trashed", "vault.restored", "vault.deleted"],
  ...["vault.member_added", "vault.member_removed", "vault.member_ended"],
  ...["api_key.created", "api_key.revoked", "invite.created", "invite.redeemed", "invite.revoked"],
  ...["account.email_verified", "account.plan_changed", "webhook.test"],
];
/** Nobody becomes a member of a vault yet: that is on the chain. */
const WITHOUT_OCCASION = new Set(["vault.member_added", "vault.member_removed", "vault.member_ended"]);

/** Words that stand in names only, and must not leave in an event. */
const CANARY = "lanterns-of-granite";

async function catalogue(): Promise<readonly Fields[]> {
  return listIn(fieldsAt(await service().ask("GET", "/api/webhook-events"), 200), "events");
}

/** By a validator that the schemas were not made for; what is wrong, or null. */
function openValidators(events: readonly Fields[]): (kind: unknown, payload: unknown) => string | null {
  const validator = new AjvJsonSchemaValidator();
  const byKind = new Map(events.map(({ kind, schema }) => [kind, validator.getValidator(schema as object)]));
  return (kind, payload) => {
    const validate = byKind.get(kind);
    return validate === undefined ? `no schema for ${String(kind)}` : (validate(payload).errorMessage ?? null);
  };
}

describe("the catalogue of events", () => {
  it("names every kind, with a description, a JSON Schema and an example that keeps to it [D6-catalogue D6-event-kinds]", async () => {
    const events = await catalogue();
    expect(events.map(({ kind }) => kind)).toEqual(KINDS);
    expect(KINDS.filter((kind) => !/^[a-zA-Z0-9_.]+$/.test(kind))).toEqual([]);
    const problem = openValidators(events);
    for (const { kind, description, schema, example } of events) {
      expect(description).toEqual(expect.stringMatching(/\w{3,}/));
      expect(schema).toMatchObject({ $schema: "https://json-schema.org/draft/2020-12/schema", type: "object" });
      expect(problem(kind, example)).toBeNull();
      expect((example as Fields)["type"]).toBe(kind);
      // A schema that takes anything says nothing.
      for (const other of KINDS.filter((one) => one !== kind)) expect(problem(other, example)).not.toBeNull();
      expect(problem(kind, { ...(example as Fields), data: {} })).not.toBeNull();
    }
  });
});

/** Everything that an owner and an agent can do, each at least once. */
async function doEverything(accessToken: string, accountId: string, email: string): Promise<string[]> {
  const { server, dataDirectory } = service();
  const call = async (method: string, path: string, more: Call = {}): Promise<Fields> => {
    const answer = await service().ask(method, path, { key: accessToken, ...more });
    expect(answer.status, `${method} ${path} ${new TextDecoder().decode(answer.bytes)}`).toBeLessThan(300);
    return answer.bytes.length === 0 ? {} : fieldsOf(answer);
  };
  const idOf = (fields: Fields, kind: string): string => textIn(objectIn(fields, kind), "id");
  const body = new TextEncoder().encode(CANARY);
  const vault = idOf(await call("POST", "/api/vaults", { body: { name: CANARY, type: "public" } }), "vault");
  await call("PATCH", `/api/vaults/${vault}`, { body: { name: `${CANARY} two` } });
  const folder = idOf(await call("POST", "/api/folders", { body: { name: CANARY, vaultId: vault } }), "folder");
  await call("PATCH", `/api/folders/${folder}`, { body: { name: `${CANARY} two` } });
  const file = idOf(await call("POST", `/api/files?name=${CANARY}&vaultId=${vault}`, { body }), "file");
  await call("PUT", `/api/files/${file}/content`, { body });
  await call("PATCH", `/api/files/${file}`, { body: { name: `${CANARY} two` } });
  await call("DELETE", `/api/files/${file}`);
  await call("POST", `/api/files/${file}/restore`);
  await call("DELETE", `/api/files/${file}?permanent=true`);
  await call("DELETE", `/api/folders/${folder}`);
  await call("POST", `/api/folders/${folder}/restore`);
  await call("DELETE", `/api/folders/${folder}`);
  await call("DELETE", `/api/trash?vaultId=${vault}`);
  await call("DELETE", `/api/vaults/${vault}?force=true`);
  await call("POST", `/api/vaults/${vault}/restore`);
  await call("DELETE", `/api/vaults/${vault}?force=true&permanent=true`);
  const key = await createKey(server.baseUrl, accessToken, { name: CANARY });
  await revokeKey(server.baseUrl, accessToken, key.id);
  const invites = [
    await call("POST", "/api/auth/invites", { body: { name: CANARY } }),
    await call("POST", "/api/auth/invites", { body: { name: CANARY } }),
  ];
  await call("DELETE", `/api/auth/invites/${textIn(invites[0]!, "id")}`);
  const code = textIn(invites[1]!, "code");
  const claim = await newChainKey(server.baseUrl).redeeming(code);
  const redeemed = await call("POST", "/api/auth/invites/redeem", { key: "", body: claim });
  const token = await readMailedToken(dataDirectory, email, "verify");
  await call("POST", "/api/auth/verify-email", { key: "", body: { token } });
  const paid = { kind: "subscription.active", accountId, plan: "pro", reference: `sub-${accountId}` };
  const event = delivery({ ...paid, occurredAt: new Date().toISOString() });
  expectStatus(await service().ask("POST", "/api/billing/events", event), 204);
  return [key.key, code, textIn(redeemed, "key"), token, accessToken, CANARY];
}

describe("the events that really arrive", () => {
  it("are of every kind that has an occasion, keep to its schema, and hold no name, key, code or token [D6-event-kinds D6-payload D6-catalogue S6-subscribed-events D5-replace-event]", async () => {
    const { server, accessCode } = service();
    const { accessToken, id, email } = await signUpWithCode(server.baseUrl, await accessCode());
    const webhooks = openWebhooks(server.baseUrl, accessToken);
    const receiver = sink.receiver();
    const { id: webhookId, secret } = await webhooks.create(receiver.url);
    const secrets = await doEverything(accessToken, id, email);
    await webhooks.test(webhookId);

    const wanted = KINDS.filter((kind) => !WITHOUT_OCCASION.has(kind));
    const kindOf = (arrived: Arrived): unknown => eventIn(arrived)["type"];
    for (const kind of wanted) await receiver.waitFor((arrived) => kindOf(arrived) === kind);
    const problem = openValidators(await catalogue());
    for (const arrived of receiver.arrived) {
      const event = verifyArrived(arrived, secret);
      expect([event["type"], problem(event["type"], event)]).toEqual([event["type"], null]);
      expect(Buffer.byteLength(arrived.body)).toBeLessThan(20_000);
      for (const text of secrets) expect(arrived.body).not.toContain(text);
      // Only what has occurred to the account, never what its owner did to sign in or to listen.
      expect(wanted).toContain(event["type"]);
      expect((event["data"] as Fields)["accountId"]).toBe(id);
    }
    const sequences = receiver.arrived.map(
      ({ body }) => (JSON.parse(body) as { data: { sequence: number } }).data.sequence,
    );
    expect(new Set(sequences).size).toBe(sequences.length);
  });
});
