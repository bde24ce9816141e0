/** What every flow works on: an owner's key, a vault of its own, and a second account where one can be had. */
import { api, type ChainNetwork, type EndpointDefinition } from "@coffer/contract";
import type { ChainKey } from "../journeys/kit/chain.ts";
import { chainKeysFor } from "./chain-keys.ts";
import type { Conversation } from "./conversation.ts";
import { StepFailed } from "./conversation.ts";

/** What a service may leave out of endpoints that it has otherwise. */
export type Part = "uploads as multipart/form-data" | "conditional reads" | "refused webhook addresses";

export interface Subject {
  readonly owner: Conversation;
  readonly ownerKey: string;
  /** Another account, which must see nothing of the owner's; null where the server makes no second one. */
  readonly stranger: Conversation | null;
  /** Made for this run and deleted at its end, so that a server in use keeps nothing. */
  readonly vaultId: string;
  /** For sign-ups; null where the caller has none. */
  readonly accessCode: string | null;
  /** A new chain key for this service. */
  readonly newChainKey: () => ChainKey;
  /** Makes a name that nothing else of this run has. */
  readonly name: (stem: string) => string;
  /** Whether the service has the endpoint, or the part of one. */
  readonly covers: (feature: EndpointDefinition | Part) => boolean;
  /** All that it has. */
  readonly endpoints: readonly EndpointDefinition[];
}

/** A flow: tries one group of endpoints. */
export type Flow = (subject: Subject) => Promise<void>;

export interface Settings {
  readonly apiKey: string | undefined;
  readonly accessCode: string | undefined;
  readonly network: ChainNetwork | undefined;
  readonly without: readonly string[];
  readonly endpoints: readonly EndpointDefinition[];
  readonly fresh: () => string;
}

/** Signs up two accounts (or takes the given key) and makes the run's vault. */
export async function openSubject(talk: Conversation, settings: Settings): Promise<Subject> {
  const own = settings.apiKey ?? (await signup(talk, settings));
  const other = settings.apiKey === undefined ? await signup(talk, settings) : await signupIfOffered(talk, settings);
  if (own === null) throw new StepFailed("no key: the server offers no dev-signup, set SERVICE_API_KEY");
  if (other === null) talk.note("isolation between accounts was not tried: the server offers no second account");
  const owner = talk.as(own);
  const name = (stem: string) => `${stem}-${settings.fresh().slice(0, 8)}`;
  owner.step("the run's own vault");
  const made = await owner.call(api.vaults.create, { body: { name: name("conformance"), type: "public" } });
  return {
    owner,
    ownerKey: own,
    stranger: other === null ? null : talk.as(other),
    vaultId: made.value().vault.id,
    accessCode: settings.accessCode ?? null,
    newChainKey: chainKeysFor(talk.baseUrl, settings.network),
    name,
    covers: (feature) => !settings.without.includes(typeof feature === "string" ? feature : feature.id),
    endpoints: settings.endpoints,
  };
}

export async function closeSubject(subject: Subject): Promise<void> {
  subject.owner.step("clean-up of the run's vault");
  const query = { force: true, permanent: true };
  await subject.owner.call(api.vaults.delete, { params: { vaultId: subject.vaultId }, query }, { expect: 204 });
}

async function signup(talk: Conversation, settings: Settings): Promise<string | null> {
  talk.step("a new account");
  const email = `conformance-${settings.fresh()}@example.com`;
  const made = await talk.call(api.development.signup, { body: { email, name: "Conformance" } }, { key: null });
  if (made.status !== 200) return null;
  talk.check(api.development.signup, made.value().email === email, "the answer names another e-mail");
  talk.step("the same e-mail again");
  await talk.call(api.development.signup, { body: { email } }, { key: null, expect: "email_exists" });
  return made.value().apiKey;
}

async function signupIfOffered(talk: Conversation, settings: Settings): Promise<string | null> {
  talk.step("dev-signup, where it is offered");
  const body = { email: `conformance-${settings.fresh()}@example.com` };
  const made = await talk.call(api.development.signup, { body }, { key: null, expect: "any" });
  talk.check(
    api.development.signup,
    [200, 404].includes(made.status),
    `expected 200 or 404, got ${String(made.status)}`,
  );
  return made.status === 200 ? made.value().apiKey : null;
}
