/** What an owner does with `coffer` where no chain is needed, against a service in this process. */
import { once } from "node:events";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createClient, type Client } from "@coffer/sdk";
import { parseConfig, startServer, type RunningServer } from "@coffer/server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { coffer, type Ran, type Situation } from "../kit/coffer.ts";
import { makeDirectory } from "../kit/directory.ts";
import { onlyDocument } from "./owner-scene.ts";

let server: RunningServer;
let client: Client;
let apiKey = "";
const home = makeDirectory();

beforeAll(async () => {
  const settings = { SERVICE_ENV: "development", SERVICE_HOST: "127.0.0.1", SERVICE_PORT: "0" };
  const config = parseConfig({ ...settings, SERVICE_DATA_DIR: makeDirectory() });
  server = await startServer(config, { logSink: { write: () => undefined } });
  const anyone = createClient({ baseUrl: server.baseUrl });
  ({ apiKey } = await anyone.development.signup({ email: "owner@example.com" }));
  client = createClient({ baseUrl: server.baseUrl, credentials: { apiKey } });
});
afterAll(() => server.close());

const run = (line: string, situation: Situation = {}): Promise<Ran> =>
  coffer(line.split(" "), home, {
    ...situation,
    env: { SERVICE_BASE_URL: server.baseUrl, SERVICE_API_KEY: apiKey, ...situation.env },
  });

async function document<Value = Record<string, unknown>>(line: string, situation?: Situation): Promise<Value> {
  return onlyDocument(await run(`${line} --json`, situation)) as Value;
}

describe("vaults [issue 19]", () => {
  it("are changed, deleted with a question, and brought back [S4.3-cli-vault-update S4.3-cli-vault-delete]", async () => {
    const { vault } = await document<{ vault: { id: string } }>("vaults create Website --public");
    const updated = await document("vaults update Website --name Site --keep-versions-days 90");
    expect(updated).toMatchObject({ vault: { id: vault.id, name: "Site", keepVersionsDays: 90 } });
    const refused = await run("vaults delete Site");
    expect([refused.code, refused.err]).toEqual([2, expect.stringMatching(/^next: .*--yes/m)]);
    const declined = await run("vaults delete Site", { answers: ["n"] });
    expect([declined.code, declined.out]).toEqual([1, ""]);
    expect((await run("vaults delete Site", { answers: ["y"] })).out).toContain("coffer vaults restore");
    expect((await run("vaults list --trashed")).out).toContain("Site");
    expect(await document("vaults restore Site --name Again")).toMatchObject({
      vault: { id: vault.id, name: "Again" },
    });
    expect(await document(`vaults delete ${vault.id.slice(0, 8)} --permanent --yes`)).toEqual({
      vaultId: vault.id,
      vault: null,
      permanent: true,
    });
    const gone = await run("vaults get Again");
    expect([gone.code, gone.err]).toEqual([3, expect.stringContaining("coffer vaults list")]);
  });

  it("show their tree, with harmless names", async () => {
    const vault = await client.vaults.create({ name: "Tree", type: "public" });
    const folder = await client.folders.create({ vaultId: vault.id, name: "reports" });
    const hostile = "a\u202efdp.txt";
    await client.files.upload({ vaultId: vault.id, folderId: folder.id, name: hostile, body: "1" });
    await client.files.upload({ vaultId: vault.id, name: "b.txt", body: "22" });
    const { out } = await run("vaults tree Tree");
    expect(out).toBe("Tree\n├── reports/\n│   └── a\\u{202e}fdp.txt\n└── b.txt\n1 folders, 2 files\n");
    expect(await document("vaults tree Tree --depth 1")).toMatchObject({
      items: [
        { kind: "folder", name: "reports" },
        { kind: "file", name: "b.txt", size: 2 },
      ],
    });
    expect((await run("vaults check Tree")).out).toContain("public");
  });

  it("are listed in parts", async () => {
    const first = await document<{ vaults: { id: string }[]; nextCursor: string }>("vaults list --limit 1");
    const rest = await document<{ vaults: { id: string }[]; nextCursor: null }>(
      `vaults list --all --cursor ${first.nextCursor}`,
    );
    const { vaults } = await document<{ vaults: { id: string }[] }>("vaults list --all");
    expect([...first.vaults, ...rest.vaults]).toEqual(vaults);
    const lines = (await run("vaults list --json-lines")).out.trimEnd().split("\n");
    expect(lines.map((line) => (JSON.parse(line) as { id: string }).id)).toEqual(vaults.map(({ id }) => id));
  });
});

describe("API keys [issue 19]", () => {
  it("are made, shown once, listed, replaced and revoked [S4.3-cli-key-list S4.3-cli-key-revoke]", async () => {
    const made = await run("api-keys create --name ci --scopes files:read --expires-in-days 1 --json");
    const { apiKey: created } = onlyDocument(made) as { apiKey: { id: string; key: string } };
    expect(created.key).toMatch(/^cof_/);
    expect(created).toMatchObject({ scopes: ["files:read"] });
    const listed = await run("api-keys list");
    expect(listed.out).toContain(created.id);
    expect(listed.out).not.toContain(created.key);
    const again = await run("api-keys rotate ci --yes --to-file new.key");
    expect(again.out).not.toMatch(/cof_/);
    expect(statSync(join(home, "new.key")).mode & 0o777).toBe(0o600);
    const replaced = readFileSync(join(home, "new.key"), "utf8").trim();
    expect((await run("vaults list", { env: { SERVICE_API_KEY: replaced } })).code).toBe(0);
    const revoked = await run("api-keys revoke ci", { answers: ["y"] });
    // Two keys have this name now.
    expect([revoked.code, revoked.err]).toEqual([2, expect.stringContaining(created.id)]);
    const { apiKeys } = await document<{ apiKeys: { id: string; name: string; revokedAt: string | null }[] }>(
      "api-keys list",
    );
    const live = apiKeys.find(({ name, id }) => name === "ci" && id !== created.id);
    expect((await run(`api-keys revoke ${live?.id ?? ""} --yes`)).out).toMatch(/^Revoked the key/);
    expect((await run("vaults list", { env: { SERVICE_API_KEY: replaced } })).code).toBe(4);
  });

  it("makes none when its file cannot be written, and refuses unknown scopes", async () => {
    writeFileSync(join(home, "taken.key"), "");
    const taken = await run("api-keys create --name taken --to-file taken.key");
    expect(taken.code).toBe(7);
    expect((await run("api-keys list")).out).not.toContain("taken");
    const unknown = await run("api-keys create --name x --scopes files:fly");
    expect([unknown.code, unknown.err]).toEqual([2, expect.stringContaining("files:read,files:write")]);
  });

  it("have budgets, which are shown with their use", async () => {
    await run("api-keys create --name small --budget storedBytes=1.5MiB,filesPerDay=10");
    const { budgets } = await document<{ budgets: unknown[] }>("budgets");
    expect(budgets).toMatchObject([
      { name: "small", budget: "storedBytes", limit: 1_572_864, used: 0 },
      { name: "small", budget: "filesPerDay", limit: 10, left: 10 },
    ]);
    expect((await run("api-keys create --name x --budget much=1")).code).toBe(2);
  });
});

describe("the audit log [issue 19]", () => {
  it("is listed by actor and time, and checked", async () => {
    const { events } = await document<{ events: { action: string }[] }>("audit list --action vault --since today");
    expect(new Set(events.map(({ action }) => action.split(".")[0]))).toEqual(new Set(["vault"]));
    expect((await run("audit list --by 00000000")).out).toBe("No entries.\n");
    const verdict = await document<{ newest: { sequence: number; hash: string } }>("audit verify");
    const { sequence, hash } = verdict.newest;
    expect(verdict).toMatchObject({ intact: true, entries: sequence, fault: null });
    expect((await run(`audit verify --expect ${String(sequence)}:${hash}`)).code).toBe(0);
    const other = await run(`audit verify --expect ${String(sequence)}:${"0".repeat(64)}`);
    expect([other.code, other.out]).toEqual([1, expect.stringContaining("was altered")]);
  });
});

interface Received {
  readonly body: string;
  readonly headers: IncomingHttpHeaders;
}

/** Takes what comes; answers 204. */
async function openReceiver(): Promise<{ url: string; received: Received[]; close: () => void }> {
  const received: Received[] = [];
  const receiver = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      received.push({ body: Buffer.concat(parts).toString("utf8"), headers: request.headers });
      response.writeHead(204).end();
    });
  }).listen(0, "127.0.0.1");
  await once(receiver, "listening");
  const { port } = receiver.address() as AddressInfo;
  const close = (): void => {
    receiver.closeAllConnections();
    receiver.close();
  };
  return { url: `http://127.0.0.1:${String(port)}/hook`, received, close };
}

describe("webhooks [issue 19]", () => {
  it("are made, tested, changed, listed, retried and deleted; their secret is shown once", async () => {
    const { url, received, close } = await openReceiver();
    const { webhook, secret } = await document<{ webhook: { id: string }; secret: string }>(
      `webhooks create --url ${url} --events file.uploaded`,
    );
    expect(secret).toMatch(/^whsec_/);
    const tested = await document<{ delivery: { id: string; status: string } }>(`webhooks test ${webhook.id}`);
    expect(tested.delivery.status).toBe("success");
    writeFileSync(join(home, "hook.secret"), secret);
    const { body, headers } = received[0] ?? { body: "", headers: {} };
    writeFileSync(join(home, "body.json"), body);
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}`);
    writeFileSync(join(home, "headers.txt"), ["HTTP/1.1 200 OK", ...lines].join("\r\n"));
    const verified = "webhooks verify --secret-file hook.secret --header @headers.txt --body";
    expect(await document(`${verified} body.json`)).toMatchObject({ valid: true, event: { type: "webhook.test" } });
    const altered = await run(`${verified} -`, { input: `${body} ` });
    expect([altered.code, altered.out]).toEqual([1, expect.stringContaining("no_match")]);

    expect((await run(`webhooks update ${webhook.id} --paused`)).out).toContain("paused");
    expect((await run(`webhooks update ${webhook.id} --active --events *`)).out).toMatch(/events +\*/);
    expect((await run("webhooks list")).out).toContain(webhook.id);
    const { deliveries } = await document<{ deliveries: { id: string }[] }>(`webhooks deliveries ${webhook.id}`);
    expect(deliveries.map(({ id }) => id)).toEqual([tested.delivery.id]);
    const one = await document(`webhooks deliveries ${webhook.id} ${tested.delivery.id}`);
    expect(one).toMatchObject({ attempts: [{ httpStatus: 204 }], delivery: { id: tested.delivery.id } });
    expect((await run(`webhooks retry ${webhook.id} --since 1h`)).out).toBe("Sent once more: 0 deliveries\n");
    const rotated = await run(`webhooks rotate-secret ${webhook.id} --yes --to-file rotated.secret`);
    expect(rotated.out).not.toMatch(/whsec_/);
    expect(readFileSync(join(home, "rotated.secret"), "utf8")).toMatch(/^whsec_/);
    expect((await run(`webhooks delete ${webhook.id} --yes`)).code).toBe(0);
    expect((await run(`webhooks get ${webhook.id}`)).code).toBe(3);
    close();
    const { webhook: deaf } = await document<{ webhook: { id: string } }>(`webhooks create --url ${url}`);
    const failed = await run(`webhooks test ${deaf.id}`);
    expect([failed.code, failed.out]).toEqual([1, expect.stringContaining("connection refused")]);
    await run(`webhooks delete ${deaf.id} --yes`);
  });

  it("listens, and sends events on with a signature that holds", async () => {
    const { url, received, close } = await openReceiver();
    const { audit } = client;
    const sequence = (await audit.list({ limit: 1 })).events[0]?.sequence ?? 0;
    await client.vaults.create({ name: "Heard", type: "public" });
    const ran = await run(
      `webhooks listen --forward-to ${url} --events vault.created --count 1 --after ${String(sequence)}`,
    );
    expect(ran.out).toMatch(/^vault\.created +HTTP 204$/m);
    const [, secret = ""] = /Secret of this run: (whsec_\S+)/.exec(ran.err) ?? [];
    await run("webhooks trigger file.uploaded --forward-to " + url + " --secret-file hook.secret");
    expect(received).toHaveLength(2);
    const secrets = [secret, readFileSync(join(home, "hook.secret"), "utf8").trim()];
    for (const [at, { body, headers }] of received.entries()) {
      writeFileSync(join(home, "forwarded.secret"), secrets[at] ?? "");
      const given = ["webhook-id", "webhook-timestamp", "webhook-signature"];
      const words = given.flatMap((name) => ["--header", `${name}: ${String(headers[name])}`]);
      const checked = await coffer(
        ["webhooks", "verify", "--secret-file", "forwarded.secret", ...words, "--body", "-", "--json"],
        home,
        { input: body },
      );
      expect(onlyDocument(checked)).toMatchObject({ valid: true });
    }
    const away = await run("webhooks trigger vault.created --forward-to http://127.0.0.1:1/");
    expect([away.code, away.out]).toEqual([1, expect.stringContaining("no answer")]);
    close();
  });
});

describe("agents.rewind [issue 19]", () => {
  it("plans, asks, undoes, and finds nothing left", async () => {
    const vault = await client.vaults.create({ name: "Rewound", type: "public" });
    const { key, id } = await client.apiKeys.create({ name: "messy" });
    const messy = createClient({ baseUrl: server.baseUrl, credentials: { apiKey: key } });
    const since = new Date().toISOString();
    for (const name of ["a.txt", "b.txt"]) await messy.files.upload({ vaultId: vault.id, name, body: name });
    const plan = await document(`agents rewind messy --since ${since} --dry-run`);
    expect(plan).toMatchObject({ dryRun: true, counts: { trash: 2 } });
    const asked = await run(`agents rewind ${id} --since ${since}`);
    expect([asked.code, asked.err]).toEqual([2, expect.stringContaining("trash 2")]);
    const done = await run(`agents rewind ${id} --since ${since} --vault Rewound`, { answers: ["y"] });
    expect([done.code, done.out]).toEqual([0, expect.stringContaining("Undone: trash 2")]);
    expect((await client.files.list({ vaultId: vault.id })).files).toEqual([]);
    expect((await run(`agents rewind ${id} --since ${since} --yes`)).out).toContain("nothing");
    expect((await run("agents rewind nobody --since 1h")).code).toBe(3);
  });
});
