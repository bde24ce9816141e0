import type { Transport } from "../../http/transports.ts";
import { readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeDirectory } from "../../../../../test/kit/directory.ts";
import { createClient, type Client } from "../../client.ts";
import { Secret } from "../../http/secret.ts";
import { openSessionService, type SessionService } from "../../connection/session-service.test-kit.ts";
import { readConfig, writeConfig } from "./config.ts";
import { savedSession } from "./saved-session.ts";
import { resolveSettings } from "./settings.ts";

const BASE_URL = "http://coffer.test";

interface Setting {
  /** The refresh token of the sign-in, and the configuration as it was written. */
  readonly first: string;
  readonly text: string;
  readonly service: SessionService;
  readonly file: string;
  readonly refreshed: { count: number };
  connect(): Promise<Client>;
}

/** A signed-in profile without an access token. */
async function openProfile(baseUrl = BASE_URL): Promise<Setting> {
  const file = join(makeDirectory(), "config.json");
  const service = await openSessionService();
  const refreshed = { count: 0 };
  const transport: Transport = (request) => {
    if (request.url.endsWith("/refresh")) refreshed.count += 1;
    return service.fetch(request);
  };
  const { refreshToken } = service.signIn();
  const session = { refreshToken: new Secret(refreshToken), accessToken: null, expiresAt: null, presented: false };
  await writeConfig({ profiles: { default: { baseUrl, apiKey: null, session } } }, file);
  return {
    first: refreshToken,
    text: await readFile(file, "utf8"),
    service,
    file,
    refreshed,
    connect: async () => createClient({ baseUrl, transport, credentials: await savedSession("default", file) }),
  };
}

const tableOf = ({ file }: Setting): string => join(dirname(file), "store", "sessions.table");

describe("a saved session", () => {
  it("has its new tokens on disk before they are used, for the owner alone", async () => {
    const setting = await openProfile();
    const before = (await readConfig(setting.file))?.profiles["default"]?.session?.refreshToken.reveal();
    const client = await setting.connect();
    await client.account.get();
    const after = (await readConfig(setting.file))?.profiles["default"]?.session;
    expect(after?.refreshToken.reveal()).not.toBe(before);
    expect(after).toMatchObject({ presented: false });
    expect(after?.expiresAt).toBeGreaterThan(Date.now() + 800_000);
    expect((await stat(tableOf(setting))).mode & 0o777).toBe(0o600);
    // People edit the configuration: it has no token, and is not written when one changes.
    expect(await readFile(setting.file, "utf8")).toBe(setting.text);
    for (const used of [before, setting.first]) expect(await readFile(tableOf(setting), "utf8")).not.toContain(used);
    // The next process takes up the access token, too.
    await (await setting.connect()).account.get();
    expect(setting.refreshed.count).toBe(1);
  });

  it("is refreshed once by clients of the same store at the same time", async () => {
    const setting = await openProfile();
    const clients = await Promise.all(Array.from({ length: 6 }, () => setting.connect()));
    await Promise.all(clients.flatMap((client) => Array.from({ length: 5 }, () => client.account.get())));
    expect(setting.refreshed.count).toBe(1);
  });

  it("is not presented again when a process died before its answer came", async () => {
    const setting = await openProfile();
    const { file, refreshed } = setting;
    const broken = createClient({
      baseUrl: BASE_URL,
      credentials: await savedSession("default", file),
      transport: () => new Promise(() => undefined),
    });
    // As a kill would leave it: sent, and never answered.
    const sent = broken.account.get({ totalMs: 200 }).catch((error: unknown) => error);
    expect(await sent).toMatchObject({ code: "timeout" });
    expect((await readConfig(file))?.profiles["default"]?.session?.presented).toBe(true);
    // The lock belongs to a process that runs on; a new one finds the mark and asks nobody.
    expect(refreshed.count).toBe(0);
  });

  it("stays when the service refuses it, and is not put back once it is removed", async () => {
    const setting = await openProfile();
    const client = await setting.connect();
    setting.service.endSessions();
    await expect(client.account.get()).rejects.toMatchObject({ code: "session_ended", reason: "refused" });
    expect(await readFile(tableOf(setting), "utf8")).toContain("refreshToken");
    const next = await setting.connect();
    await writeConfig({ profiles: { default: { baseUrl: BASE_URL, apiKey: null, session: null } } }, setting.file);
    await expect(next.account.get()).rejects.toMatchObject({ code: "configuration" });
    // Nothing of it is left: no row, no former content, no temporary file.
    expect(await readdir(dirname(tableOf(setting)))).toEqual([]);
    expect(await savedSession("default", setting.file)).toBeNull();
  });

  it("is sent to no other service that somebody has written into the configuration, and is there for its own", async () => {
    const setting = await openProfile();
    await writeFile(setting.file, setting.text.replace(BASE_URL, "http://elsewhere.test"));
    expect(await savedSession("default", setting.file)).toBeNull();
    await writeFile(setting.file, setting.text);
    expect(await savedSession("default", setting.file)).not.toBeNull();
  });

  it("that is damaged is refused with the repair, and neither signed out of nor replaced in silence", async () => {
    const setting = await openProfile();
    const table = tableOf(setting);
    const damaged = Buffer.from(await readFile(table));
    damaged[40] = (damaged[40] ?? 0) ^ 1;
    await writeFile(table, damaged);
    const refusal = { code: "configuration", message: expect.stringContaining(`${table} is damaged at byte`) };
    const profile = { baseUrl: BASE_URL, apiKey: null };
    const next = { refreshToken: new Secret("next"), accessToken: null, expiresAt: null, presented: false };
    for (const use of [
      () => savedSession("default", setting.file),
      () => readConfig(setting.file),
      () => writeConfig({ profiles: { default: { ...profile, session: null } } }, setting.file),
      () => writeConfig({ profiles: { default: { ...profile, session: next } } }, setting.file),
    ])
      await expect(use()).rejects.toMatchObject(refusal);
    expect(await readFile(table)).toEqual(damaged);
    await rm(table);
    expect(await savedSession("default", setting.file)).toBeNull();
  });

  it("is one for each profile of each configuration, and goes with its profile", async () => {
    const setting = await openProfile();
    const other = join(dirname(setting.file), "other.json");
    const session = { refreshToken: new Secret("other"), accessToken: new Secret("a"), expiresAt: 5, presented: true };
    const profile = { baseUrl: BASE_URL, apiKey: null, session };
    await writeConfig({ profiles: { default: profile, more: { ...profile, session: undefined } } }, other);
    const sessions = async (file: string) => {
      const entries = Object.entries((await readConfig(file))?.profiles ?? {});
      return Object.fromEntries(entries.map(([name, kept]) => [name, kept.session?.refreshToken.reveal() ?? null]));
    };
    expect(await sessions(setting.file)).toEqual({ default: setting.first });
    expect(await sessions(other)).toEqual({ default: "other", more: null });
    expect((await readConfig(other))?.profiles["default"]?.session).toMatchObject({ expiresAt: 5, presented: true });
    await writeConfig({ profiles: { default: null } }, other);
    await writeConfig({ profiles: { default: { baseUrl: BASE_URL, apiKey: null } } }, other);
    expect(await sessions(other)).toEqual({ default: null, more: null });
    expect(await sessions(setting.file)).toEqual({ default: setting.first });
  });

  it("is what settings give where there is no key, for the profile's own origin alone", async () => {
    const setting = await openProfile();
    const env = { SERVICE_CONFIG_FILE: setting.file };
    expect((await resolveSettings(env)).session).not.toBeNull();
    expect((await resolveSettings({ ...env, SERVICE_API_KEY: "k" })).session).toBeNull();
    expect((await resolveSettings({ ...env, SERVICE_BASE_URL: "http://elsewhere.test" })).session).toBeNull();
    expect(JSON.stringify(await resolveSettings(env))).not.toMatch(/[\w-]{43}/);
  });
});
