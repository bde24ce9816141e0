/** No command shows a secret of this machine, whatever the service answers: here it sends back what it was sent. */
import { rm } from "node:fs/promises";
import { buffer } from "node:stream/consumers";
import { join } from "node:path";
import { generateChainKey, Secret } from "@coffer/sdk";
import { writeConfig } from "@coffer/sdk/node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { coffer } from "../../../test/kit/coffer.ts";
import { makeDirectory } from "../../../test/kit/directory.ts";
import { listenOnLoopback, type LoopbackServer } from "../../../test/kit/loopback.ts";
import { listCommands } from "./command-list.ts";
import { ROUTES } from "./routes.ts";

const STATUSES = [200, 400, 401];
const FOLLOWS = new Set(["webhooks listen", "mcp serve", "dev"]);
const places = (await listCommands(ROUTES)).filter(({ path }) => !FOLLOWS.has(path.join(" ")));
const home = makeDirectory();
const secrets: string[] = [];
let echo: LoopbackServer;
let status = 200;
/** Secrets that arrived at the service, and so came back. */
let returned = 0;
let save: () => Promise<void>;

beforeAll(async () => {
  echo = await listenOnLoopback(async (request, response) => {
    const body = (await buffer(request)).toString("utf8");
    const said = `${request.headers.authorization ?? "nothing"} ${body}`;
    if (secrets.some((secret) => said.includes(secret))) returned += 1;
    response.writeHead(status, { "content-type": "application/json", "x-request-id": "canary" });
    response.end(JSON.stringify({ error: said, message: said, account: said, files: said, url: said }));
  }, 0);
  const chainPrivateKey = (await generateChainKey()).privateKey.reveal();
  const accessToken = `eyJ${"h".repeat(20)}.eyJ${"p".repeat(40)}.${"s".repeat(43)}`;
  const refreshToken = `cofr_${"r".repeat(43)}`;
  const apiKey = `cof_${"K".repeat(49)}`;
  secrets.push(chainPrivateKey, accessToken, refreshToken, apiKey);
  const tokens = { accessToken: new Secret(accessToken), refreshToken: new Secret(refreshToken) };
  const session = { ...tokens, expiresAt: Date.now() + 900_000, presented: false };
  const place = { baseUrl: echo.baseUrl, chainPrivateKey: new Secret(chainPrivateKey) };
  const profiles = {
    session: { ...place, apiKey: null, session },
    key: { ...place, apiKey: new Secret(apiKey), session: null },
  };
  save = async () => {
    const file = join(home, ".config", "coffer", "config.json");
    await rm(file, { force: true });
    await writeConfig({ defaultProfile: "session", profiles }, file);
  };
});
afterAll(() => echo[Symbol.asyncDispose]());

/** An argument for each that it needs. */
function wordsFor({ path, command: { args, flags } }: (typeof places)[number]): string[] {
  const given = "each" in args ? Array.from({ length: args.least }, () => "x") : args.map(() => "x");
  const needed = Object.entries(flags).flatMap(([name, { isRequired }]) =>
    isRequired === true ? [`--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`, "1h"] : [],
  );
  return [...path, ...given, ...needed];
}

describe.each(["session", "key"])("with the profile %s [issue 19]", (profile) => {
  it.each(STATUSES)("a service that answers %i with what it got", async (answered) => {
    status = answered;
    returned = 0;
    for (const place of places)
      for (const json of [["--json"], []]) {
        const words = [...wordsFor(place), "--profile", profile, "--verbose", "--timeout", "2", ...json];
        // Some of them sign out, or change the file.
        await save();
        const { out, err } = await coffer(words, home, { input: "" });
        for (const secret of secrets) expect([words, (out + err).includes(secret)]).toEqual([words, false]);
      }
    expect(returned).toBeGreaterThan(places.length);
  });
});
