/** Whose credentials the attack uses: every kind that there is, and none of them may reach the victim's objects. */
import { newChainKey } from "../../journeys/kit/chain.ts";
import type { SignedUp } from "../../kit/signed-up.ts";
import type { Objects } from "./objects.ts";
import { send, type Target } from "./target.ts";

/** Who asks. */
export interface Caller {
  readonly kind: string;
  readonly credential: string | null;
}

export interface Callers {
  readonly callers: readonly Caller[];
  /** Kinds that this service gives nobody, and why. */
  readonly notes: readonly string[];
}

/** `own`: what the attacker may name itself. */
export async function makeCallers(
  target: Target,
  victim: SignedUp,
  attacker: SignedUp,
  own: Objects,
): Promise<Callers> {
  const keyOf = async ({ client }: SignedUp, more: object) => client.apiKeys.create({ name: "attack", ...more });
  const elsewhere = await victim.client.vaults.create({ name: "elsewhere", type: "public" });
  const revoked = await keyOf(victim, {});
  await victim.client.apiKeys.revoke(revoked.id);
  const scopes = ["files:read", "folders:read"];
  const unsure = [
    await agentOf(target, "another account's agent", attacker, [own.vaultId]),
    await agentOf(target, "the account's own agent, limited to another vault", victim, [elsewhere.id]),
    await strangerInSession(target),
  ];
  return {
    callers: [
      { kind: "another account's owner", credential: attacker.key },
      {
        kind: "another account's key limited to a vault",
        credential: (await keyOf(attacker, { vaultIds: [own.vaultId] })).key,
      },
      { kind: "another account's key that only reads", credential: (await keyOf(attacker, { scopes })).key },
      {
        kind: "the account's own key, limited to another vault",
        credential: (await keyOf(victim, { vaultIds: [elsewhere.id] })).key,
      },
      { kind: "the account's own key, revoked", credential: revoked.key },
      { kind: "a key that nobody has", credential: attacker.key.replace(/.{6}$/, "000000") },
      { kind: "nobody", credential: null },
      ...unsure.filter((each) => typeof each !== "string"),
    ],
    notes: unsure.filter((each) => typeof each === "string"),
  };
}

/** By an invite, with a chain key of its own. A text: why there is none. */
async function agentOf(
  target: Target,
  kind: string,
  { client }: SignedUp,
  vaultIds: readonly string[],
): Promise<Caller | string> {
  const { code } = await client.invites.create({ name: "attack", vaultIds: [...vaultIds] });
  const json = await newChainKey(target.baseUrl).redeeming(code);
  const answer = await send(target, { method: "POST", path: "/api/auth/invites/redeem", json }, null);
  if (answer.status !== 201) return `no ${kind}: redeeming was answered ${String(answer.code)}`;
  return { kind, credential: (JSON.parse(answer.text) as { readonly key: string }).key };
}

/** Signed up with a password, which takes a service that asks for no access code. A text: why there is none. */
async function strangerInSession(target: Target): Promise<Caller | string> {
  const kind = "another account's session";
  const json = { email: `${crypto.randomUUID()}@attack.example`, password: crypto.randomUUID() };
  const answer = await send(target, { method: "POST", path: "/api/auth/signup", json }, null);
  if (answer.status !== 201) return `no ${kind}: sign-up was answered ${String(answer.code)}`;
  return { kind, credential: (JSON.parse(answer.text) as { readonly accessToken: string }).accessToken };
}
