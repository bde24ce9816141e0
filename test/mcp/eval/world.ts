/** What the tasks are done in: a service, a local chain, people with keys, and a tool server for each role. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nodePlatform } from "@coffer/crypto/node";
import { startWebhookSink, type WebhookSink } from "@coffer/devstack";
import { chainKeySigner, createClient, generateChainKey, type Client, type Vault } from "@coffer/sdk";
import { sharedVaults } from "@coffer/sdk/shared";
import { openSharedStack, type SharedPerson, type SharedStack } from "../../kit/shared-stack.ts";
import { UNLIMITED } from "../../kit/shared-scene.ts";
import { openHost, type Host, type User } from "./agent.ts";

/** Who asks, and what the tool server may do. */
export const ROLES = {
  owner: { flags: ["--profile", "owner"], user: "agrees", key: "owner" },
  /** The owner, who does not agree when asked. */
  wary: { flags: ["--profile", "owner"], user: "declines", key: "owner" },
  /** The owner in a host that cannot ask, and with an agent that obeys what it reads. */
  gullible: { flags: ["--profile", "owner"], user: "none", key: "owner" },
  /** An agent with one vault, as `npm start` sets one up. */
  agent: { flags: [], user: "agrees", key: "books" },
  /** The same key, with tools that it may not use. */
  overreaching: { flags: ["--profile", "owner"], user: "agrees", key: "books" },
  reader: { flags: ["--read-only", "--reveal-shared-text"], user: "none", key: "books" },
  /** It was invited, and nobody added its address. */
  outsider: { flags: [], user: "none", key: "outside" },
} as const satisfies Record<string, { flags: readonly string[]; user: User; key: "owner" | "books" | "outside" }>;

export type Role = keyof typeof ROLES;

/** An agent of the account with its own keys. */
export interface Invited {
  readonly client: Client;
  readonly keyId: string;
  readonly chainAddress: string;
}

/** What is there before anybody is invited. */
export interface EarlyWorld {
  /** The owner's client without a chain key: for public vaults. */
  readonly owner: Client;
  publicVault(name: string): Promise<Vault>;
  /** Where every local folder of the tasks is. */
  readonly directory: string;
}

export interface World extends EarlyWorld, AsyncDisposable {
  /** The owner's client for shared vaults. */
  readonly keyed: Client;
  /** The same in another process: nothing is remembered. */
  fresh(): Client;
  /** The vault of the roles `agent` and `reader`, with its other agent, which has a name that people use. */
  readonly books: Vault;
  readonly bookkeeper: Invited;
  readonly colleague: Invited;
  readonly outsider: Invited;
  /** The vault that the outsider was invited to. */
  readonly closed: Vault;
  readonly sink: WebhookSink;
  readonly stack: SharedStack;
  host(role: Role): Promise<Host>;
  /** Uses an invite, as a new agent does. Its client opens shared vaults unless it is for public ones alone. */
  redeem(text: string, type?: "public" | "shared"): Promise<Invited>;
}

/** Something that happened so long ago, in milliseconds. */
export interface Past {
  readonly ago: number;
  readonly happen: (world: EarlyWorld) => Promise<void>;
}

/** The past happens first, the oldest of it at the beginning: by the clocks of the service, the chain and the SDK. */
export async function openWorld(past: readonly Past[]): Promise<World> {
  const opened = new AsyncDisposableStack();
  try {
    return await build(opened, past);
  } catch (error) {
    await opened.disposeAsync();
    throw error;
  }
}

async function build(opened: AsyncDisposableStack, past: readonly Past[]): Promise<World> {
  let back = BEGINNING_MS;
  const clock = (): number => Date.now() - back;
  const stack = opened.use(await openSharedStack({ ...UNLIMITED, clock }));
  const place = { stack, clock };
  const directory = await mkdtemp(join(tmpdir(), "coffer-eval-"));
  opened.defer(() => rm(directory, { recursive: true, force: true }));
  const networkFile = join(directory, "network.json");
  await writeFile(networkFile, JSON.stringify(stack.localnet.network()));
  const { client: keyed, apiKey } = stack.owner;
  const owner = createClient({ baseUrl: stack.baseUrl, credentials: { apiKey } });
  const work = join(directory, "work");
  await mkdir(work);
  const early: EarlyWorld = {
    owner,
    directory: work,
    publicVault: (name) => owner.vaults.create({ name, type: "public" }),
  };
  for (const { ago, happen } of past.toSorted((a, b) => b.ago - a.ago)) {
    back = ago;
    await happen(early);
  }
  back = 0;
  const books = await keyed.vaults.create({ name: "Books", type: "shared" });
  const closed = await keyed.vaults.create({ name: "Closed", type: "shared" });
  const [bookkeeper, colleague, outsider] = [
    await invite(place, "bookkeeping", [books.id]),
    await invite(place, "colleague", [books.id]),
    await invite(place, "sales", [closed.id]),
  ];
  for (const { chainAddress } of [bookkeeper, colleague]) await keyed.vaults.members.add(books.id, chainAddress);
  const keys = { owner: stack.owner, books: bookkeeper, outside: outsider };
  const hosts = new Map<Role, Promise<Host>>();
  opened.defer(async () => {
    for (const host of hosts.values()) await (await host).close();
  });
  const sink = opened.use(await startWebhookSink());
  const open = (role: Role): Promise<Host> => {
    const { flags, user, key } = ROLES[role];
    const configuration = join(directory, ".configuration", role);
    const environment = {
      HOME: configuration,
      SERVICE_BASE_URL: stack.baseUrl,
      SERVICE_NETWORK_FILE: networkFile,
      SERVICE_CONFIG_DIR: configuration,
      SERVICE_API_KEY: keys[key].apiKey,
      SERVICE_CHAIN_PRIVATE_KEY: keys[key].privateKey,
    };
    return openHost({ environment, flags: [...flags, "--allow", work, "--downloads", work], user });
  };
  return {
    ...early,
    keyed,
    books,
    closed,
    bookkeeper,
    colleague,
    outsider,
    sink,
    stack,
    fresh: () => stack.owner.another(),
    host: async (role) => {
      const host = hosts.get(role) ?? open(role);
      hosts.set(role, host);
      return await host;
    },
    redeem: (text, type = "shared") => redeem(place, text, type),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

export const DAY_MS = 86_400_000;
/** Long before the oldest thing of a task. */
const BEGINNING_MS = 800 * DAY_MS;

interface Place {
  readonly stack: SharedStack;
  readonly clock: () => number;
}

type Keyed = Invited & Pick<SharedPerson, "apiKey" | "privateKey">;

async function redeem({ stack, clock }: Place, text: string, type: "public" | "shared"): Promise<Keyed> {
  const { privateKey } = await generateChainKey();
  const signer = await chainKeySigner(privateKey);
  const { key, keyId } = await createClient({ baseUrl: stack.baseUrl }).invites.redeem(text, signer);
  const client = createClient({
    baseUrl: stack.baseUrl,
    credentials: { apiKey: key },
    ...(type === "public"
      ? {}
      : { sharedVaults: sharedVaults({ signer, network: stack.network, platform: nodePlatform, clock }) }),
  });
  return { client, keyId, chainAddress: signer.chainAddress, apiKey: key, privateKey: privateKey.reveal() };
}

async function invite(place: Place, name: string, vaultIds: string[]): Promise<Keyed> {
  const { text } = await place.stack.owner.client.invites.create({ name, vaultIds });
  return await redeem(place, text, "shared");
}
