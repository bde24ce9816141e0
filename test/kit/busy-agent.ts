import type { Client, Middleware } from "@coffer/sdk";
import { openFakeService } from "./tools-here.ts";

export interface BusyAgent {
  readonly vaultId: string;
  readonly keyId: string;
  /** The agent's. */
  readonly agent: Client;
  /** A client of the owner. */
  readonly connect: (...middleware: Middleware[]) => Client;
}

/** A public vault in memory, and an agent with a key of its own to it. */
export async function openBusyAgent(): Promise<BusyAgent> {
  const { client, connect } = await openFakeService();
  const { id: vaultId } = await client.vaults.create({ name: "v", type: "public" });
  const { id: keyId, key } = await client.apiKeys.create({ name: "busy", vaultIds: [vaultId] });
  const agent = connect(async (request, next) => {
    request.headers.set("authorization", `Bearer ${key}`);
    return await next(request);
  });
  return { vaultId, keyId, agent, connect };
}
