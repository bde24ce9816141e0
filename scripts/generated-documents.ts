/** The documents that are made from the contract and committed: their paths and their exact texts. */
import { api, endpointsOf, ERRORS, errorsOf } from "@coffer/contract";
import { renderOpenApi } from "@coffer/contract/openapi";

/** Path from the repository's root → text. The same contract always gives the same texts. */
export function renderDocuments(): ReadonlyMap<string, string> {
  return new Map([
    ["docs/generated/openapi.json", `${JSON.stringify(renderOpenApi(api), null, 2)}\n`],
    ["docs/generated/errors.md", renderErrors()],
  ]);
}

function renderErrors(): string {
  const rows = Object.entries(ERRORS).map(([code, { status, retryable, message, nextStep }]) => {
    const endpoints = endpointsOf(api).filter((endpoint) => errorsOf(endpoint).some((declared) => declared === code));
    const places = endpoints.length > 6 ? `${endpoints.length} operations` : endpoints.map(({ id }) => id).join(", ");
    return `| \`${code}\` | ${status} | ${retryable ? "yes" : "no"} | ${message} | ${nextStep} | ${places || "any request"} |`;
  });
  return [
    "# Errors",
    "",
    "Made from the contract by `npm run generate`. The body of an error is exactly `{ error: string }`; the code is in the",
    "header `X-Error-Code`. Retry: the same request may succeed later without any change.",
    "",
    "| Code | Status | Retry | Message | What to do | Declared by |",
    "|---|---|---|---|---|---|",
    ...rows,
    "",
  ].join("\n");
}
