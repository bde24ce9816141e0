import type { CallInput, EndpointDefinition } from "@coffer/contract";
import { accountResource, type AccountResource } from "./account/account.ts";
import { apiKeyResource, type ApiKeyResource } from "./account/api-keys.ts";
import { auditResource, type AuditResource } from "./account/audit.ts";
import { authResource, type AuthResource } from "./account/auth.ts";
import { billingResource, type BillingResource } from "./account/billing.ts";
import { developmentResource, type DevelopmentResource } from "./account/development.ts";
import { identityProviderResource, type IdentityProviderResource } from "./account/identity-providers.ts";
import { sessionResource, type SessionResource } from "./account/sessions.ts";
import { agentResource, type AgentResource } from "./agents/agents.ts";
import { inviteResource, type InviteResource } from "./agents/invites.ts";
import { openConnection, type ClientOptions } from "./connection/open-connection.ts";
import type { Connection, CallOptions } from "./connection/options.ts";
import { changeResource, type ChangeResource } from "./events/changes.ts";
import { eventResource, type EventResource } from "./events/events.ts";
import type { ByteBody } from "./http/accepted-bytes.ts";
import { send, type Answer, type CallOutput } from "./http/call.ts";
import { paged, type PagePromise } from "./http/pages.ts";
import { searchFiles } from "./search/search-files.ts";
import type { FileSearchQuery, FoundFacts, FoundFile, NameSearchOptions } from "./search/search-types.ts";
import { fileResource, type FileResource } from "./storage/files.ts";
import { folderResource, type FolderResource } from "./storage/folders.ts";
import { trashResource, type TrashResource } from "./storage/trash.ts";
import { vaultResource, type VaultResource } from "./storage/vaults.ts";
import { webhookResource, type WebhookResource } from "./webhooks/webhooks.ts";

type Arguments<E extends EndpointDefinition> =
  Record<never, never> extends CallInput<E, ByteBody>
    ? [input?: CallInput<E, ByteBody>, options?: CallOptions]
    : [input: CallInput<E, ByteBody>, options?: CallOptions];

/**
 * A client of one service. It holds no sockets and no timers of its own: drop it when you no longer need it. If it has
 * opened shared vaults, call `forgetKeys` first, which overwrites their keys.
 */
export interface Client {
  readonly baseUrl: string;
  /** Any endpoint of the contract, typed by it. */
  call<E extends EndpointDefinition>(endpoint: E, ...args: Arguments<E>): Promise<CallOutput<E>>;
  /** Like {@link Client.call}, with the answer's status, headers and request id. */
  request<E extends EndpointDefinition>(endpoint: E, ...args: Arguments<E>): Promise<Answer<E>>;
  readonly account: AccountResource;
  readonly auth: AuthResource;
  readonly sessions: SessionResource;
  readonly identityProvider: IdentityProviderResource;
  readonly apiKeys: ApiKeyResource;
  readonly invites: InviteResource;
  readonly vaults: VaultResource;
  readonly agents: AgentResource;
  readonly folders: FolderResource;
  readonly files: FileResource;
  /**
   * Finds files by words of their names, type, size, date, author and place, in every vault that you can read. Shared
   * vaults with encrypted names are searched on this machine, in an index that the first search builds. With
   * `complete: false` go on with `nextCursor`: no files there do not mean that there are none. Iterating goes on by itself.
   *
   * The service gets the words, unless you name a vault with encrypted names or pass `localOnly`. In a shared vault `by`
   * is a chain address, and dates are the service's word.
   * @throws VaultError when the named vault cannot be opened; `vault_required` for a folder that this machine has not seen.
   *
   * @example
   * ```ts
   * for await (const file of client.search({ q: "resume" })) console.log(file.vaultId, file.name);
   * ```
   */
  search(query?: FileSearchQuery, options?: NameSearchOptions): PagePromise<"files", FoundFile, FoundFacts>;
  readonly trash: TrashResource;
  readonly billing: BillingResource;
  readonly audit: AuditResource;
  readonly webhooks: WebhookResource;
  readonly events: EventResource;
  readonly changes: ChangeResource;
  readonly development: DevelopmentResource;
}

const connections = new WeakMap<Client, Connection>();

/**
 * Opens a client. Sends nothing yet.
 * @throws SdkError `configuration` when the base URL, the key or the network cannot be used.
 *
 * @example
 * ```ts
 * const client = createClient({ baseUrl: "http://127.0.0.1:8787", credentials: { apiKey } });
 * const { account } = await client.account.get();
 * ```
 */
export function createClient(options: ClientOptions): Client {
  const connection = openConnection(options);
  const client: Client = Object.freeze({
    baseUrl: connection.baseUrl,
    call: async (endpoint, ...[input, callOptions]) =>
      (await send(connection, endpoint, orEmpty(input), callOptions)).output,
    request: (endpoint, ...[input, callOptions]) => send(connection, endpoint, orEmpty(input), callOptions),
    account: accountResource(connection),
    auth: authResource(connection),
    sessions: sessionResource(connection),
    identityProvider: identityProviderResource(connection),
    apiKeys: apiKeyResource(connection),
    invites: inviteResource(connection),
    vaults: vaultResource(connection),
    agents: agentResource(connection),
    folders: folderResource(connection),
    files: fileResource(connection),
    search: (query = {}, options) => paged("files", query, (page) => searchFiles(connection, page, options)),
    trash: trashResource(connection),
    billing: billingResource(connection),
    audit: auditResource(connection),
    webhooks: webhookResource(connection),
    events: eventResource(connection),
    changes: changeResource(connection),
    development: developmentResource(connection),
  } satisfies Client);
  connections.set(client, connection);
  return client;
}

/** The connection behind a client, for the other entries of this package. */
export function connectionOf(client: Client): Connection {
  const connection = connections.get(client);
  if (connection === undefined) throw new TypeError("Expected a client made by createClient");
  return connection;
}

/** No input means one without sections; the contract's schemas still decide whether that is enough. */
function orEmpty<E extends EndpointDefinition>(input: CallInput<E, ByteBody> | undefined): CallInput<E, ByteBody> {
  return input ?? ({} as CallInput<E, ByteBody>);
}
