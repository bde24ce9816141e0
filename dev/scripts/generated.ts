/** What is made from the tools, the commands and the server's settings, and is committed. `npm run generate` writes it, and test/pins/generated.test.ts compares. */
import { renderManPage } from "@coffer/cli/man-page";
import { listTools, TOOLS } from "@coffer/mcp";
import { renderEnvExample } from "@coffer/server/config/env-example";
import { renderSettingsPage } from "@coffer/server/config/settings-page";
import { format } from "oxfmt";

const json = async (value: unknown) =>
  (await format("any.json", JSON.stringify(value), { printWidth: 120, objectWrap: "collapse" })).code;

const markdown = async (text: string) => (await format("any.md", text, { printWidth: 120 })).code;

/** Sources, files of packages and pages: path below the repository's root → text. */
export async function renderShipped(): Promise<Readonly<Record<string, string>>> {
  return {
    "packages/mcp/src/tool-list.json": await json(listTools(TOOLS)),
    "packages/cli/man/coffer.1": await renderManPage(),
    "docs/guides/settings.md": await markdown(renderSettingsPage()),
    "deploy/server.env.example": renderEnvExample(),
  };
}
