/**
 * What is made from the contract, the tools and the tests. `npm run generate` writes all of it; test/pins/generated.test.ts holds what
 * ships to it, and the pages in docs/generated are as new as the last run.
 */
import { api } from "@coffer/contract";
import { renderManPage } from "@coffer/cli/man-page";
import { renderOpenApi } from "@coffer/contract/openapi";
import { listTools, TOOLS } from "@coffer/mcp";
import { format } from "prettier";
import { renderApiPage } from "./api-page.ts";
import { renderErrors } from "./error-page.ts";
import { renderInputTypes } from "./input-types.ts";
import { renderResultTypes } from "./result-types.ts";

const markdown = (text: string) => format(text, { parser: "markdown", proseWrap: "preserve" });
const json = (value: unknown) =>
  format(JSON.stringify(value), { parser: "json", printWidth: 120, objectWrap: "collapse" });
const code = (text: string) => format(text, { parser: "typescript", printWidth: 120 });

/** Sources and files of packages: path below the repository's root → text. */
export async function renderShipped(): Promise<Readonly<Record<string, string>>> {
  return {
    "packages/sdk/src/resources/input-types.ts": await code(renderInputTypes()),
    "packages/sdk/src/resources/result-types.ts": await code(renderResultTypes()),
    "packages/mcp/src/tool-list.json": await json(listTools(TOOLS)),
    "packages/cli/man/coffer.1": await renderManPage(),
  };
}

/** Pages of docs/generated: path below the repository's root → text. */
export async function renderPages(): Promise<Readonly<Record<string, string>>> {
  return {
    "docs/generated/openapi.json": await json(renderOpenApi(api)),
    "docs/generated/api.md": await markdown(renderApiPage()),
    "docs/generated/errors.md": await markdown(await renderErrors()),
  };
}
