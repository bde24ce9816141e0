/** What the code blocks of the pages take for granted: their declarations, and the values with which they run. */
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { startStack, startWebhookSink, type Stack } from "@coffer/devstack";
import { chainKeySigner, createClient, generateChainKey, type Client } from "@coffer/sdk";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { accessCode } from "../access-code.ts";

/** A block's own declarations and imports win. */
export const GIVEN = `
declare const apiKey: string;
declare const baseUrl: string;
declare const credentials: { readonly apiKey: string };
declare const email: string;
declare const password: string;
declare const accessCode: string;
declare const text: string;
declare const networkText: string;
declare const address: string;
declare const keypair: import("@mysten/sui/keypairs/ed25519").Ed25519Keypair;
declare const client: import("@coffer/sdk").Client;
declare const owner: import("@coffer/sdk").Client;
declare const app: { fetch(request: Request): Promise<Response> };
declare const error: unknown;
declare const event: import("@coffer/sdk/webhooks").ReceivedEvent;
declare const secret: string;
declare const fileId: string;
declare const vaultId: string;
declare const vault: import("@coffer/sdk").Vault;
declare const agentAddress: string;
declare const keyId: string;
declare const body: Uint8Array;
declare const signer: import("@coffer/sdk").Signer;
declare const network: import("@coffer/chain").NetworkConfiguration;
`;

export interface Given extends AsyncDisposable {
  readonly stack: Stack;
  readonly baseUrl: string;
  readonly hookUrl: string;
  /** By name, made anew for each block that names it. */
  readonly values: Readonly<Record<string, () => unknown>>;
  /** Puts what a block made into the trash, so that the next one may use the same names. */
  clean(): Promise<void>;
}

export async function openGiven(): Promise<Given> {
  const stack = await startStack();
  const sink = await startWebhookSink();
  const { baseUrl, apiKey, sharedVaults } = stack;
  const client = createClient({ baseUrl, credentials: { apiKey } });
  const owner = createClient({ baseUrl, credentials: { apiKey }, sharedVaults });
  const body = new TextEncoder().encode("Some words.\n");
  const sharedVault = () => owner.vaults.create({ name: `Docs ${randomUUID()}`, type: "shared" });
  const invite = async () => owner.invites.create({ name: "docs", vaultIds: [(await sharedVault()).id] });
  const agent = async () => redeem(baseUrl, owner);
  const file = async () => (await client.files.upload({ name: `${randomUUID()}.txt`, body })).file;
  const values = {
    ...{ baseUrl, apiKey, credentials: { apiKey }, client, owner, body },
    ...{ network: sharedVaults.network, signer: sharedVaults.signer, secret: "whsec_AAAA" },
  };
  return {
    ...{ stack, baseUrl, hookUrl: sink.hookUrl },
    values: {
      ...Object.fromEntries(Object.entries(values).map(([name, value]) => [name, () => value])),
      email: () => `docs-${randomUUID()}@example.com`,
      password: () => `${randomUUID()} ${randomUUID()}`,
      accessCode: () => accessCode(stack.dataDirectory),
      address: async () => (await chainKeySigner((await generateChainKey()).privateKey)).chainAddress,
      agentAddress: async () => (await agent()).address,
      keyId: async () => (await agent()).keyId,
      keypair: () => new Ed25519Keypair(),
      text: async () => (await invite()).text,
      networkText: () => readFile(stack.networkFile, "utf8"),
      vault: sharedVault,
      vaultId: async () => (await client.vaults.create({ name: `Docs ${randomUUID()}`, type: "public" })).id,
      fileId: async () => (await file()).id,
    },
    clean: async () => {
      for await (const each of client.vaults.list())
        if (!each.isDefault) await owner.vaults.delete(each.id, { force: true });
        else for await (const { id } of client.files.list({ vaultId: each.id })) await client.files.delete(id);
    },
    [Symbol.asyncDispose]: async () => {
      await sink[Symbol.asyncDispose]();
      await stack.close();
    },
  };
}

async function redeem(baseUrl: string, owner: Client): Promise<{ address: string; keyId: string }> {
  const invite = await owner.invites.create({ name: "docs" });
  const signer = await chainKeySigner((await generateChainKey()).privateKey);
  const { keyId } = await createClient({ baseUrl }).invites.redeem(invite.text, signer);
  return { address: signer.chainAddress, keyId };
}
