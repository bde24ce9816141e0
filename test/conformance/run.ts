/** Runs the whole contract against one live server, or anything that answers like one. */
import { randomUUID } from "node:crypto";
import { api, endpointsOf, type ChainNetwork, type EndpointDefinition } from "@coffer/contract";
import { openConversation, RateLimited, StepFailed, type Conversation } from "./conversation.ts";
import { accountFlow } from "./flows/account.ts";
import { apiKeysFlow } from "./flows/api-keys.ts";
import { auditFlow } from "./flows/audit.ts";
import { billingFlow } from "./flows/billing.ts";
import { contentFlow } from "./flows/content.ts";
import { conventionsFlow } from "./flows/conventions.ts";
import { filesFlow } from "./flows/files.ts";
import { foldersFlow } from "./flows/folders.ts";
import { idempotencyFlow } from "./flows/idempotency.ts";
import { identityProviderFlow } from "./flows/identity-provider.ts";
import { invitesFlow } from "./flows/invites.ts";
import { isolationFlow } from "./flows/isolation.ts";
import { signInFlow } from "./flows/sign-in.ts";
import { systemFlow } from "./flows/system.ts";
import { trashFlow } from "./flows/trash.ts";
import { uploadsFlow } from "./flows/uploads.ts";
import { vaultsFlow } from "./flows/vaults.ts";
import { eventsFlow, webhooksFlow } from "./flows/webhooks.ts";
import { openRecorder, type Report } from "./report.ts";
import { closeSubject, openSubject, type Flow, type Part, type Subject } from "./subject.ts";
import type { Transport } from "./wire.ts";

export interface ConformanceOptions {
  /** `http://127.0.0.1:7443`; paths of the contract are relative to it. */
  readonly baseUrl: string;
  /** Default: the built-in fetch. */
  readonly transport?: Transport;
  /** An owner's key without limits. Default: a new account by dev-signup. */
  readonly apiKey?: string;
  /** For sign-ups: of two uses or more. Default: sign-up is tried as a refusal alone. */
  readonly accessCode?: string;
  /** The chain that the service is on. Default: a local one for a service on this machine, else the main one. */
  readonly network?: ChainNetwork;
  /** Ids of endpoints and parts of endpoints that the service says it does not cover. They are not tried, and the notes name each. */
  readonly without?: readonly (EndpointDefinition["id"] | Part)[];
}

/** Each with an endpoint that it cannot do without. */
const FLOWS: readonly (readonly [flow: Flow, needed: EndpointDefinition])[] = [
  [systemFlow, api.system.health],
  [accountFlow, api.account.get],
  [signInFlow, api.auth.signup],
  [identityProviderFlow, api.identityProvider.authorize],
  [apiKeysFlow, api.apiKeys.create],
  [invitesFlow, api.invites.create],
  [billingFlow, api.billing.get],
  [vaultsFlow, api.vaults.create],
  [foldersFlow, api.folders.create],
  [filesFlow, api.files.upload],
  [contentFlow, api.files.content],
  [uploadsFlow, api.uploads.create],
  [trashFlow, api.trash.list],
  [idempotencyFlow, api.folders.create],
  [isolationFlow, api.vaults.get],
  [webhooksFlow, api.webhooks.create],
  [eventsFlow, api.events.stream],
  [auditFlow, api.audit.list],
  [conventionsFlow, api.account.get],
];

/** Never throws for what the server answers: that is in the report. Rejects when the transport cannot reach it. */
export async function runConformance(options: ConformanceOptions): Promise<Report> {
  const { apiKey, accessCode, network, without = [] } = options;
  const endpoints = endpointsOf(api).filter(({ id }) => !without.includes(id));
  const recorder = openRecorder(endpoints);
  for (const feature of without) recorder.note(`not covered by this service, and not tried: ${feature}`);
  const line = { baseUrl: options.baseUrl, transport: options.transport ?? fetch, recorder };
  const talk = openConversation(line, null);
  const subject = await guarded(talk, () =>
    openSubject(talk, { apiKey, accessCode, network, without, endpoints, fresh: randomUUID }),
  );
  if (subject === null) return recorder.report();
  for (const [flow, needed] of FLOWS) if (subject.covers(needed)) await guarded(subject.owner, () => flow(subject));
  await guarded(subject.owner, () => closeSubject(subject satisfies Subject));
  return recorder.report();
}

/** A flow that cannot go on is itself a finding, and the others still run. */
async function guarded<Result>(talk: Conversation, work: () => Promise<Result>): Promise<Result | null> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error;
    if (error instanceof RateLimited) {
      talk.note(`a flow ended early at the rate limit of ${error.message}`);
      return null;
    }
    talk.check(null, false, `the flow stopped: ${error.message}`);
    return null;
  }
}
