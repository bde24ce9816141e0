/** The documents and lists that are made from the contract, the tools and the tests: `npm run generate` writes them, test/pins/generated.test.ts compares. */
import { api } from "@coffer/contract";
import { renderManPage } from "@coffer/cli/man-page";
import { renderOpenApi } from "@coffer/contract/openapi";
import { listTools, TOOLS } from "@coffer/mcp";
import { format } from "prettier";
import { renderApiPage } from "./api-page.ts";
import { renderErrors } from "./error-page.ts";
import { renderInputTypes } from "./input-types.ts";
import { renderResultTypes } from "./result-types.ts";
import { CLAIM_TESTS, renderClaimTests } from "../test/pins/claims.ts";

/** Path below the repository's root → text. */
export async function renderGenerated(): Promise<Readonly<Record<string, string>>> {
  const markdown = (text: string) => format(text, { parser: "markdown", proseWrap: "preserve" });
  const json = (value: unknown) =>
    format(JSON.stringify(value), { parser: "json", printWidth: 120, objectWrap: "collapse" });
  const code = (text: string) => format(text, { parser: "typescript", printWidth: 120 });
  return {
    "docs/generated/openapi.json": await json(renderOpenApi(api)),
    "packages/sdk/src/resources/input-types.ts": await code(renderInputTypes()),
    "packages/sdk/src/resources/result-types.ts": await code(renderResultTypes()),
    "packages/mcp/src/tool-list.json": await json(listTools(TOOLS)),
    "docs/generated/api.md": await markdown(renderApiPage()),
    "docs/generated/errors.md": await markdown(await renderErrors()),
    "packages/cli/man/coffer.1": await renderManPage(),
    "docs/generated/threat-model-tests.md": await markdown(renderClaimTests(CLAIM_TESTS)),
  };
}
