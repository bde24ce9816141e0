/** A key with the scopes that `api-keys explain` names runs the command; without one of them it does not. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createClient, type Client, type Scope } from "@coffer/sdk";
import { parseConfig, startServer, type RunningServer } from "@coffer/server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { coffer, type Ran } from "../kit/coffer.ts";
import { makeDirectory } from "../kit/directory.ts";
import { onlyDocument } from "./owner-scene.ts";

let server: RunningServer;
let owner: Client;
const home = makeDirectory();

beforeAll(async () => {
  const settings = { SERVICE_ENV: "development", SERVICE_HOST: "127.0.0.1", SERVICE_PORT: "0" };
  const config = parseConfig({ ...settings, SERVICE_DATA_DIR: makeDirectory() });
  server = await startServer(config, { logSink: { write: () => undefined } });
  const { apiKey } = await createClient({ baseUrl: server.baseUrl }).development.signup({ email: "o@example.com" });
  owner = createClient({ baseUrl: server.baseUrl, credentials: { apiKey } });
  await owner.vaults.create({ name: "V", type: "public" });
  writeFileSync(join(home, "a.txt"), "a");
});
afterAll(() => server.close());

async function runWith(scopes: readonly Scope[], line: string): Promise<Ran> {
  const { key } = await owner.apiKeys.create({ name: "explained", scopes: [...scopes] });
  return await coffer(line.split(" "), home, { env: { SERVICE_BASE_URL: server.baseUrl, SERVICE_API_KEY: key } });
}

const LINES = [
  "vaults create W",
  "vaults update V --keep-versions-days 9",
  "vaults tree V",
  "invites create --name x --vaults V --scopes files:read",
  "invites list",
  "api-keys list",
  "api-keys create --name y --scopes files:read",
  "audit list",
  "audit verify",
  "budgets",
  "webhooks create --url http://127.0.0.1:1/",
  "webhooks list",
  "webhooks trigger file.uploaded --forward-to http://127.0.0.1:1/",
  "upload a.txt --vault V --folder f",
  "ls V:",
];

describe("api-keys explain [issue 19]", () => {
  it.each(LINES)("%s", async (line) => {
    const words = line.split(" ");
    const explained = await coffer(["api-keys", "explain", ...words.slice(0, 2), "--json"], home);
    const { scopes } = onlyDocument(explained) as { scopes: Scope[] };
    expect(scopes.length).toBeGreaterThan(0);
    // The one that makes keys can give no wider ones, and nobody listens to what is triggered.
    const all = line.includes("--scopes") ? ["files:read" as const, ...scopes] : scopes;
    const enough = await runWith(all, line);
    expect([line.includes("trigger") ? 1 : 0, enough.err]).toEqual([enough.code, expect.not.stringContaining("scope")]);
    const missing = all.filter((scope) => scope !== scopes.at(-1));
    const tooFew = await runWith(
      missing.length === 0 ? ["billing:write"] : missing,
      line.replace("--folder f", "--folder g"),
    );
    expect([line, tooFew.code]).toEqual([line, 6]);
  });
});
