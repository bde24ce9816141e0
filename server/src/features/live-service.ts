/** TEST ONLY: the whole server on a free port of this machine, its data in a directory of its own, with one account. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { recordSecret, requireClean } from "../../../test/kit/secret-recorder.ts";
import { type Environment, parseConfig, startServer } from "../index.ts";

export interface LiveService extends AsyncDisposable {
  readonly baseUrl: string;
  readonly directory: string;
  readonly authorization: string;
  /** A request with the account's key; `path` begins with a slash. */
  call(path: string, init?: RequestInit): Promise<Response>;
}

/** `directory`: where the data goes; a new one that is removed at the end when none is given. */
export async function openLiveService(environment: Environment = {}, directory?: string): Promise<LiveService> {
  const own = directory ?? mkdtempSync(join(tmpdir(), "coffer-live-"));
  const config = parseConfig({ SERVICE_ENV: "development", SERVICE_PORT: "0", SERVICE_DATA_DIR: own, ...environment });
  const lines: Uint8Array[] = [];
  const server = await startServer(config, { logSink: { write: (bytes) => void lines.push(bytes.slice()) } });
  const key = await signUp(server.baseUrl);
  recordSecret("apiKey", key);
  const authorization = `Bearer ${key}`;
  return {
    baseUrl: server.baseUrl,
    directory: own,
    authorization,
    call: (path, init = {}) =>
      fetch(server.baseUrl + path, {
        ...init,
        headers: { authorization, ...(init.headers as Record<string, string>) },
      }),
    async [Symbol.asyncDispose]() {
      await server.close();
      try {
        await requireClean(own, Buffer.concat(lines));
      } finally {
        if (directory === undefined) rmSync(own, { recursive: true, force: true });
      }
    },
  };
}

async function signUp(baseUrl: string): Promise<string> {
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ email: "owner@example.test" });
  const answer = await fetch(`${baseUrl}/api/auth/dev-signup`, { method: "POST", headers, body });
  const { apiKey } = (await answer.json()) as { apiKey: string };
  return apiKey;
}
