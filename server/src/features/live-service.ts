/** TEST ONLY: the whole server on a free port of this machine, its data in a directory of its own, with one account. */
import { makeDirectory } from "../../../test/kit/directory.ts";
import { recordSecret, requireClean } from "../../../test/kit/secret-recorder.ts";
import { type Environment, parseConfig, startServer } from "../index.ts";

export interface LiveService extends AsyncDisposable {
  readonly baseUrl: string;
  readonly directory: string;
  readonly authorization: string;
  /** A request with the account's key; `path` begins with a slash. */
  call(path: string, init?: RequestInit): Promise<Response>;
}

export async function openLiveService(environment: Environment = {}): Promise<LiveService> {
  const directory = makeDirectory();
  const place = { SERVICE_ENV: "development", SERVICE_PORT: "0", SERVICE_DATA_DIR: directory };
  const config = parseConfig({ ...place, ...environment });
  const lines: Uint8Array[] = [];
  const server = await startServer(config, { logSink: { write: (bytes) => void lines.push(bytes.slice()) } });
  const key = await signUp(server.baseUrl);
  recordSecret("apiKey", key);
  const authorization = `Bearer ${key}`;
  return {
    baseUrl: server.baseUrl,
    directory,
    authorization,
    call: (path, init = {}) =>
      fetch(server.baseUrl + path, {
        ...init,
        headers: { authorization, ...(init.headers as Record<string, string>) },
      }),
    async [Symbol.asyncDispose]() {
      await server.close();
      await requireClean(directory, Buffer.concat(lines));
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
