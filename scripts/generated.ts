/** The documents that are made from the contract and the tests: `npm run generate` writes them, test/pins/generated.test.ts compares. */
import { api, endpointsOf, type ErrorCode, ERRORS, errorsOf } from "@coffer/contract";
import { renderOpenApi } from "@coffer/contract/openapi";
import { format } from "prettier";
import { renderApiPage } from "./api-page.ts";
import { renderInputTypes } from "./input-types.ts";
import { CLAIM_TESTS, renderClaimTests } from "../test/pins/claims.ts";

/** Path below the repository's root → text. */
export async function renderGenerated(): Promise<Readonly<Record<string, string>>> {
  const markdown = (text: string) => format(text, { parser: "markdown", proseWrap: "preserve" });
  return {
    "docs/generated/openapi.json": `${JSON.stringify(renderOpenApi(api), null, 2)}\n`,
    "packages/sdk/src/resources/input-types.ts": await format(renderInputTypes(), {
      parser: "typescript",
      printWidth: 120,
    }),
    "docs/generated/api.md": await markdown(renderApiPage()),
    "docs/generated/errors.md": await markdown(renderErrors()),
    "docs/generated/threat-model-tests.md": await markdown(renderClaimTests(CLAIM_TESTS)),
  };
}

function renderErrors(): string {
  const codes = Object.keys(ERRORS) as ErrorCode[];
  return [
    "# Errors",
    "",
    'Every failure answers exactly `{ "error": string }`; its code stands in the header `X-Error-Code`. A retryable failure may',
    "pass when the same request is sent again, after the time in `Retry-After` where there is one.",
    "",
    "| code | status | retryable | message | what to do | answered by |",
    "| --- | --- | --- | --- | --- | --- |",
    ...codes.map(renderRow),
    "",
  ].join("\n");
}

function renderRow(code: ErrorCode): string {
  const { status, retryable, message, nextStep } = ERRORS[code];
  return `| \`${code}\` | ${status} | ${retryable ? "yes" : "no"} | ${message} | ${nextStep} | ${renderUsers(code)} |`;
}

function renderUsers(code: ErrorCode): string {
  const endpoints = endpointsOf(api);
  const users = endpoints.filter((endpoint) => errorsOf(endpoint).includes(code)).map((endpoint) => endpoint.id);
  if (users.length === endpoints.length) return "every endpoint";
  if (users.length === 0) return "the HTTP layer";
  if (users.length > endpoints.length / 3) return `${users.length} of ${endpoints.length} endpoints`;
  return users.join(", ");
}
