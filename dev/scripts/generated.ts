/** What is made from the tools and the commands, and is committed. `npm run generate` writes it, and test/pins/generated.test.ts compares. */
import { renderManPage } from "@coffer/cli/man-page";
import { listTools, TOOLS } from "@coffer/mcp";
import { format } from "oxfmt";

const json = async (value: unknown) =>
  (await format("any.json", JSON.stringify(value), { printWidth: 120, objectWrap: "collapse" })).code;

/** Sources and files of packages: path below the repository's root → text. */
export async function renderShipped(): Promise<Readonly<Record<string, string>>> {
  return {
    "packages/mcp/src/tool-list.json": await json(listTools(TOOLS)),
    "packages/cli/man/coffer.1": await renderManPage(),
  };
}
