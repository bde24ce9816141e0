/** The tool server in this process, over any service, with a host that can be asked: without the seconds that a process takes. */
import { pathToFileURL } from "node:url";
import { CredentialState, createServer, NO_CALL_RECORD, type Launch, type ServerParts } from "@coffer/mcp";
import type { ToolAnswer } from "@coffer/devstack";
import type { Client as SdkClient } from "@coffer/sdk";
import { createFake } from "@coffer/sdk/testing";
import { createClient, type Middleware } from "@coffer/sdk";
import { resolveFolders, serviceLinkOver } from "@coffer/tasks";
import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Era } from "./mcp-http.ts";

export interface ToolsHere extends AsyncDisposable {
  call(tool: string, args?: Readonly<Record<string, unknown>>): Promise<ToolAnswer>;
  readonly host: Client;
}

/** A message of the host, as it goes over the wire. */
export interface Sent {
  readonly method?: string;
  readonly params?: Record<string, unknown>;
}

export interface ToolsHereOptions {
  readonly client: SdkClient;
  readonly folders?: readonly string[];
  readonly launch?: Partial<Launch>;
  /** Over the parts that every test has alike. */
  readonly parts?: Partial<ServerParts>;
  readonly era?: Era;
  /** Changes what the host sends. */
  readonly tamper?: (message: Sent) => void;
  /** What the host's user answers. Absent: a host that cannot ask. */
  readonly onAsked?: (message: string) => unknown;
  /** Folders that the host names as its roots. Absent: a host without roots. */
  readonly roots?: readonly string[];
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
  http: null,
  allowedFolders: [],
  downloads: null,
  roots: "narrow",
};

export async function openToolsHere(options: ToolsHereOptions): Promise<ToolsHere> {
  const { client, folders = [], era = "legacy", onAsked, roots } = options;
  const parts: ServerParts = {
    launch: { ...LAUNCH, allowedFolders: folders, ...options.launch },
    serviceLink: serviceLinkOver(client),
    stop: new AbortController().signal,
    credentialState: new CredentialState(),
    record: NO_CALL_RECORD,
    keyId: null,
    folders: { ...(await resolveFolders(folders)), denied: { folders: [], files: [] } },
    log: () => undefined,
    handOut: (name) => Promise.resolve(`/handed-out/${name}`),
    ...options.parts,
  };
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const send = theirs.send.bind(theirs);
  theirs.send = (message, sending) => {
    options.tamper?.(message as Sent);
    return send(message, sending);
  };
  const served = serveStdio(() => createServer(parts), { transport: ours });
  const capabilities = {
    ...(onAsked === undefined ? {} : { elicitation: {} }),
    ...(roots === undefined ? {} : { roots: {} }),
  };
  const host = new Client({ name: "test", version: "1" }, { capabilities, versionNegotiation: { mode: era } });
  if (onAsked !== undefined)
    host.setRequestHandler("elicitation/create", async ({ params }) => (await onAsked(params.message)) as never);
  if (roots !== undefined)
    host.setRequestHandler("roots/list", () => ({ roots: roots.map((root) => ({ uri: pathToFileURL(root).href })) }));
  await host.connect(theirs);
  return {
    host,
    call: async (name, args = {}) => {
      const { isError = false, structuredContent, content } = await host.callTool({ name, arguments: { ...args } });
      const facts = (structuredContent ?? {}) as Record<string, unknown>;
      const text = content.map((item) => (item.type === "text" ? item.text : "")).join("\n");
      return { isError, facts, text, code: (facts["error"] as { code: string } | undefined)?.code ?? null };
    },
    [Symbol.asyncDispose]: async () => {
      await host.close();
      await served.close();
    },
  };
}

/** An account of a service. */
export interface ServiceHere {
  readonly client: SdkClient;
  readonly connect: (...middleware: Middleware[]) => SdkClient;
}

/** The SDK's fake with one account, for tools that deal with files and folders alone. */
export async function openFakeService(): Promise<ServiceHere> {
  const fake = createFake();
  const transport = fake.fetch;
  const baseUrl = "http://coffer.test";
  const { apiKey } = await createClient({ baseUrl, transport }).development.signup({ email: "a@example.com" });
  const connect = (...middleware: Middleware[]): SdkClient =>
    createClient({ baseUrl, transport, credentials: { apiKey }, middleware, retry: { limit: 0 } });
  return { client: connect(), connect };
}
