/**
 * The MCP App: pages that hosts with the extension show beside a tool's answer. The answer is the same without them, and the list of tools
 * names them for every host, because it may not vary by connection.
 */
import type { McpServer } from "@modelcontextprotocol/server";
import type { ViewKind } from "./apps/page.ts";

const MIME_TYPE = "text/html;profile=mcp-app";

interface App {
  readonly kind: ViewKind;
  readonly title: string;
  readonly description: string;
  readonly tools: readonly string[];
}

const APPS: readonly App[] = [
  {
    kind: "files",
    title: "Files",
    description: "Browses the folders of a vault.",
    tools: ["file_list", "file_search"],
  },
  {
    kind: "consent",
    title: "Agreement",
    description: "Shows what an act would do, and takes the user's answer.",
    tools: ["file_delete", "access_grant", "access_revoke", "webhook_set", "webhook_delete"],
  },
];

const uriOf = ({ kind }: App): string => `ui://coffer/${kind}`;

/** No address outside the page, and no right of the browser. */
const LIMITS = {
  csp: { connectDomains: [], resourceDomains: [], frameDomains: [], baseUriDomains: [] },
  permissions: {},
  prefersBorder: true,
};

/** What the list says of a tool that has a page. */
export function pageOf(tool: string): { _meta?: { ui: { resourceUri: string } } } {
  const app = APPS.find(({ tools }) => tools.includes(tool));
  return app === undefined ? {} : { _meta: { ui: { resourceUri: uriOf(app) } } };
}

/** The pages of the tools that a server offers. They are made when a host reads one. */
export function addApps(mcp: McpServer, names: readonly string[]): void {
  for (const app of APPS.filter(({ tools }) => tools.some((tool) => names.includes(tool)))) {
    const { kind, title, description } = app;
    const uri = uriOf(app);
    mcp.registerResource(
      `app_${kind}`,
      uri,
      { title, description, mimeType: MIME_TYPE, _meta: { ui: LIMITS } },
      async () => {
        const { renderPage } = await import("./apps/page.ts");
        return { contents: [{ uri, mimeType: MIME_TYPE, text: renderPage(kind), _meta: { ui: LIMITS } }] };
      },
    );
  }
}
