/** One page in a Chromium: opened on a site, told to run its program, and listened to. */
import { findChromium, startChromium, type Chromium } from "./chromium.ts";
import type { DevtoolsEvent } from "./devtools.ts";
import { openRelay, type Relay } from "./relay.ts";
import { openSite, type Site } from "./site.ts";

export interface OpenPage extends AsyncDisposable {
  readonly site: Site;
  readonly relay: Relay;
  readonly chromium: Chromium;
  /** What the browser complained about, and what the page did not catch: requests without leave, exceptions. */
  readonly complaints: readonly string[];
  /**
   * Calls `globalThis.run(input)` of the page's program; its answer, as JSON. Both go through the browser's pipe, not over a connection.
   * Rejects with what the program threw.
   */
  run<Answer>(input: object): Promise<Answer>;
  /** The same page under another name of the same server; answers with its `run`. */
  openElsewhere(origin: string): Promise<OpenPage["run"]>;
}

/** `openServers`: is told the page's origin, and answers with those of the servers that the page asks. */
export async function openPage(
  program: string,
  openServers: (origin: string) => Promise<readonly string[]> = () => Promise.resolve([]),
): Promise<OpenPage> {
  const stack = new AsyncDisposableStack();
  try {
    const site = stack.use(await openSite(program));
    const servers = (site.mayAsk = await openServers(site.origin));
    const relay = stack.use(await openRelay([site.origin, ...servers]));
    const found = findChromium();
    if (found === null) throw new Error("there is no Chromium");
    const chromium = stack.use(await startChromium(found, relay.url));
    const tab = await openTab(chromium, site.origin);
    return {
      site,
      relay,
      chromium,
      complaints: tab.complaints,
      run: runIn(tab),
      openElsewhere: async (origin: string) => runIn(await openTab(chromium, origin)),
      [Symbol.asyncDispose]: () => stack.disposeAsync(),
    };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

function runIn(tab: Tab): OpenPage["run"] {
  return (input) => tab.evaluate(`run(${JSON.stringify(input)})`);
}

export interface Tab {
  readonly complaints: readonly string[];
  call(method: string, params?: object): Promise<Readonly<Record<string, unknown>>>;
  /** What an expression comes to in the page; a promise is waited for. Rejects with the page's own exception. */
  evaluate<Value>(expression: string): Promise<Value>;
}

/** Resolves when the page has loaded. */
export async function openTab({ devtools }: Chromium, url: string): Promise<Tab> {
  const { targetId } = await devtools.call("Target.createTarget", { url: "about:blank" });
  const { sessionId } = await devtools.call("Target.attachToTarget", { targetId, flatten: true });
  const session = String(sessionId);
  const complaints: string[] = [];
  const loaded = new Promise<void>((resolve) => {
    devtools.onEvent((event) => {
      if (event.sessionId !== session) return;
      if (event.method === "Page.loadEventFired") resolve();
      const complaint = complaintOf(event);
      if (complaint !== null) complaints.push(complaint);
    });
  });
  const call: Tab["call"] = (method, params = {}) => devtools.call(method, params, session);
  for (const domain of ["Page", "Runtime", "Log"]) await call(`${domain}.enable`);
  await call("Page.navigate", { url });
  await loaded;
  return { complaints, call, evaluate: (expression) => evaluate(call, expression) };
}

function complaintOf({ method, params }: DevtoolsEvent): string | null {
  if (method === "Log.entryAdded") return textOf(params["entry"], "text");
  if (method === "Runtime.exceptionThrown") return describe(params["exceptionDetails"]);
  return method === "Runtime.consoleAPICalled" ? JSON.stringify(params["args"]) : null;
}

async function evaluate<Value>(call: Tab["call"], expression: string): Promise<Value> {
  const { result, exceptionDetails } = await call("Runtime.evaluate", {
    expression,
    awaitPromise: true,
    returnByValue: true,
    // Else whatever the program does before its first wait may evaluate text, whatever the page's policy.
    allowUnsafeEvalBlockedByCSP: false,
  });
  if (exceptionDetails !== undefined) throw new Error(`in the page: ${describe(exceptionDetails)}`);
  return (result as { readonly value: Value }).value;
}

function describe(details: unknown): string {
  const { exception } = details as { readonly exception?: unknown };
  return textOf(exception, "description") ?? textOf(details, "text") ?? "an exception";
}

function textOf(value: unknown, name: string): string | null {
  const field = (value as Readonly<Record<string, unknown>> | null | undefined)?.[name];
  return typeof field === "string" ? field : null;
}
