/**
 * What is made from the tools, the commands and the tests, and is committed. `npm run generate` writes all of it; test/pins/generated.test.ts
 * holds what ships to it, and the page in docs/generated is as new as the last run.
 */
import { renderManPage } from "@coffer/cli/man-page";
import { listTools, TOOLS } from "@coffer/mcp";
import { format } from "prettier";
import { CLAIM_TESTS, renderClaimTests } from "../test/pins/claims.ts";

const markdown = (text: string) => format(text, { parser: "markdown", proseWrap: "preserve" });
const json = (value: unknown) =>
  format(JSON.stringify(value), { parser: "json", printWidth: 120, objectWrap: "collapse" });

/** Sources and files of packages: path below the repository's root → text. */
export async function renderShipped(): Promise<Readonly<Record<string, string>>> {
  return {
    "packages/mcp/src/tool-list.json": await json(listTools(TOOLS)),
    "packages/cli/man/coffer.1": await renderManPage(),
  };
}

/** Pages of docs/generated: path below the repository's root → text. */
export async function renderPages(): Promise<Readonly<Record<string, string>>> {
  return {
    "docs/generated/threat-model-tests.md": await markdown(renderClaimTests(CLAIM_TESTS)),
  };
}
