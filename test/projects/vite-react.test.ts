/** A Vite project with React and the packed packages: compiled, built, served under a strict policy, and used in a real browser. */
import { execFile } from "node:child_process";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { expect, it, type TestContext } from "vitest";
import { findChromium, requireChromium, startChromium } from "../browser/chromium.ts";
import { openTab, type Tab } from "../browser/page.ts";
import { openRelay } from "../browser/relay.ts";
import { listenOnLoopback, type LoopbackServer } from "../kit/loopback.ts";
import { plainEnvironment } from "../kit/packed.ts";
import { openSharedStack, type SharedPerson } from "../kit/shared-stack.ts";
import { openReceiver, type ReceivedRequest } from "../suites/webhook-receivers.ts";
import { installProject } from "./install.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const PATIENCE_MS = 300_000;
/** Several progress events long. */
const REPORT = "words ".repeat(60_000);
const TYPES: Readonly<Record<string, string>> = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css" };
/** What Chromium writes to its console by itself for an answer that is no success. */
const BY_ITSELF = /^Failed to load resource: the server responded with a status of 4\d\d/;

let installed: string | null = null;

/** The project, installed once for all tests of this file. */
async function project(context: TestContext): Promise<string> {
  return (installed ??= await installProject(context, "vite-react"));
}

it(
  "a page that Vite builds uploads with progress, lists, downloads, opens a shared vault and verifies a webhook, under a strict policy [issue 53]",
  async (context) => {
    requireChromium(context);
    const directory = await project(context);
    await using site = await openSite(join(directory, "dist"));
    await using stack = await openSharedStack({ environment: { SERVICE_CORS_ORIGINS: site.origin } });
    site.mayAsk = [stack.baseUrl, stack.network.grpcUrl];
    writeFileSync(join(directory, "src", "network.json"), JSON.stringify(stack.localnet.network()));
    await run(directory, [COMPILER, "-p", "."]);
    await run(directory, [VITE, "build", "--logLevel=warn"], { VITE_SERVICE_URL: stack.baseUrl });
    const { owner } = stack;
    const notes = await owner.client.vaults.create({ name: "notes", type: "public" });
    const secrets = await owner.client.vaults.create({ name: "secrets", type: "shared" });
    await owner.client.files.upload({ vaultId: secrets.id, name: "of Node.txt", body: "what Node wrote for members" });
    const delivery = await deliverOne(owner);

    await using relay = await openRelay([site.origin, ...site.mayAsk]);
    await using chromium = await startChromium(findChromium() ?? "", relay.url);
    const tab = await openTab(chromium, site.origin);
    await fill(tab, { apiKey: owner.apiKey, chainKey: owner.privateKey });
    await press(tab, "sign in");

    await press(tab, "notes");
    await choose(tab, "report.txt", REPORT);
    await press(tab, "report.txt");
    await shown(tab, "pre", REPORT);
    expect(await tab.evaluate(PROGRESS)).toEqual({ value: REPORT.length, max: REPORT.length });
    await choose(tab, "report.txt", "another report");
    await shown(tab, "p", "A file of this name is there already.");
    const [report, ...others] = (await owner.client.files.list({ vaultId: notes.id })).items;
    expect(others).toEqual([]);
    expect(await (await owner.client.files.download(report?.id ?? "")).text()).toBe(REPORT);

    await press(tab, "secrets");
    await press(tab, "of Node.txt");
    await shown(tab, "pre", "what Node wrote for members");
    await choose(tab, "of the page.txt", REPORT);
    await press(tab, "of the page.txt");
    await shown(tab, "pre", REPORT);
    expect(await tab.evaluate(PROGRESS)).toEqual({ value: REPORT.length, max: REPORT.length });
    const files = (await owner.client.files.list({ vaultId: secrets.id })).items;
    const file = files.find(({ name }) => name === "of the page.txt");
    expect(await (await owner.client.files.download(file?.id ?? "")).text()).toBe(REPORT);

    await fill(tab, delivery);
    await press(tab, "verify");
    await shown(tab, "output", "verified: vault.created");
    await fill(tab, { ...delivery, body: `${delivery.body} ` });
    await press(tab, "verify");
    await shown(tab, "output", "refused: no_match");

    expect(tab.complaints.filter((text) => !BY_ITSELF.test(text))).toEqual([]);
  },
  PATIENCE_MS,
);

it(
  "the README's figures are what Vite makes of the SDK [issue 53]",
  async (context) => {
    const directory = await project(context);
    await run(directory, [VITE, "build", "core", "--logLevel=warn"]);
    const files = globSync(join(directory, "core/dist/assets/*.js"));
    const [first] = /assets\/[\w-]+\.js/.exec(readFileSync(join(directory, "core/dist/index.html"), "utf8")) ?? [];
    const kibOf = (chosen: readonly string[]): number =>
      chosen.reduce((sum, file) => sum + gzipSync(readFileSync(file)).length, 0) / 1024;
    const readme = readFileSync(join(ROOT, "packages/sdk/README.md"), "utf8");
    const [, core, all] = /the core has (\d+) KiB gzipped.+everything but shared vaults (\d+) KiB/.exec(readme) ?? [];
    // As bundlers differ by a little from version to version.
    expect(Math.abs(kibOf([join(directory, "core/dist", first ?? "")]) - Number(core))).toBeLessThan(2);
    expect(Math.abs(kibOf(files) - Number(all))).toBeLessThan(2);
  },
  PATIENCE_MS,
);

const COMPILER = join(ROOT, "node_modules/typescript-native/bin/tsc");
const VITE = "node_modules/vite/bin/vite.js";

/** Runs a program of the project in it, as for a release, without what tests preload. */
async function run(directory: string, words: readonly string[], settings: NodeJS.ProcessEnv = {}): Promise<void> {
  const options = { cwd: directory, env: { ...plainEnvironment(), NODE_ENV: "production", ...settings } };
  await promisify(execFile)(process.execPath, words, options).catch((error: unknown) => {
    const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string };
    throw new Error(`${words.join(" ")} failed:\n${stdout}${stderr}`);
  });
}

interface Site extends AsyncDisposable {
  readonly origin: string;
  /** Origins that its policy lets the page ask. */
  mayAsk: readonly string[];
}

/** What a careful site sends: no inline code or style, no 'unsafe-eval' and no 'wasm-unsafe-eval'. */
async function openSite(directory: string): Promise<Site> {
  const server: LoopbackServer = await listenOnLoopback((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://site");
    const file = join(directory, pathname === "/" ? "index.html" : pathname);
    response.setHeader(
      "Content-Security-Policy",
      `default-src 'none'; script-src 'self'; style-src 'self'; connect-src ${site.mayAsk.join(" ")}`,
    );
    response.setHeader("Content-Type", TYPES[extname(file)] ?? "application/octet-stream");
    response.end(readFileSync(file));
  });
  const site: Site = {
    origin: server.baseUrl.replace("127.0.0.1", "localhost"),
    mayAsk: [],
    [Symbol.asyncDispose]: server[Symbol.asyncDispose],
  };
  return site;
}

/** What a receiver got, and the secret that signed it, as the page's form takes them. */
async function deliverOne({ client }: SharedPerson): Promise<{ body: string; headers: string; secret: string }> {
  let arrived: (request: ReceivedRequest) => void;
  const request = new Promise<ReceivedRequest>((resolve) => (arrived = resolve));
  await using receiver = await openReceiver((response, received) => {
    response.writeHead(204).end();
    arrived(received);
  });
  const url = `http://127.0.0.1:${String(receiver.port)}/`;
  const { secret } = await client.webhooks.create({ url, events: ["vault.created"] });
  await client.vaults.create({ name: "one that is told of", type: "public" });
  const { body, headers } = await request;
  return { body, headers: JSON.stringify(headers), secret };
}

const PROGRESS = `(({ value, max }) => ({ value, max }))(document.querySelector("progress"))`;

/** Waits until the selector's element has exactly this text. */
async function shown(tab: Tab, selector: string, text: string): Promise<void> {
  await until(
    tab,
    `[...document.querySelectorAll(${JSON.stringify(selector)})].some(
    ({ textContent }) => textContent === ${JSON.stringify(text)})`,
  );
}

/** Types into fields, by their names. */
async function fill(tab: Tab, fields: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(fields)) {
    const field = `document.getElementsByName(${JSON.stringify(name)})[0]`;
    await until(tab, `${field} !== undefined`);
    await tab.evaluate(`void (${field}.value = ${JSON.stringify(text)})`);
  }
}

/** Presses the button of this text as soon as there is one. */
async function press(tab: Tab, text: string): Promise<void> {
  await until(
    tab,
    `(() => {
      const button = [...document.querySelectorAll("button")].find(
        ({ textContent }) => textContent === ${JSON.stringify(text)});
      button?.click();
      return button !== undefined;
    })()`,
  );
}

/** Chooses a file, as the browser's dialogue does. */
async function choose(tab: Tab, name: string, text: string): Promise<void> {
  await tab.evaluate(`(() => {
    const field = document.querySelector("input[type=file]");
    const chosen = new DataTransfer();
    chosen.items.add(new File([${JSON.stringify(text)}], ${JSON.stringify(name)}, { type: "text/plain" }));
    field.files = chosen.files;
    field.dispatchEvent(new Event("change", { bubbles: true }));
  })()`);
}

async function until(tab: Tab, expression: string): Promise<void> {
  for (let waited = 0; waited < 60_000; waited += 50) {
    if (await tab.evaluate<boolean>(expression)) return;
    await pause(50);
  }
  const page = await tab.evaluate<string>("document.body.innerText.slice(0, 2000)");
  throw new Error(`never true: ${expression}\nThe page shows: ${page}\n${tab.complaints.join("\n")}`);
}
