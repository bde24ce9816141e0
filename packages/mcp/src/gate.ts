/**
 * What a model chose to send, once text of others was shown: the text may be what asks for it. The gate lies below all tools. It asks
 * who can read what goes out, and not whose it is, and a person agrees before it reaches anybody new.
 */
import type { Client } from "@coffer/sdk";
import { TaskFailure } from "@coffer/tasks";
import { gatedClient, type Destination } from "./gated-client.ts";
import type { CredentialState } from "./credential-state.ts";

export interface GateOptions {
  readonly client: Client;
  readonly credentialState: Pick<CredentialState, "agreed">;
  /** Content came out of a shared vault, which the service cannot read: the service is somebody new, too. */
  readonly isClosed: boolean;
  /** The vault of `--vault`: the user named it, so nobody is asked about it. */
  readonly pinnedVault: string | null;
  /** This server's own address on the chain. */
  readonly ownAddress: string | null;
  readonly signal: AbortSignal;
  /** A person agreed to this very call. */
  readonly isCallAgreed: () => boolean;
  /** Returns when a person agreed, and never by a token. `stateNow`: who can read it now. */
  readonly ask: (preview: string, state: unknown, stateNow: () => Promise<unknown>) => Promise<void>;
}

export interface Gate {
  /** For tools and tasks: its methods ask before they send what a model chose. */
  readonly client: Client;
  /** The client itself, for functions of the SDK that write into this vault, or with null only read. */
  clientFor(into: string | null): Promise<Client>;
}

/** The name of the service among readers. Addresses begin with 0x. */
const SERVICE = "the service";
/** Readers that a question names. */
const MOST_NAMED = 4;

export function createGate(options: GateOptions): Gate {
  // What one call sends at once is asked about once, and a no holds for all of it.
  const permits = new Map<string, Promise<void>>();
  const permit = async (destinations: readonly Destination[]): Promise<void> => {
    for (const destination of destinations) {
      const key = JSON.stringify(destination);
      const answer = permits.get(key) ?? requireAgreed(options, destination);
      permits.set(key, answer);
      await answer;
    }
  };
  return {
    client: gatedClient(options.client, permit),
    clientFor: async (into) => {
      if (into !== null) await permit([{ to: "vault", vaultId: into }]);
      return options.client;
    },
  };
}

/** @throws TaskFailure `confirmation_required`, `declined`. */
async function requireAgreed(parts: GateOptions, destination: Destination): Promise<void> {
  if (destination.to === "outside") {
    if (!parts.isCallAgreed())
      await parts.ask("Let somebody outside of this account in, or send it something", "", () => Promise.resolve(""));
    return;
  }
  const strangers = await strangersAt(parts, destination);
  if (strangers.length === 0) return;
  await parts.ask(previewOf(destination, strangers), strangers, () => strangersAt(parts, destination));
  for (const reader of strangers) parts.credentialState.agreed.add(agreementOf(destination, reader));
}

/** The readers that are not of this account, and that nobody agreed to before. */
async function strangersAt(
  parts: GateOptions,
  destination: Exclude<Destination, { to: "outside" }>,
): Promise<string[]> {
  const readers = await readersAt(parts, destination);
  const unknown = readers.filter((reader) => !parts.credentialState.agreed.has(agreementOf(destination, reader)));
  if (!unknown.some((reader) => reader !== SERVICE)) return unknown;
  const own = await accountAddresses(parts);
  return unknown.filter((reader) => !own.has(reader));
}

async function readersAt(
  { client, isClosed, ownAddress, pinnedVault, signal }: GateOptions,
  destination: Exclude<Destination, { to: "outside" }>,
): Promise<string[]> {
  if (destination.to === "service") return isClosed ? [SERVICE] : [];
  const { to, vaultId } = destination;
  if (vaultId === undefined) throw new TaskFailure("unexpected", { cause: new TypeError("an act names no vault") });
  // What is looked for reaches no member.
  if (vaultId === pinnedVault || (to === "lookup" && !isClosed)) return [];
  const { chainAddresses, service } = await client.vaults.readers(vaultId, { signal });
  const members = to === "lookup" ? [] : chainAddresses.filter((each) => each !== ownAddress);
  return service && isClosed ? [...members, SERVICE] : members;
}

/** Addresses of this account. The service's word for them counts: it puts nobody on an allowlist. Agents may not list keys. */
async function accountAddresses({ client, signal }: GateOptions): Promise<ReadonlySet<string>> {
  const { account, credential } = await client.account.get({ signal });
  const own = new Set([account.chainAddress, credential.chainAddress].filter((each) => each !== null));
  if (account.accessLevel !== "owner") return own;
  const now = Date.now();
  for await (const { chainAddress, expiresAt, revokedAt } of client.apiKeys.list({ limit: 1_000 }, { signal }))
    if (chainAddress !== null && revokedAt === null && (expiresAt === null || Date.parse(expiresAt) > now))
      own.add(chainAddress);
  return own;
}

function agreementOf(destination: Destination, reader: string): string {
  return reader === SERVICE || !("vaultId" in destination) ? reader : `${destination.vaultId ?? ""} ${reader}`;
}

function previewOf(destination: Destination, strangers: readonly string[]): string {
  const destinationName =
    "vaultId" in destination ? `the vault ${(destination.vaultId ?? "").slice(0, 8)}` : "the service";
  const listed = strangers.slice(0, MOST_NAMED).join(", ");
  const more = strangers.length > MOST_NAMED ? ` and ${String(strangers.length - MOST_NAMED)} more` : "";
  const act =
    destination.to === "vault" ? `Write into ${destinationName}` : `Send names or words to ${destinationName}`;
  return `${act}. It can be read there, beyond this account, by: ${listed}${more}`;
}
