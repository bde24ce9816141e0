/** The MCP App in a real browser: in a sandboxed frame, as hosts show it, with answers of the real tool server. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { launcherCommand, openToolClient, startStack, type ToolAnswer } from "@coffer/devstack";
import { createClient } from "@coffer/sdk";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { afterAll, beforeAll, expect, it } from "vitest";
import { storeTree } from "../mcp/eval/truth.ts";
import { listenOnLoopback } from "../kit/loopback.ts";
import { findChromium, requireChromium, startChromium, type Chromium } from "./chromium.ts";
import { openTab, type Tab } from "./page.ts";
import { openRelay } from "./relay.ts";

const cleanup = new AsyncDisposableStack();
const HOSTILE = `<img src=x onerror="parent.postMessage('out','*')"><script>location='http://127.0.0.1:9'</script>`;
/** What the host page shows, by its path. */
const documents = new Map<string, string>();
let chromium: Chromium;
let origin: string;
let call: (tool: string, args: object) => Promise<ToolAnswer>;
let vaultId: string;
/** As the server gives them to a host. */
const pages = new Map<string, string>();

beforeAll(async () => {
  const program = findChromium();
  if (program === null) return;
  const stack = cleanup.use(await startStack());
  const owner = createClient({ baseUrl: stack.baseUrl, credentials: { apiKey: stack.apiKey } });
  vaultId = (await owner.vaults.create({ name: "Office", type: "public" })).id;
  const tree = { "Contracts/March.pdf": "x".repeat(48_213), "Photos/a.jpg": "x", "Invoices/2026/1.txt": "x" };
  await storeTree(owner, vaultId, { ...tree, "Minutes of the meeting.md": "x".repeat(2_100), "budget.xlsx": "x" });
  await owner.files.upload({ vaultId, name: HOSTILE.replaceAll("/", "∕"), body: "x" });
  const tools = cleanup.use(
    await openToolClient({
      credentialsFile: stack.credentialsFile,
      folders: [],
      launcher: launcherCommand(),
      flags: ["--profile", "owner"],
      environment: { SERVICE_CONFIG_DIR: join(stack.dataDirectory, "client", "app") },
    }),
  );
  call = (tool, args) => tools.call(tool, args as Record<string, unknown>);
  await readPages();
  const site = await listenOnLoopback((request, response) => {
    response.writeHead(200, { "content-type": "text/html" }).end(documents.get(request.url ?? "") ?? "");
  });
  cleanup.use(site);
  origin = site.baseUrl;
  const relay = cleanup.use(await openRelay([origin]));
  chromium = cleanup.use(await startChromium(program, relay.url));
});
afterAll(() => cleanup.disposeAsync(), 60_000);

/** From the built launcher: its functions have other names than those in the source. */
async function readPages(): Promise<void> {
  const { command, args } = launcherCommand();
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StdioClientTransport({ command, args: [...args, "--profile", "owner"], stderr: "pipe" }));
  for (const kind of ["files", "consent"]) {
    const { contents } = await client.readResource({ uri: `ui://coffer/${kind}` });
    expect(contents[0]?.mimeType).toBe("text/html;profile=mcp-app");
    pages.set(kind, (contents[0] as { text: string }).text);
  }
  await client.close();
}

interface Shown {
  readonly tab: Tab;
  /** What an expression over the frame's document `d` comes to. */
  frame<Value>(expression: string): Promise<Value>;
  picture(name: string): Promise<void>;
}

const resultOf = ({ isError, facts, text }: ToolAnswer): object => ({
  isError,
  structuredContent: facts,
  content: [{ type: "text", text }],
});

/** A host: it frames the page, greets it, gives it one answer, and passes its calls on to the test. */
async function open(
  kind: "files" | "consent",
  tool: string,
  args: object,
  answer: ToolAnswer,
  theme = "light",
): Promise<Shown> {
  const said = { args, result: resultOf(answer), page: pages.get(kind), tool, theme };
  const host = (await readFile(new URL("pages/mcp-host.html", import.meta.url), "utf8")).replace("SAID", () =>
    JSON.stringify(said).replaceAll("<", String.raw`\u003c`),
  );
  const path = `/${kind}-${tool}-${theme}`;
  documents.set(path, host);
  const tab = await openTab(chromium, `${origin}${path}`);
  await tab.call("Emulation.setDeviceMetricsOverride", {
    width: 640,
    height: 420,
    deviceScaleFactor: 2,
    mobile: false,
  });
  await until(async () => (await tab.evaluate<number>("seen.height")) > 60).catch((error: unknown) => {
    throw new Error(`the page did not come up: ${tab.complaints.join("; ")}`, { cause: error });
  });
  return {
    tab,
    frame: (expression) => tab.evaluate(`((d) => ${expression})(frame.contentDocument)`),
    picture: async (name) => {
      const directory = process.env["COFFER_SCREENSHOTS"] ?? "";
      const { data } = await tab.call("Page.captureScreenshot", { format: "png" });
      if (directory !== "") await writeFile(join(directory, `${name}.png`), Buffer.from(String(data), "base64"));
    },
  };
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 400; tries += 1) {
    if (await isTrue()) return;
    await pause(25);
  }
  throw new Error("it did not come");
}

/** Answers the calls that the frame has made so far. */
async function serve({ tab }: Shown): Promise<{ name: string; arguments: Record<string, unknown> }[]> {
  await until(async () => (await tab.evaluate<number>("seen.calls.length")) > 0);
  const calls =
    await tab.evaluate<{ id: number; params: { name: string; arguments: Record<string, unknown> } }[]>(
      "seen.calls.splice(0)",
    );
  for (const { id, params } of calls) {
    const answer = resultOf(await call(params.name, params.arguments));
    await tab.evaluate(`reply(${JSON.stringify({ id, result: answer })})`);
  }
  return calls.map(({ params }) => params);
}

/** The test looks into the frame, which hosts do not: that is what the browser warns of. */
const complaintsOf = ({ tab }: Shown) => tab.complaints.filter((each) => !each.includes("can escape its sandboxing"));
const names = (shown: Shown) => shown.frame<string[]>(`[...d.querySelectorAll(".name")].map((e) => e.textContent)`);
const press = (shown: Shown, text: string) =>
  shown.frame<boolean>(
    `[...d.querySelectorAll("button")].find((e) => e.textContent.includes(${JSON.stringify(text)})).click() === undefined`,
  );

it("the file browser shows a folder, opens others, and shows hostile names as text", async (context) => {
  requireChromium(context);
  const args = { vaultId };
  const shown = await open("files", "file_list", args, await call("file_list", args));
  await shown.picture("mcp-app-files");
  const hostile = HOSTILE.replaceAll("/", "∕");
  const first = await names(shown);
  expect(first).toEqual(expect.arrayContaining(["Contracts", "Photos", "Minutes of the meeting.md", hostile]));
  expect(await shown.frame(`d.querySelectorAll("img, main script").length`)).toBe(0);
  expect(await shown.frame(`d.querySelector("main").textContent.includes("<" + "/")`)).toBe(false);

  await press(shown, "Contracts");
  expect(await serve(shown)).toEqual([
    { name: "file_list", arguments: expect.objectContaining({ vaultId }) as Record<string, unknown> },
  ]);
  await until(async () => (await names(shown)).includes("March.pdf"));
  expect(await shown.frame(`d.querySelector(".size").textContent`)).toBe("48.2 KB");
  await shown.picture("mcp-app-folder");
  await press(shown, "All files");
  await serve(shown);
  await until(async () => (await names(shown)).length === first.length);
  expect(await shown.tab.evaluate("seen.strange")).toEqual([]);
  expect(complaintsOf(shown)).toEqual([]);
});

it("the dark theme of a host, and a failure with its next step", async (context) => {
  requireChromium(context);
  const args = { vaultId };
  const shown = await open("files", "file_list", args, await call("file_list", args), "dark");
  await shown.picture("mcp-app-dark");
  expect(await shown.frame(`getComputedStyle(d.documentElement).colorScheme`)).toBe("dark");
  expect(await shown.frame(`d.documentElement.style.getPropertyValue("--color-evil")`)).toBe("");
  const wrong = { vaultId: "Nowhere" };
  const failed = await open("files", "file_search", wrong, await call("file_list", wrong));
  expect(await failed.frame(`d.querySelector(".bad").textContent`)).toContain("There is no such vault");
});

it("the consent card shows what would happen, and does it on a yes alone", async (context) => {
  requireChromium(context);
  const args = { files: ["Invoices"], vaultId };
  const asked = await call("file_delete", args);
  expect(asked.code).toBe("confirmation_required");
  const declined = await open("consent", "file_delete", args, asked, "dark");
  await press(declined, "Decline");
  expect(await declined.frame(`d.body.textContent`)).toContain("Nothing was done");
  expect(await declined.tab.evaluate("seen.calls")).toEqual([]);

  const shown = await open("consent", "file_delete", args, asked);
  await shown.picture("mcp-app-consent");
  expect(await shown.frame(`d.querySelector(".preview").textContent`)).toContain("folders");
  await press(shown, "Agree");
  const [made] = await serve(shown);
  expect(made?.arguments).toMatchObject(args);
  await until(async () => (await shown.frame<string>(`d.body.textContent`)).includes("Done"));
  await shown.picture("mcp-app-done");
  expect((await call("file_list", { vaultId })).text).not.toContain("Invoices");
  expect(complaintsOf(shown)).toEqual([]);
});
