import type { Client } from "@coffer/sdk";
import { expect, it } from "vitest";
import { serveHttp } from "./http.ts";
import { KeyHolders } from "./key-holders.ts";
import type { Launch } from "./launch.ts";
import { NO_CALL_RECORD } from "./call-record.ts";
import { createServer } from "./server.ts";

const keyOf = (name: string): string => `coffer_${name.padStart(32, "0")}`;
const GOOD = keyOf("good");

/** The service has one key. */
function clientFor(key: string): Client {
  const refused = Object.assign(new Error("x"), { code: "invalid_credential", nextStep: "" });
  const get = () =>
    key === GOOD ? Promise.resolve({ credential: { kind: "api-key", id: "k1" } }) : Promise.reject(refused);
  return { account: { get } } as unknown as Client;
}

const LAUNCH: Launch = {
  profile: "owner",
  tools: null,
  excludeTools: [],
  readOnly: false,
  vaultId: null,
  configFile: null,
  revealSharedText: false,
  confirm: "auto",
  allowConfigFiles: false,
  allowedFolders: [],
  downloads: null,
  roots: "narrow",
  http: { host: "127.0.0.1", port: 0, publicUrl: null, allowedOrigins: [] },
};

it("however many keys somebody makes up, a connection of a real key goes on [T6] [T6]", async () => {
  const shell = await serveHttp({
    http: { host: "127.0.0.1", port: 0, publicUrl: null, allowedOrigins: [] },
    keys: new KeyHolders({ clientFor }),
    serverFor: ({ keyId, credentialState, serviceLink }) =>
      createServer({
        launch: LAUNCH,
        serviceLink,
        credentialState: credentialState,
        keyId,
        handOut: null,
        record: NO_CALL_RECORD,
        log: () => undefined,
        folders: { folders: [], denied: { folders: [], files: [] } },
        stop: new AbortController().signal,
      }),
    log: () => undefined,
  });
  const post = async (key: string, body: object, headers: Record<string, string> = {}): Promise<Response> => {
    const answer = await fetch(shell.url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2025-11-25",
        authorization: `Bearer ${key}`,
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, ...body }),
    });
    await answer.text();
    return answer;
  };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } };
  const begin = { method: "initialize", params };
  const id = (await post(GOOD, begin)).headers.get("mcp-session-id") ?? "";
  const status = async () => (await post(GOOD, { method: "tools/list" }, { "mcp-session-id": id })).status;
  expect(await status()).toBe(200);
  for (let made = 0; made < 1_100; made += 1) expect((await post(keyOf(String(made)), begin)).status).toBe(401);
  expect(await status()).toBe(200);
  await shell.close();
});
