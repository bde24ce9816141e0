/** People whose chain addresses are no Ed25519 keys: each with an account, its address, and a key for its statements. */
import { fromSuiSigner } from "@coffer/chain";
import { nodePlatform } from "@coffer/crypto/node";
import {
  createClient,
  generateChainKey,
  statementSigner,
  type Client,
  type ClientOptions,
  type Signer,
} from "@coffer/sdk";
import { sharedVaults } from "@coffer/sdk/shared";
import type { Signer as SuiSigner } from "@mysten/sui/cryptography";
import { SuiGrpcClient } from "@mysten/sui/grpc";
import { makeAccessCode } from "../journeys/kit/identity.ts";
import type { LocalProvider } from "../kit/identity-provider.ts";
import type { SharedStack } from "../kit/shared-stack.ts";
import { SUI_SIGNERS } from "../kit/sui-signers.ts";
import { sessionOf, signInWithZklogin } from "../kit/zklogin-sign-in.ts";

export interface Wallet {
  readonly signer: Signer;
  /** A client of another process: nothing is remembered. Also with another signer of the same address. */
  open(signer?: Signer): Client;
  readonly client: Client;
}

export interface WalletPlace {
  readonly stack: SharedStack;
  readonly provider: LocalProvider;
}

/** Until which epoch a zkLogin person's first sign-in is good. */
export const MAX_EPOCH = 2;
export const ZKLOGIN_USER = { sub: "ada", email: "ada@example.com" };

export const WALLETS: readonly (readonly [string, (place: WalletPlace) => Promise<Wallet>])[] = [
  ["zkLogin", openZklogin],
  ...SUI_SIGNERS.map(
    ([name, make]) => [name, async (place: WalletPlace) => openLinked(place, name, await make())] as const,
  ),
];

/** What is kept beside a wallet: the statement key. */
export async function withStatements(signer: SuiSigner): Promise<Signer> {
  const { privateKey } = await generateChainKey();
  return { ...fromSuiSigner(signer), statements: await statementSigner(privateKey) };
}

/** An account that links the wallet's address. */
async function openLinked({ stack }: WalletPlace, name: string, wallet: SuiSigner): Promise<Wallet> {
  const signer = await withStatements(wallet);
  const { apiKey } = await createClient({ baseUrl: stack.baseUrl }).development.signup({
    email: `${name.replaceAll(" ", "-")}@example.com`,
  });
  const opened = walletOf(stack, signer, { apiKey });
  const account = await opened.client.account.linkChain(signer);
  if (account.chainAddressSource !== "external") throw new Error("linked addresses are external");
  return opened;
}

/** An account that the service made of a sign-in with zkLogin, whose address it knows from there. */
async function openZklogin({ stack, provider }: WalletPlace): Promise<Wallet> {
  const accessCode = await makeAccessCode({ SERVICE_ENV: "development", SERVICE_DATA_DIR: stack.dataDirectory });
  const place = { baseUrl: stack.baseUrl, provider, client: nodeClient(stack) };
  const signedIn = await signInWithZklogin(place, ZKLOGIN_USER, { maxEpoch: MAX_EPOCH, accessCode });
  return walletOf(stack, await withStatements(signedIn.signer), sessionOf(signedIn.tokens));
}

export function nodeClient({ network }: SharedStack): SuiGrpcClient {
  return new SuiGrpcClient({ network: "localnet", baseUrl: network.grpcUrl });
}

export function walletOf(stack: SharedStack, signer: Signer, credentials: ClientOptions["credentials"]): Wallet {
  const { baseUrl, network } = stack;
  const open = (own: Signer = signer): Client =>
    createClient({
      baseUrl,
      credentials,
      sharedVaults: sharedVaults({ signer: own, network, platform: nodePlatform }),
    });
  return { signer, open, client: open() };
}
