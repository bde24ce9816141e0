/** A service beside a local network that misbehaves on demand, and people with chain keys: what journeys of shared vaults run on. */
import { openChain, parseNetworkConfiguration, type Chain, type NetworkConfiguration } from "@coffer/chain";
import { nodePlatform } from "@coffer/crypto/node";
import { openLocalnet, type Localnet } from "@coffer/localnet";
import { chainKeySigner, createClient, generateChainKey, type Client, type ClientOptions } from "@coffer/sdk";
import { sharedVaults } from "@coffer/sdk/shared";
import { decodeSuiPrivateKey } from "@mysten/sui/cryptography";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { engineSettings } from "../../kit/engine-settings.ts";
import { recordSecret } from "../../kit/secret-recorder.ts";
import { requireNoSecrets, type Secret } from "../../kit/secret-scan.ts";
import { signUp } from "./account.ts";
import { storedIn } from "./data-directory.ts";
import { startServerProcess } from "./server-process.ts";
import { startToolServer, writeCredentials, type ToolServer } from "./tool-server.ts";
import { openWireTap, type WireTap } from "./wire-tap.ts";

type SharedOptions = NonNullable<ClientOptions["sharedVaults"]>;

/** Somebody with an API key and a chain key. */
export interface SharedPerson {
  readonly apiKey: string;
  /** Of the API key; "" for the first key of an account. */
  readonly keyId: string;
  readonly address: string;
  readonly signer: SharedOptions["signer"];
  /** `suiprivkey1…`. */
  readonly privateKey: string;
  readonly client: Client;
  /** The same person in another process: nothing is remembered. */
  another(shared?: Partial<SharedOptions>, more?: Partial<ClientOptions>): Client;
}

export interface SharedService extends AsyncDisposable {
  readonly localnet: Localnet;
  readonly network: NetworkConfiguration;
  /** What anybody can read of the chain. */
  readonly chain: Chain;
  /** All clients go through it. */
  readonly tap: WireTap;
  readonly baseUrl: string;
  readonly dataDirectory: string;
  /** Of the network, for programs. */
  readonly networkFile: string;
  /** An account of its own, linked to a chain key of its own. */
  signUp(): Promise<SharedPerson>;
  /** An agent of the owner's account; no member of anything yet. */
  invite(owner: SharedPerson, rights?: { readonly vaultIds?: string[] }): Promise<SharedPerson>;
  /** Rejects when a chain key of anybody is on the wire, in a file of the service or in its log. */
  requireNoChainKeys(): Promise<void>;
  /** The tool server of that person, as its host starts it. `more`: other credentials, or the host's environment. */
  tools(person: SharedPerson, folder: string, more?: ToolsOptions): Promise<ToolServer>;
}

export interface ToolsOptions {
  readonly chainPrivateKey?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly flags?: readonly string[];
}

/**
 * Everything on loopback and free ports. Disposing of it looks for chain keys on the wire, in the database and in the log. `settings`:
 * of the service, beside those of a development server.
 */
export async function openSharedService(settings: Readonly<Record<string, string>> = {}): Promise<SharedService> {
  const opened = new AsyncDisposableStack();
  try {
    return await open(opened, settings);
  } catch (error) {
    await opened.disposeAsync();
    throw error;
  }
}

async function open(opened: AsyncDisposableStack, settings: Readonly<Record<string, string>>): Promise<SharedService> {
  const directory = await mkdtemp(join(tmpdir(), "coffer-shared-journeys-"));
  opened.defer(() => rm(directory, { recursive: true, force: true }));
  const localnet = opened.use(await openLocalnet());
  const { url } = await localnet.listen();
  const network = parseNetworkConfiguration(localnet.network());
  const networkFile = join(directory, "network.json");
  await writeFile(networkFile, JSON.stringify(localnet.network()), { mode: 0o600 });
  const tap = opened.use(await openWireTap());
  const chainKeys: Secret[] = [];
  const dataDirectory = join(directory, "data");
  await mkdir(dataDirectory, { mode: 0o700 });
  const server = opened.use(
    await startServerProcess({
      SERVICE_ENV: "development",
      SERVICE_DATA_DIR: dataDirectory,
      SERVICE_PUBLIC_URL: tap.baseUrl,
      SERVICE_CHAIN_URL: url,
      SERVICE_CHAIN_PACKAGE: network.originalPackageId,
      SERVICE_CHAIN_ID: network.chainId,
      ...(await engineSettings(dataDirectory)),
      ...settings,
    }),
  );
  tap.forwardTo(server.baseUrl);
  const requireNoChainKeys = async (): Promise<void> =>
    requireNoSecrets(chainKeys, [
      { name: "wire", bytes: tap.bytes() },
      { name: "log", bytes: Buffer.from(server.printed()) },
      ...(await storedIn(dataDirectory)),
    ]);
  opened.defer(requireNoChainKeys);
  const { baseUrl } = tap;
  const place = { baseUrl, network, chainKeys };
  return {
    localnet,
    network,
    tap,
    baseUrl,
    dataDirectory,
    networkFile,
    chain: openChain(network),
    requireNoChainKeys,
    signUp: () => openAccount(place),
    invite: (owner, rights) => redeemInvite(place, owner, rights),
    tools: (person, folder, more) => openTools(directory, networkFile, baseUrl, person, folder, more),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

interface ServicePlace {
  readonly baseUrl: string;
  readonly network: NetworkConfiguration;
  readonly chainKeys: Secret[];
}

async function openAccount(place: ServicePlace): Promise<SharedPerson> {
  const { apiKey } = await signUp(place.baseUrl);
  const person = toPerson(place, { apiKey, keyId: "", ...(await newChainKey(place)) });
  await person.client.account.linkChain(person.signer);
  return person;
}

async function redeemInvite(
  place: ServicePlace,
  owner: SharedPerson,
  rights: { readonly vaultIds?: string[] } = {},
): Promise<SharedPerson> {
  const chainKey = await newChainKey(place);
  const { text } = await owner.client.invites.create({ name: "agent", ...rights });
  const { key, keyId } = await createClient({ baseUrl: place.baseUrl }).invites.redeem(text, chainKey.signer);
  recordSecret("apiKey", key);
  return toPerson(place, { apiKey: key, keyId, ...chainKey });
}

async function newChainKey({ chainKeys }: ServicePlace): Promise<Pick<SharedPerson, "privateKey" | "signer">> {
  const { privateKey } = await generateChainKey();
  const text = privateKey.reveal();
  const hex = Buffer.from(decodeSuiPrivateKey(text).secretKey).toString("hex");
  for (const form of [text, hex]) {
    recordSecret("chain key", form);
    chainKeys.push({ kind: "chain key", text: form });
  }
  return { privateKey: text, signer: await chainKeySigner(privateKey) };
}

function toPerson(
  { baseUrl, network }: ServicePlace,
  keys: Pick<SharedPerson, "apiKey" | "keyId" | "privateKey" | "signer">,
): SharedPerson {
  const another: SharedPerson["another"] = (shared = {}, more = {}) =>
    createClient({
      baseUrl,
      credentials: { apiKey: keys.apiKey },
      sharedVaults: sharedVaults({ signer: keys.signer, network, platform: nodePlatform, ...shared }),
      ...more,
    });
  return { ...keys, address: keys.signer.chainAddress, client: another(), another };
}

async function openTools(
  directory: string,
  networkFile: string,
  baseUrl: string,
  person: SharedPerson,
  folder: string,
  { chainPrivateKey = person.privateKey, environment = {}, flags }: ToolsOptions = {},
): Promise<ToolServer> {
  const configuration = await mkdtemp(join(directory, "tools-"));
  const profile = { chainPrivateKey, networkFile };
  const credentialsFile = await writeCredentials(configuration, baseUrl, person.apiKey, profile);
  // Pins are kept with the configuration: no test writes into the home of whoever runs it.
  return startToolServer({
    credentialsFile,
    folder,
    environment: { SERVICE_CONFIG_DIR: configuration, ...environment },
    ...(flags === undefined ? {} : { flags }),
  });
}
