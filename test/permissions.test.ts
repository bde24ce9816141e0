/** Who may do what: every endpoint × principal × scope × vault limit, from the endpoints' data, against the real app. */
import { type EndpointDefinition, SCOPES, type Scope } from "@coffer/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ENDPOINTS, makeObjects, sampleOf, SAMPLES } from "./permissions/samples.ts";
import { type Answer, openWorld, type TestAccount, type World } from "./permissions/world.ts";

const FULL = process.env["COFFER_TEST_COUNTS"] === "full";
const PAIRS = FULL ? 5_000 : 300;

let world: World;
let secondVaultId: string;
beforeAll(async () => {
  world = await openWorld({ SERVICE_ENV: "development", SERVICE_MAX_API_KEYS: "1000000" });
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

function scopesFor(endpoint: EndpointDefinition, choice: ScopeChoice): Scope[] | null {
  if (choice === "absent") return null;
  // Minting a key asks for the maker's own rights, so the sample's key scope comes along.
  if (choice === "exact") return [endpoint.scope ?? "files:read"];
  return SCOPES.filter((scope) => scope !== endpoint.scope);
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
  key: string | null,
  { account = world.owner, vaultId }: { account?: TestAccount; vaultId?: string } = {},
): Promise<Answer> {
  const sample = sampleOf(endpoint.id);
  const objects = await makeObjects(world, account, sample, vaultId ?? (await vaultFor(endpoint, account)));
  return world.send({ method: endpoint.method, ...sample.call(objects) }, key);
}

/** The default vault, or a new one for the call that deletes it. */
function vaultFor(endpoint: EndpointDefinition, account: TestAccount): Promise<string> {
  return endpoint.id === "vaults.delete" ? newVault(account) : Promise.resolve(account.defaultVaultId);
}

async function newVault(account: TestAccount): Promise<string> {
  const json = { name: crypto.randomUUID(), type: "public" };
  const { fields } = await world.send({ method: "POST", path: "/api/vaults", json }, account.key);
  return (fields?.["vault"] as { id: string }).id;
}

it("has a sample call for every endpoint, and for nothing else", () => {
  expect(Object.keys(SAMPLES).sort()).toEqual(ENDPOINTS.map((endpoint) => endpoint.id).sort());
});

describe.each(ENDPOINTS.map((endpoint) => ({ id: endpoint.id, endpoint })))("$id", ({ endpoint }) => {
  for (const level of LEVELS) {
    it(`holds for ${level} keys × scopes × vault limits [S5.9-files S5.9-folders S5.9-vault-list S5.9-trash S5.9-vault-changes S5.9-keys]`, async () => {
      for (const scope of SCOPE_CHOICES) {
        for (const vault of VAULT_CHOICES) {
          const vaultId = await vaultFor(endpoint, world.owner);
          const vaultIds = vault === "absent" ? null : [vault === "same" ? vaultId : secondVaultId];
          const rights = { scopes: scopesFor(endpoint, scope), vaultIds, agent: level === "agent" };
          const answer = await call(endpoint, await world.insertKey(world.owner, rights), { vaultId });
          const expected = expectedRefusal(endpoint, { level, scope, vault }) ?? mintRefusal(endpoint, vault) ?? "done";
          expect({ scope, vault, outcome: outcomeOf(answer) }).toEqual({ scope, vault, outcome: expected });
        }
      }
    });
  }

  it("refuses keys that are expired, revoked or unknown, and callers without one", async () => {
    const dead = [
      await world.insertKey(world.owner, { expired: true }),
      await world.insertKey(world.owner, { revoked: true }),
      "cof_unknown",
      `${world.owner.key}x`,
    ];
    const expected = endpoint.auth === "none" ? "done" : "invalid_credential";
    for (const key of dead) expect(outcomeOf(await call(endpoint, key))).toBe(expected);
  });

  it("lets the first user in without a credential in development", async () => {
    expect(outcomeOf(await call(endpoint, null))).toBe("done");
  });
});

/** A key never mints a wider key (decisions §4): these rights are refused by the handlers, after the matrix. */
function mintRefusal(endpoint: EndpointDefinition, vault: VaultChoice): string | null {
  return endpoint.id === "apiKeys.create" && vault === "other" ? "scope_too_wide" : null;
}

/** `done`, the code of the refusal, or for anything else what was said. */
function outcomeOf({ status, code, text }: Answer): string {
  if (status < 300) return "done";
  return code ?? `${status} ${text}`;
}

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
      const key = agent ? await world.insertKey(to, { agent }) : to.key;
      const answer = await call(endpoint, key, { account: from });
      expect(`${endpoint.id} ${answer.status} ${answer.code ?? ""}`).toBe(`${endpoint.id} 404 not_found`);
    }
  });

  it("gets lists without anything of this one", async () => {
    const sample = sampleOf("files.get");
    const { fileId } = await makeObjects(world, world.owner, sample, world.owner.defaultVaultId);
    for (const path of ["/api/files", "/api/vaults", "/api/folders", "/api/trash", "/api/auth/api-keys"]) {
      const answer = await world.send({ method: "GET", path }, world.stranger.key);
      expect(answer.status).toBe(200);
      expect(answer.text).not.toContain(fileId);
      expect(answer.text).not.toContain(world.owner.defaultVaultId);
    }
  });
});
