/** Signing in on another device: an address to open anywhere, and the address that the browser ended at to paste back. */
import { readFile } from "node:fs/promises";
import type { Client, SessionTokens } from "@coffer/sdk";
import type { Context } from "./context.ts";
import { usage } from "./failure.ts";

export interface BrowserSignInOptions {
  readonly zklogin: boolean;
  readonly accessCode: string | undefined;
  /** Called when the person has signed in there, before the access code is spent: what this machine cannot keep shows now. */
  readonly prepare: () => Promise<void>;
}

export interface BrowserSignIn {
  readonly tokens: SessionTokens;
  /** Only zkLogin gives one. */
  readonly chainAddress: string | null;
}

export async function signInByBrowser(
  context: Context,
  { identityProvider }: Client,
  { zklogin, accessCode, prepare }: BrowserSignInOptions,
): Promise<BrowserSignIn> {
  const { signal } = context;
  if (!zklogin) {
    const { url, state } = await identityProvider.authorize({ accessCode }, { signal });
    const redirect = await readRedirect(context, url, state);
    await prepare();
    return { tokens: await identityProvider.callback(redirect, { signal }), chainAddress: null };
  }
  const ephemeral = await newEphemeralKey(context);
  const { nonce, ephemeralPublicKey, maxEpoch, randomness } = ephemeral;
  const { url, state } = await identityProvider.authorizeZklogin({ nonce, accessCode }, { signal });
  const back = await readRedirect(context, url, state);
  await prepare();
  const { chainAddress, ...tokens } = await identityProvider.zkloginAuth(
    { ...back, ephemeralPublicKey, maxEpoch, randomness },
    { signal },
  );
  return { tokens, chainAddress };
}

/** Shows the address, and takes the one that the browser ended at: it holds code and state. */
async function readRedirect(context: Context, url: string, state: string): Promise<{ code: string; state: string }> {
  const { world } = context;
  await world.stderr.write(`Open this address on any device and sign in there:\n\n  ${url}\n\n`);
  await world.stderr.write("Then paste the whole address that the browser ended at.\n");
  const isTyped = world.stdin.isTerminal && !context.globals.noInput;
  const pasted = (isTyped ? await context.ask("Address", "") : await context.readInput("Address")).trim();
  const parameters = URL.parse(pasted)?.searchParams;
  const code = parameters?.get("code") ?? "";
  if (code === "") throw usage("That address holds no code of a sign-in", "run it again, and paste the whole address");
  if (parameters?.get("state") !== state)
    throw usage("That address belongs to another sign-in", "run it again, and paste the address of this one");
  context.redaction.register(code);
  return { code, state };
}

/** Epochs of the chain for which the key would be good. It signs nothing: the session is all that is kept. */
const EPOCHS = 2;

interface EphemeralKey {
  readonly nonce: string;
  readonly ephemeralPublicKey: string;
  readonly maxEpoch: number;
  readonly randomness: string;
}

async function newEphemeralKey(context: Context): Promise<EphemeralKey> {
  const { Ed25519Keypair } = await import("@mysten/sui/keypairs/ed25519");
  const { generateNonce, generateRandomness } = await import("@mysten/sui/zklogin");
  const publicKey = Ed25519Keypair.generate().getPublicKey();
  const maxEpoch = (await currentEpoch(context)) + EPOCHS;
  const randomness = generateRandomness();
  const nonce = generateNonce(publicKey, maxEpoch, randomness);
  return { nonce, maxEpoch, randomness, ephemeralPublicKey: publicKey.toSuiPublicKey() };
}

async function currentEpoch(context: Context): Promise<number> {
  const { networkFile } = await context.settings();
  if (networkFile === null)
    throw usage(
      "zkLogin needs the chain's network",
      "set SERVICE_NETWORK_FILE, or coffer config set network-file FILE",
    );
  const { grpcUrl, network } = parseNetwork((await readFile(networkFile, "utf8")).replace(/^\ufeff/, ""), networkFile);
  const { SuiGrpcClient } = await import("@mysten/sui/grpc");
  const { response } = await new SuiGrpcClient({ baseUrl: grpcUrl, network }).ledgerService.getServiceInfo({});
  return Number(response.epoch ?? 0n);
}

function parseNetwork(text: string, file: string): { grpcUrl: string; network: string } {
  try {
    const { grpcUrl, network } = JSON.parse(text) as Record<string, unknown>;
    if (typeof grpcUrl === "string" && typeof network === "string") return { grpcUrl, network };
  } catch {
    // Said below.
  }
  throw usage(`${file} is no network configuration`, "coffer doctor");
}
