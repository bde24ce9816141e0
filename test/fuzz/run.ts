/** Thousands of valid and mutated requests over every operation; the server must answer each by the rules. */
import { api, endpointsOf, HEADERS, type EndpointDefinition } from "@coffer/contract";
import { createClient } from "@coffer/sdk";
import { signUpWithCode } from "../journeys/kit/identity.ts";
import { readMailedToken } from "../journeys/kit/outbox.ts";
import { judge, type Received } from "../conformance/judge.ts";
import { sampleBytes, sameBytes } from "../conformance/samples.ts";
import { signUp, type SignedUp } from "../kit/signed-up.ts";
import { openDraw, type Draw } from "./draw.ts";
import { describe, endpointAt, type Message } from "./message.ts";
import { mutate } from "./mutations.ts";
import { openPool, type Pool, type Sources } from "./pool.ts";
import { RAW_CASES, tryRawCase } from "./raw-socket.ts";
import { openSender, type Sender } from "./send.ts";
import { validMessage } from "./valid.ts";

export interface FuzzOptions {
  readonly baseUrl: string;
  readonly count: number;
  readonly seed: number;
  /** For sign-ups, of many uses. Without it accounts come by dev-signup, and nobody has a password. */
  readonly accessCode?: string;
  /** SERVICE_DATA_DIR of the server: mailed tokens are read from its outbox. */
  readonly dataDirectory?: string;
  /** Where webhooks may be sent to; without them there is nobody to receive any. */
  readonly receivers?: readonly string[];
}

export interface FuzzReport {
  readonly sent: number;
  /** Operation → status and error code → how often. */
  readonly outcomes: ReadonlyMap<string, ReadonlyMap<string, number>>;
  readonly findings: readonly string[];
}

/** Requests that are under way together. */
const WIDTH = 8;
/** After this many requests new accounts begin, so that limits of old ones do not shadow the rest. */
const EPOCH = 2_000;
/** More of one kind teaches nothing. */
const MAX_FINDINGS = 200;

export async function runFuzz(options: FuzzOptions): Promise<FuzzReport> {
  const draw = openDraw(options.seed);
  const state = { outcomes: new Map<string, Map<string, number>>(), findings: [] as string[], sent: 0 };
  const canary = await plantCanary(options.baseUrl);
  using sender = openSender(options.baseUrl);
  while (state.sent < options.count && state.findings.length < MAX_FINDINGS) {
    const sources = await openSources(options, draw);
    const end = Math.min(options.count, state.sent + EPOCH);
    while (state.sent < end) {
      const batch = Array.from({ length: Math.min(WIDTH, end - state.sent) }, (_, at) =>
        nextMessage(sources, state.sent + at),
      );
      state.sent += batch.length;
      await Promise.all(batch.map((message) => tryMessage(sender, message, sources.pool, state)));
    }
    await tryRawCases(options.baseUrl, state);
  }
  state.findings.push(...(await canary()));
  return state;
}

interface State {
  readonly outcomes: Map<string, Map<string, number>>;
  readonly findings: string[];
  sent: number;
}

/** Each comes once before chance chooses, which may leave one out. */
const EACH = endpointsOf(api);
/** Creations come thrice, so that there is something to read, change and delete. */
const ENDPOINTS = EACH.flatMap((e) => (isMaking(e) ? [e, e, e] : [e]));

/** Sign-ups and sign-ins make things too, but each costs a password hash. */
function isMaking({ effect, auth, id }: EndpointDefinition): boolean {
  return (effect === "create" || effect === "append") && (auth === "credential" || id === "invites.redeem");
}

function nextMessage(sources: Sources, at: number): Message {
  const e = EACH[at] ?? sources.draw.any(ENDPOINTS) ?? api.files.list;
  return mutate(validMessage(e, sources), sources.draw);
}

async function tryMessage(sender: Sender, message: Message, pool: Pool, state: State): Promise<void> {
  try {
    const answer = await sender.send(message);
    pool.harvest(answer, message.target);
    count(state, message.origin.id, `${String(answer.status)} ${answer.headers.get(HEADERS.errorCode) ?? ""}`.trim());
    for (const problem of judgeFuzzed(message, answer)) state.findings.push(`${problem}\n    ${describe(message)}`);
  } catch (error) {
    count(state, message.origin.id, "no answer");
    state.findings.push(`no answer (${String(error)})\n    ${describe(message)}`);
  }
}

function judgeFuzzed(message: Message, answer: Received): string[] {
  const e = endpointAt(message.method, message.target);
  const problems = judge(e, message.method, answer);
  const { status } = answer;
  return status >= 500 && !ABOUT_PROVIDERS.has(answer.headers.get(HEADERS.errorCode) ?? "")
    ? [`status ${String(status)}`, ...problems]
    : problems;
}

/** A server without a provider says 501, one whose provider is away 503: the judge knows where these are declared. */
const ABOUT_PROVIDERS: ReadonlySet<string> = new Set(["not_configured", "provider_unavailable"]);

function count(state: State, operation: string, outcome: string): void {
  const outcomes = state.outcomes.get(operation) ?? new Map<string, number>();
  outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  state.outcomes.set(operation, outcomes);
}

async function tryRawCases(baseUrl: string, state: State): Promise<void> {
  for (const [name, bytes] of Object.entries(RAW_CASES)) {
    const problems = await tryRawCase(baseUrl, bytes);
    count(state, "raw socket", problems.length === 0 ? "ok" : "problem");
    state.findings.push(...problems.map((problem) => `${problem}\n    raw socket: ${name}`));
  }
}

/** Two accounts; the first has an owner's key and narrower ones, and the pool never holds the ids of these keys. */
async function openSources(options: FuzzOptions, draw: Draw): Promise<Sources> {
  const owner = await openOwner(options);
  const reader = await owner.client.apiKeys.create({ name: "reader", scopes: ["files:read"] });
  const files = await owner.client.apiKeys.create({ name: "files", scopes: ["files:read", "files:write"] });
  const other = await lookAround(await signUp(options.baseUrl));
  const pool = openPool(new Set([owner.keyId, reader.id, files.id]));
  const foreign = openPool(new Set([other.keyId]));
  foreign.add("vaultId", other.vaultId);
  pool.add("vaultId", owner.vaultId);
  pool.add("accountId", owner.accountId);
  for (const url of [...NO_RECEIVERS, ...(options.receivers ?? [])]) pool.add("webhookUrl", url);
  await addPeople(options, pool);
  await addKeptVersions(owner, pool);
  const { file } = await other.client.files.upload({ name: "foreign", body: new Uint8Array(9) });
  foreign.add("fileId", file.id);
  return { draw, pool, foreign, now: Date.now(), keys: [owner.key, reader.key, files.key] };
}

/** Nothing that a fuzzed server sends may leave this machine: a port where nobody listens, and two that are refused. */
const NO_RECEIVERS = ["http://127.0.0.1:9/hook", "http://10.0.0.1/hook", "ftp://127.0.0.1/hook"];

interface Owner extends SignedUp {
  readonly keyId: string;
  readonly vaultId: string;
  readonly accountId: string;
}

/** Somebody with a password, and with a verified e-mail where the mails can be read: only those may pay. */
async function openOwner({ baseUrl, accessCode, dataDirectory }: FuzzOptions): Promise<Owner> {
  if (accessCode === undefined) return lookAround(await signUp(baseUrl));
  const { email, accessToken } = await signUpWithCode(baseUrl, accessCode);
  const anyone = createClient({ baseUrl });
  if (dataDirectory !== undefined) await anyone.auth.verifyEmail(await readMailedToken(dataDirectory, email, "verify"));
  const { key } = await createClient({ baseUrl, credentials: { apiKey: accessToken } }).apiKeys.create({
    name: "owner",
  });
  return lookAround({ key, client: createClient({ baseUrl, credentials: { apiKey: key } }) });
}

/** Drawn requests write the same file twice too seldom for one of its versions to be restored or deleted. */
async function addKeptVersions({ client }: Owner, pool: Pool): Promise<void> {
  const { file } = await client.files.upload({ name: "versions", body: "0" });
  for (let number = 1; number <= 20; number += 1) await client.files.replace(file.id, { body: String(number) });
  const { versions } = await client.files.versions(file.id, { limit: 100 });
  // The first is the current one, which is neither restored nor deleted.
  for (const { versionId } of versions.slice(1)) pool.add("version", `${file.id}/versions/${versionId}`);
}

/** Codes, tokens and addresses of somebody else, for the requests that are about these. */
async function addPeople({ baseUrl, accessCode, dataDirectory }: FuzzOptions, pool: Pool): Promise<void> {
  if (accessCode === undefined) return;
  const { email, refreshToken } = await signUpWithCode(baseUrl, accessCode);
  for (const [kind, value] of Object.entries({ accessCode, email, refreshToken } as const))
    pool.add(kind as "accessCode" | "email" | "refreshToken", value);
  if (dataDirectory === undefined) return;
  await createClient({ baseUrl }).auth.forgotPassword(email);
  pool.add("resetToken", await readMailedToken(dataDirectory, email, "reset"));
  pool.add("verifyToken", await readMailedToken(dataDirectory, email, "verify"));
}

async function lookAround(person: SignedUp): Promise<Owner> {
  const { account, credential } = await person.client.account.get();
  const { vaults } = await person.client.vaults.list();
  return { ...person, keyId: credential.id ?? "", vaultId: vaults[0]?.id ?? "", accountId: account.id };
}

/** A file of an account that nothing else uses; the returned check tells whether it and the server are well. */
async function plantCanary(baseUrl: string): Promise<() => Promise<string[]>> {
  // In development a request without a credential acts as the first user (specification §5.6): that is not the canary's.
  await signUp(baseUrl);
  const { client } = await signUp(baseUrl);
  const bytes = sampleBytes(100_000, 11);
  const { file } = await client.files.upload({ name: "canary", body: bytes });
  return async () => {
    const ready = await fetch(new URL("/readyz", baseUrl));
    const read = await client.files.download(file.id).then(
      (found) => found.bytes(),
      () => null,
    );
    const intact = read !== null && sameBytes(read, bytes);
    return [
      ...(ready.status === 200 ? [] : ["the server is not ready at the end"]),
      ...(intact ? [] : ["the canary file is not intact"]),
    ];
  };
}
