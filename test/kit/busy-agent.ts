import type { Client, Middleware } from "@coffer/sdk";
import type { NewAccount } from "./service-here.ts";

export interface BusyAgent {
  readonly vaultId: string;
  readonly keyId: string;
  /** The agent's. */
  readonly agent: Client;
  /** A client of the owner. */
  readonly connect: (...middleware: Middleware[]) => Client;
}

/** A public vault of a new account, and an agent with a key of its own to it. */
export async function openBusyAgent(newAccount: NewAccount): Promise<BusyAgent> {
  const { client, connect } = await newAccount();
  const { id: vaultId } = await client.vaults.create({ name: "v", type: "public" });
  const { id: keyId, key } = await client.apiKeys.create({ name: "busy", vaultIds: [vaultId] });
  const agent = connect(async (request, next) => {
    request.headers.set("authorization", `Bearer ${key}`);
    return await next(request);
  });
  return { vaultId, keyId, agent, connect };
}
