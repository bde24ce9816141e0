/** The SDK's root entry at work in a browser: what a web application does with it. Each act answers in JSON; the test judges. */
import { parseNetworkConfiguration } from "@coffer/chain";
import {
  chainKeySigner,
  createClient,
  developmentCredentials,
  generateChainKey,
  SdkError,
  type Client,
  type ReceivedEvent,
  type UploadInput,
} from "@coffer/sdk";
import { verifyWebhook } from "@coffer/sdk/webhooks";
import { sharedVaults } from "@coffer/sdk/shared";
import { answerTest, type Where } from "./in-page-or-worker.ts";
import { countCalls } from "./runtime-facts.ts";
import { watchSecrets } from "./watched-secrets.ts";

export type BodyKind = "Uint8Array" | "Blob" | "File" | "ReadableStream" | "string";

export interface Stored {
  readonly id: string;
  readonly bytes: number;
  /** As the SDK says it, and as the browser itself makes it of the content; hex. */
  readonly sha256: string | null;
  readonly expected: string;
}

export interface Got {
  readonly name: string | null;
  readonly size: number;
  readonly length: number;
  readonly sha256: string;
}

/** What a call failed with; a null code: it did not fail. */
export interface Refusal {
  readonly code: string | null;
  readonly text: string;
}

interface Place {
  readonly baseUrl: string;
  readonly network: unknown;
}

/** Of whoever acts: `owner` or the name of an agent. */
interface By {
  readonly who: string;
  readonly vaultId?: string;
}

const facts = countCalls();
const secrets = watchSecrets();
const people = new Map<string, Client>();

const acts = {
  facts: async () => ({
    ...facts(),
    hasBuffer: "Buffer" in globalThis,
    hasProcess: "process" in globalThis,
    cookies: document.cookie,
  }),
  secrets: async () => secrets(),
  signUp,
  invite,
  redeem,
  createVault: async ({ who, name }: By & { name: string }) =>
    (await clientOf(who).vaults.create({ name, type: "shared" })).id,
  upload,
  refuseEndless: async ({ who, vaultId }: By) =>
    refusalOf(clientOf(who).files.upload({ ...placeOf(vaultId), name: "endless", body: endlessStream() })),
  download,
  names: async ({ who, vaultId }: By) => {
    const names: string[] = [];
    for await (const { name } of clientOf(who).files.list({ vaultId })) names.push(name);
    return names.sort();
  },
  addMember: async ({ who, vaultId, invite: text }: By & { invite: string }) =>
    (await clientOf(who).vaults.members.add(vaultId!, { invite: text })).chainAddress,
  removeMember: async ({ who, vaultId, address }: By & { address: string }) => {
    await clientOf(who).vaults.members.remove(vaultId!, address);
  },
  refusal: async ({ who, fileId }: By & { fileId: string }) =>
    refusalOf(
      clientOf(who)
        .files.download(fileId)
        .then((opened) => opened.bytes()),
    ),
  account: async ({ baseUrl, apiKey }: Place & { apiKey: string }) =>
    refusalOf(createClient({ baseUrl, credentials: { apiKey }, retry: { limit: 0 } }).account.get()),
  missing: async ({ who }: By) => refusalOf(clientOf(who).files.get(crypto.randomUUID())),
  checkAccess: async ({ who, vaultId }: By) => clientOf(who).vaults.checkAccess(vaultId!),
  audit: async ({ who }: By) => clientOf(who).audit.verify(),
  events,
  verify: async ({ body, headers, secret }: { body: string; headers: Record<string, string>; secret: string }) =>
    refusalOf(verifyWebhook({ body, headers, secrets: secret })),
  /** What asks for no secret, from this page. */
  withoutCredential: async ({ baseUrl }: Place) => [
    await refusalOf(createClient({ baseUrl }).development.signup({ email: `${crypto.randomUUID()}@example.com` })),
    await refusalOf(createClient({ baseUrl, credentials: developmentCredentials() }).account.get()),
  ],
  /** A stranger to this page's other clients: what a page, or a worker, does from its first line to its last. */
  wholeLife,
};

export type Act = keyof typeof acts;

answerTest(({ act, ...input }: { readonly act: Act; readonly where?: Where }) =>
  (acts[act] as (input: unknown) => Promise<unknown>)(input),
);

/** `apiKey`: of an account that was made elsewhere, since a page of another origin makes none. */
async function signUp({
  who,
  apiKey,
  baseUrl,
  network: given,
}: By & Place & { apiKey: string }): Promise<{ apiKey: string; privateKey: string }> {
  const { privateKey } = await generateChainKey();
  const signer = await chainKeySigner(privateKey);
  const network = parseNetworkConfiguration(given);
  const client = createClient({ baseUrl, credentials: { apiKey }, sharedVaults: sharedVaults({ signer, network }) });
  await client.account.linkChain(signer);
  people.set(who, client);
  return { apiKey, privateKey: privateKey.reveal() };
}

async function invite({ who, vaultId }: By): Promise<string> {
  return (await clientOf(who).invites.create({ name: "a page's agent", vaultIds: [vaultId!] })).text;
}

async function redeem({ who, text, baseUrl, network: given }: By & Place & { text: string }): Promise<string> {
  const { privateKey } = await generateChainKey();
  const signer = await chainKeySigner(privateKey);
  const { key, vaults } = await createClient({ baseUrl }).invites.redeem(text, signer);
  const network = parseNetworkConfiguration(given);
  const client = createClient({
    baseUrl,
    credentials: { apiKey: key },
    sharedVaults: sharedVaults({ signer, network }),
  });
  for (const { chainObjectId, ownerAddress, vaultId } of vaults)
    if (chainObjectId !== null && ownerAddress !== null)
      await client.vaults.trust(vaultId, { chainObjectId, ownerAddress });
  people.set(who, client);
  return signer.chainAddress;
}

async function upload(input: By & { kind: BodyKind; size: number; name: string; partBytes?: number }): Promise<Stored> {
  const { kind, name, partBytes, size, vaultId, who } = input;
  const content = randomContent(size, kind);
  const target = { ...placeOf(vaultId), name, contentType: "application/x-test", ...bodyOf(kind, content, size) };
  const { file, bytes, sha256 } = await clientOf(who).files.upload(target, { partBytes });
  return { id: file.id, bytes, sha256, expected: await sha256Of(content) };
}

/** Without one, the default public vault. */
function placeOf(vaultId: string | undefined): { vaultId?: string } {
  return vaultId === undefined ? {} : { vaultId };
}

/** Letters for a string, any bytes else; a shared stretch of memory would be refused by `crypto.getRandomValues`. */
function randomContent(size: number, kind: BodyKind): Uint8Array<ArrayBuffer> {
  const content = new Uint8Array(size);
  for (let at = 0; at < size; at += 65_536) crypto.getRandomValues(content.subarray(at, at + 65_536));
  return kind === "string" ? content.map((byte) => 97 + (byte % 26)) : content;
}

function bodyOf(kind: BodyKind, content: Uint8Array<ArrayBuffer>, size: number): Pick<UploadInput, "body" | "size"> {
  if (kind === "string") return { body: new TextDecoder().decode(content) };
  if (kind === "Blob") return { body: new Blob([content]) };
  if (kind === "File") return { body: new File([content], "name-of-the-file.bin") };
  return kind === "ReadableStream" ? { body: new Blob([content]).stream(), size } : { body: content };
}

function endlessStream(): ReadableStream<Uint8Array> {
  return new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(65_536)) });
}

async function download({
  who,
  fileId,
  range,
}: By & { fileId: string; range?: { offset: number; length: number } }): Promise<Got> {
  const opened = await clientOf(who).files.download(fileId, { range });
  const bytes = new Uint8Array(await opened.bytes());
  return { name: opened.name, size: opened.size, length: bytes.length, sha256: await sha256Of(bytes) };
}

/** The first events after `after`. */
async function events({ who, after, count }: By & { after: number; count: number }): Promise<readonly ReceivedEvent[]> {
  const events: ReceivedEvent[] = [];
  const ended = new AbortController();
  for await (const event of clientOf(who).events.follow({ after, signal: ended.signal }))
    if (events.push(event) >= count) ended.abort();
  return events;
}

async function wholeLife({
  names,
  ...place
}: Place & { apiKey: string; names: readonly [string, string] }): Promise<unknown> {
  const who = "somebody";
  const keys = await signUp({ who, ...place });
  const vaultId = await acts.createVault({ who, name: names[0] });
  const stored = await upload({ who, vaultId, kind: "Blob", size: 100_000, name: names[1] });
  const got = await download({ who, fileId: stored.id });
  return { keys, stored, got, facts: facts(), secrets: secrets() };
}

function clientOf(who: string): Client {
  const client = people.get(who);
  if (client === undefined) throw new Error(`${who} has not come yet`);
  return client;
}

async function refusalOf(done: Promise<unknown>): Promise<Refusal> {
  try {
    await done;
    return { code: null, text: "" };
  } catch (error) {
    if (error instanceof SdkError) return { code: error.code, text: `${error.message} ${error.nextStep}` };
    return { code: error instanceof Error ? error.name : "unknown", text: String(error) };
  }
}

async function sha256Of(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
