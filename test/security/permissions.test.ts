/** Who may do what: every endpoint × principal × scope × vault limit, from the endpoints' data, against the real app. */
import { type EndpointDefinition, scopeOf, SCOPES, type Scope } from "@coffer/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { productionSecrets } from "../journeys/kit/production.ts";
import { ENDPOINTS, makeObjects, makeSecret, SAMPLED, sampleOf } from "./permissions/samples.ts";
import { type Answer, openWorld, type TestAccount, type World } from "./permissions/world.ts";

const FULL = process.env["COFFER_TEST_COUNTS"] === "full";
const PAIRS = FULL ? 5_000 : 300;

let world: World;
let secondVaultId: string;
beforeAll(async () => {
  world = await openWorld({
    SERVICE_ENV: "development",
    SERVICE_MAX_API_KEYS: "1000000",
    SERVICE_MAX_INVITES: "1000000",
    SERVICE_MAX_WEBHOOKS: "1000000",
    // Signing is the business of the tests of invites.
    SERVICE_ALLOW_UNSIGNED_REDEEM: "1",
  });
  const vault = { method: "POST", path: "/api/vaults", json: { name: "Second", type: "public" } };
  const { fields } = await world.send(vault, world.owner.key);
  secondVaultId = (fields?.["vault"] as { id: string }).id;
});
afterAll(() => world[Symbol.asyncDispose]());

const LEVELS = ["owner", "agent"] as const;
const SCOPE_CHOICES = ["absent", "exact", "other"] as const;
const VAULT_CHOICES = ["absent", "same", "other"] as const;

type ScopeChoice = (typeof SCOPE_CHOICES)[number];
type VaultChoice = (typeof VAULT_CHOICES)[number];

function scopesFor(endpoint: EndpointDefinition, level: string, choice: ScopeChoice): Scope[] | null {
  const scope = scopeOf(endpoint, level);
  if (choice === "absent") return null;
  // Minting a key asks for the maker's own rights, so the sample's key scope comes along.
  if (choice === "exact") return [scope ?? "files:read", ...(sampleOf(endpoint.id).passesOn ?? [])];
  return SCOPES.filter((each) => each !== scope);
}

/** What the endpoint's data says of the caller; null: it may. */
function expectedRefusal(
  endpoint: EndpointDefinition,
  caller: { level: "owner" | "agent"; scope: ScopeChoice; vault: VaultChoice },
): string | null {
  if (endpoint.auth === "none") return null;
  if (endpoint.access === "owner" && caller.level === "agent") return "owner_only";
  if (endpoint.scope !== null && caller.scope === "other") return "missing_scope";
  if (endpoint.vaultLimit === "refuse" && caller.vault !== "absent") return "vault_limited_key";
  if (endpoint.vaultLimit !== "none" && caller.vault === "other" && namesVault(endpoint)) return "not_found";
  return null;
}

/** Whether the sample call names a vault, an object in one, or a key limited to one. */
function namesVault(endpoint: EndpointDefinition): boolean {
  return sampleOf(endpoint.id).needs.length > 0;
}

/** The endpoint's sample call on new objects of `account`; `vaultId` is where they lie. */
async function call(
  endpoint: EndpointDefinition,
  credential: string | null,
  more: { account?: TestAccount; vaultId?: string; headers?: Readonly<Record<string, string>>; at?: World } = {},
): Promise<Answer> {
  const { at = world, account = at.owner, vaultId = await vaultFor(endpoint, account, at), headers } = more;
  const sample = sampleOf(endpoint.id);
  const objects = await makeObjects(at, account, sample, vaultId);
  const secret = sample.secret === undefined ? "" : await makeSecret(at, account, sample.secret);
  const sent = sample.call(objects, secret);
  return at.send({ method: endpoint.method, ...sent, headers: { ...sent.headers, ...headers } }, credential);
}

/** The default vault, or a new one for the calls that need one of their own. */
function vaultFor(endpoint: EndpointDefinition, account: TestAccount, at = world): Promise<string> {
  const needsOwn = ["vaults.delete", "vaults.restore"].includes(endpoint.id);
  return needsOwn ? newVault(account, at) : Promise.resolve(account.defaultVaultId);
}

async function newVault(account: TestAccount, at: World): Promise<string> {
  const json = { name: crypto.randomUUID(), type: "public" };
  const { fields } = await at.send({ method: "POST", path: "/api/vaults", json }, account.key);
  return (fields?.["vault"] as { id: string }).id;
}

it("has a sample call for every endpoint, and for nothing else", () => {
  expect(SAMPLED.toSorted()).toEqual(ENDPOINTS.map((endpoint) => endpoint.id).sort());
});

describe.each(ENDPOINTS.map((endpoint) => ({ id: endpoint.id, endpoint })))("$id", ({ endpoint }) => {
  for (const level of LEVELS) {
    it(`holds for ${level} keys × scopes × vault limits [S5.9-files S5.9-folders S5.9-vault-list S5.9-trash S5.9-vault-changes S5.9-keys S5.9-webhooks D1-owner-only-403 D1-missing-scope-403 D4-effective-rights D4-scopes-absent D4-scope-free D4-vault-limited-key D4-owner-only-key-list D4-owner-only-audit]`, async () => {
      for (const scope of SCOPE_CHOICES) {
        for (const vault of VAULT_CHOICES) {
          const vaultId = await vaultFor(endpoint, world.owner);
          const vaultIds = vault === "absent" ? null : [vault === "same" ? vaultId : secondVaultId];
          const rights = { scopes: scopesFor(endpoint, level, scope), vaultIds, agent: level === "agent" };
          const answer = await call(endpoint, await world.rows.key(world.owner, rights), { vaultId });
          const expected =
            expectedRefusal(endpoint, { level, scope, vault }) ?? mintRefusal(endpoint, vault) ?? letIn(endpoint);
          expect({ scope, vault, outcome: outcomeOf(answer) }).toEqual({ scope, vault, outcome: expected });
        }
      }
    });
  }

  it("lets the owner's session do what the owner may, with every scope and vault [D4-owner-only-sessions]", async () => {
    const { accessToken } = await world.rows.session(world.owner);
    expect(outcomeOf(await call(endpoint, accessToken))).toBe(letIn(endpoint));
  });

  it("refuses keys that are expired, revoked or unknown, tokens and sessions that are over, and what is neither [S7-401]", async () => {
    const dead = [
      await world.rows.key(world.owner, { expired: true }),
      // As an invite's accessUntil leaves it.
      await world.rows.key(world.owner, { expired: true, agent: true }),
      await world.rows.key(world.owner, { revoked: true }),
      "cof_unknown",
      `${world.owner.key}x`,
      (await world.rows.session(world.owner, { staleToken: true })).accessToken,
      (await world.rows.session(world.owner, { ended: true })).accessToken,
      (await world.rows.session(world.owner, { expired: true })).accessToken,
      // Another account's name under the owner's session: the signature does not hold.
      swapSubject((await world.rows.session(world.owner)).accessToken, world.stranger.id),
      // A refresh token is for one endpoint only.
      (await world.rows.session(world.owner)).refreshToken,
    ];
    const expected = endpoint.auth === "none" ? letIn(endpoint) : "invalid_credential";
    const outcomes = await inTurn(dead, async (credential) => outcomeOf(await call(endpoint, credential)));
    expect(outcomes).toEqual(dead.map(() => expected));
  });

  it("lets the first user in without a credential in development, and the user that the header names", async () => {
    expect(outcomeOf(await call(endpoint, null))).toBe(letIn(endpoint));
    const asOwner = { headers: { "x-dev-user-id": world.owner.id } };
    expect(outcomeOf(await call(endpoint, null, asOwner))).toBe(letIn(endpoint));
    // Authorization wins: a dead credential is not made good by a header.
    const expected = endpoint.auth === "none" ? letIn(endpoint) : "invalid_credential";
    expect(outcomeOf(await call(endpoint, "cof_unknown", asOwner))).toBe(expected);
  });
});

describe("in production", () => {
  let production: World;
  beforeAll(async () => {
    const receivers = { SERVICE_WEBHOOK_NETWORKS: "127.0.0.1", SERVICE_MAX_WEBHOOKS: "1000000" };
    production = await openWorld({ ...productionSecrets(), ...receivers });
  });
  afterAll(() => production[Symbol.asyncDispose]());
  const asking = ENDPOINTS.filter(({ auth }) => auth === "credential");

  it("nobody is let in without a credential, whatever the development headers say [D7-only-development]", async () => {
    const headers = { "x-dev-user-id": production.owner.id, "x-dev-idp-id": production.owner.id };
    for (const endpoint of asking) {
      const outcomes = [
        await call(endpoint, null, { at: production }),
        await call(endpoint, null, { at: production, headers }),
      ].map(outcomeOf);
      expect({ id: endpoint.id, outcomes }).toEqual({
        id: endpoint.id,
        outcomes: ["invalid_credential", "invalid_credential"],
      });
    }
  });

  it("the owner's session and key are, and an agent's key where agents are [S5.9-files S5.9-billing]", async () => {
    const agent = await production.rows.key(production.owner, { agent: true });
    const { accessToken } = await production.rows.session(production.owner);
    for (const endpoint of asking) {
      // Without a payment provider production has no billing (decisions §0); the plan can be read all the same.
      const paid = endpoint.id === "billing.checkout" || endpoint.id === "billing.changePlan";
      const owner = paid ? "not_configured" : letIn(endpoint);
      const outcomes = await inTurn([accessToken, production.owner.key, agent], async (credential) =>
        outcomeOf(await call(endpoint, credential, { at: production })),
      );
      const expected = [owner, owner, endpoint.access === "owner" ? "owner_only" : owner];
      expect({ id: endpoint.id, outcomes }).toEqual({ id: endpoint.id, outcomes: expected });
    }
  });
});

function swapSubject(token: string, sub: string): string {
  const [header = "", claims = "", signature = ""] = token.split(".");
  const read = JSON.parse(Buffer.from(claims, "base64url").toString()) as object;
  return [header, Buffer.from(JSON.stringify({ ...read, sub })).toString("base64url"), signature].join(".");
}

/** What the endpoint answers whoever may call. */
function letIn(endpoint: EndpointDefinition): string {
  return sampleOf(endpoint.id).outcome ?? "done";
}

/** One after another: what one call does may decide the next. */
async function inTurn<Item, Result>(items: readonly Item[], act: (item: Item) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  for (const item of items) results.push(await act(item));
  return results;
}

/** A key never mints a wider key, and no wider invite (decisions §4): refused by the handlers, after the matrix. */
function mintRefusal(endpoint: EndpointDefinition, vault: VaultChoice): string | null {
  const mints = endpoint.id === "apiKeys.create" || endpoint.id.startsWith("invites.create");
  return mints && vault === "other" ? "scope_too_wide" : null;
}

/** `done`, the code of the refusal, or for anything else what was said. */
function outcomeOf({ status, code, text, fields }: Answer): string {
  // A request with several parts was sent with one.
  const [part] = (fields?.["results"] ?? []) as { error: { code: string } | null }[];
  if (status < 300) return part?.error?.code ?? "done";
  return code ?? `${status} ${text}`;
}

const LISTS = [
  ...["/api/files", "/api/vaults", "/api/folders", "/api/trash"],
  ...["/api/auth/api-keys", "/api/auth/sessions", "/api/auth/invites", "/api/audit-log"],
  "/api/webhooks",
];

describe("another account", () => {
  const naming = ENDPOINTS.filter(
    (endpoint) => endpoint.auth === "credential" && sampleOf(endpoint.id).needs.length > 0,
  );

  it(`never sees an object of this one, over every endpoint that takes an id (${PAIRS} pairs) [D1-foreign-object-404]`, async () => {
    for (let pair = 0; pair < PAIRS; pair += 1) {
      const endpoint = naming[pair % naming.length]!;
      // By turns of all endpoints, so that each is asked in both directions also when their number is even.
      const direction = Math.floor(pair / naming.length) % 2;
      const [from, to] = direction === 0 ? [world.owner, world.stranger] : [world.stranger, world.owner];
      const agent = pair % 3 === 0 && endpoint.access === "agent";
      const key = agent ? await world.rows.key(to, { agent }) : to.key;
      const answer = await call(endpoint, key, { account: from });
      expect(`${endpoint.id} ${outcomeOf(answer)}`).toBe(`${endpoint.id} not_found`);
    }
  });

  it("gets lists without anything of this one", async () => {
    const sample = sampleOf("files.get");
    const { fileId } = await makeObjects(world, world.owner, sample, world.owner.defaultVaultId);
    const { id: sessionId } = await world.rows.session(world.owner);
    const { webhookId } = await makeObjects(world, world.owner, sampleOf("webhooks.get"), world.owner.defaultVaultId);
    const { id: inviteId } = await world.rows.invite(world.owner, [world.owner.defaultVaultId]);
    for (const path of LISTS) {
      const answer = await world.send({ method: "GET", path }, world.stranger.key);
      expect(answer.status).toBe(200);
      const { id, defaultVaultId } = world.owner;
      for (const own of [fileId, sessionId, inviteId, webhookId, id, defaultVaultId])
        expect(answer.text).not.toContain(own);
    }
  });
});
