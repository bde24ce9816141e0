/** A server, a local chain with its key servers, and people who have chain keys: what tests of shared vaults stand on. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseNetworkConfiguration, type NetworkConfiguration } from "@coffer/chain";
import { nodePlatform } from "@coffer/crypto/node";
import { openLocalnet, type LateNode, type Localnet, type LocalnetOptions } from "@coffer/localnet";
import {
  chainKeySigner,
  createClient,
  generateChainKey,
  type Client,
  type ClientOptions,
  type Clock,
} from "@coffer/sdk";
import { sharedVaults } from "@coffer/sdk/shared";
import { parseConfig, startServer, type RunningServer } from "@coffer/server";
import { requireClean } from "./secret-recorder.ts";

type MadeSigner = Awaited<ReturnType<typeof chainKeySigner>>;

/** A chain key signs transactions and statements. */
export type ChainSigner = MadeSigner & {
  readonly [Field in "signTransaction" | "statements"]: NonNullable<MadeSigner[Field]>;
};

/** Somebody with an API key and a chain key. */
export interface SharedPerson {
  readonly client: Client;
  readonly apiKey: string;
  /** Of the API key. */
  readonly keyId: string | null;
  readonly signer: ChainSigner;
  /** `suiprivkey1…`. */
  readonly privateKey: string;
  /** The same person in another process: nothing is remembered. */
  another(options?: Partial<ClientOptions> & SharedOptions): Client;
}

type SharedOptions = { readonly shared?: Partial<NonNullable<ClientOptions["sharedVaults"]>> };

export interface SharedStack extends AsyncDisposable {
  readonly localnet: Localnet;
  readonly network: NetworkConfiguration;
  /** Null unless the service has a node of its own; that one is on time until a test makes it late. */
  readonly serviceNode: LateNode | null;
  readonly server: RunningServer;
  readonly baseUrl: string;
  /** Of the server. */
  readonly dataDirectory: string;
  /** Lines of the server's log. */
  readonly log: readonly string[];
  /** Owns an account whose chain address is linked. */
  readonly owner: SharedPerson;
  /** Another account, with an address of its own. */
  signUp(name: string): Promise<SharedPerson>;
  /** An agent of the owner's account, not a member of anything yet. */
  invite(name: string): Promise<SharedPerson>;
}

export interface SharedStackOptions {
  /** `SERVICE_…` settings. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly localnet?: LocalnetOptions;
  /** The service reads the chain through another node than the clients: `serviceNode`. */
  readonly ownNode?: boolean;
  /** Of the chain, the service and the clients, in milliseconds since 1970. */
  readonly clock?: () => number;
}

/** Everything on loopback and free ports; gone when it is disposed of. */
export async function openSharedStack(options: SharedStackOptions = {}): Promise<SharedStack> {
  const stack = new AsyncDisposableStack();
  try {
    const clocked = options.clock === undefined ? {} : { clock: options.clock };
    const dataDirectory = await mkdtemp(join(tmpdir(), "coffer-shared-"));
    stack.defer(() => rm(dataDirectory, { recursive: true, force: true }));
    const localnet = stack.use(await openLocalnet({ ...options.localnet, ...clocked }));
    const { url } = await localnet.listen();
    const serviceNode = options.ownNode === true ? await localnet.openNode() : null;
    const network = parseNetworkConfiguration(localnet.network());
    const log: string[] = [];
    const server = await startServer(
      parseConfig(environmentOf(serviceNode?.url ?? url, network, dataDirectory, options)),
      { logSink: { write: (lines) => void log.push(Buffer.from(lines).toString()) }, ...clocked },
    );
    stack.defer(() => requireClean(dataDirectory, log.join("")));
    stack.defer(() => server.close());
    const place = { baseUrl: server.baseUrl, network, clock: options.clock };
    const owner = await signUp(place, "owner");
    return {
      localnet,
      network,
      serviceNode,
      server,
      baseUrl: server.baseUrl,
      dataDirectory,
      log,
      owner,
      signUp: (name) => signUp(place, name),
      invite: (name) => invite(place, owner, name),
      [Symbol.asyncDispose]: () => stack.disposeAsync(),
    };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

function environmentOf(
  chainUrl: string,
  { originalPackageId, chainId }: NetworkConfiguration,
  dataDirectory: string,
  { environment }: SharedStackOptions,
): Record<string, string> {
  return {
    SERVICE_ENV: "development",
    SERVICE_HOST: "127.0.0.1",
    SERVICE_PORT: "0",
    SERVICE_DATA_DIR: dataDirectory,
    SERVICE_CHAIN_URL: chainUrl,
    SERVICE_CHAIN_PACKAGE: originalPackageId,
    SERVICE_CHAIN_ID: chainId,
    SERVICE_LOG_LEVEL: "info",
    ...environment,
  };
}

interface StackPlace {
  readonly baseUrl: string;
  readonly network: NetworkConfiguration;
  readonly clock: (() => number) | undefined;
}

async function signUp(place: StackPlace, name: string): Promise<SharedPerson> {
  const { privateKey, signer } = await newChainKey();
  const anyone = createClient({ baseUrl: place.baseUrl });
  const { apiKey } = await anyone.development.signup({ email: `${name}@example.com` });
  const person = toPerson(place, { apiKey, keyId: null, privateKey, signer });
  await person.client.account.linkChain(signer);
  return person;
}

async function invite(place: StackPlace, owner: SharedPerson, name: string): Promise<SharedPerson> {
  const { privateKey, signer } = await newChainKey();
  const { text } = await owner.client.invites.create({ name });
  const { key, keyId } = await createClient({ baseUrl: place.baseUrl }).invites.redeem(text, signer);
  return toPerson(place, { apiKey: key, keyId, privateKey, signer });
}

async function newChainKey(): Promise<Pick<SharedPerson, "privateKey" | "signer">> {
  const { privateKey } = await generateChainKey();
  const signer = await chainKeySigner(privateKey);
  if (!isComplete(signer)) throw new TypeError("a chain key signs transactions and statements");
  return { privateKey: privateKey.reveal(), signer };
}

function isComplete(signer: MadeSigner): signer is ChainSigner {
  return signer.signTransaction !== undefined && signer.statements !== undefined;
}

/** The real one, whose pauses of a second are over at once: so long a client waits until it believes a key's maker. */
const hastyClock: Clock = {
  now: () => performance.now(),
  random: () => Math.random(),
  after: (ms, action) => {
    const timer = setTimeout(action, ms === 1_000 ? 0 : ms);
    return () => {
      clearTimeout(timer);
    };
  },
};

function toPerson(place: StackPlace, keys: Omit<SharedPerson, "client" | "another">): SharedPerson {
  const another: SharedPerson["another"] = ({ shared, ...options } = {}) =>
    createClient({
      baseUrl: place.baseUrl,
      credentials: { apiKey: keys.apiKey },
      sharedVaults: sharedVaults({
        signer: keys.signer,
        network: place.network,
        platform: nodePlatform,
        clock: place.clock,
        ...shared,
      }),
      clock: hastyClock,
      ...options,
    });
  return { ...keys, client: another(), another };
}
