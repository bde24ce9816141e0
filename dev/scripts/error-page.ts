// Writes docs/generated/errors.md: every code, with the class in which the SDK raises it. Git ignores the page.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { api, endpointsOf, ERROR_FACTS, type ErrorCode, ERRORS, errorsOf } from "@coffer/contract";
import { createClient, inProcessTransport } from "@coffer/sdk";

const source = path.join(import.meta.dirname, "../../packages/sdk/src");
const folder = path.join(import.meta.dirname, "../../docs/generated");

mkdirSync(folder, { recursive: true });
writeFileSync(path.join(folder, "errors.md"), await renderErrors());

async function renderErrors(): Promise<string> {
  const codes = Object.keys(ERRORS) as ErrorCode[];
  return [
    "# Errors",
    "",
    'Every failure answers exactly `{ "error": string }`; its code is in the header `X-Error-Code`. A retryable failure may',
    "pass when the same request is sent again, after the time in `Retry-After` where there is one.",
    "",
    "The class is the SDK's. A code has the same class whether the service answers with it or the SDK finds the failure itself.",
    "`status` and `requestId` are null then.",
    "",
    "| code | status | class | retryable | message | what to do | answered by |",
    "| --- | --- | --- | --- | --- | --- | --- |",
    ...(await Promise.all(codes.map(renderRow))),
    "",
    "## Codes of the SDK",
    "",
    "The SDK finds these itself. Each error says in `nextStep` what you can do.",
    "",
    ...ownCodes().map(([name, own]) => `- \`${name}\`: ${own.map((code) => `\`${code}\``).join(", ")}`),
    "",
  ].join("\n");
}

async function renderRow(code: ErrorCode): Promise<string> {
  const { retryable, message, nextStep } = ERRORS[code];
  const statuses = ERROR_FACTS[code].filter((fact) => typeof fact === "number").join(", ");
  const name = await classOf(code);
  return `| \`${code}\` | ${statuses} | \`${name}\` | ${retryable ? "yes" : "no"} | ${message} | ${nextStep} | ${renderUsers(code)} |`;
}

/** As a client raises it that gets the code from the service. */
async function classOf(code: ErrorCode): Promise<string> {
  const { status, message } = ERRORS[code];
  const answer = () => Response.json({ error: message }, { status, headers: { "x-error-code": code } });
  const client = createClient({
    baseUrl: "http://127.0.0.1:1",
    transport: inProcessTransport(answer),
    retry: { limit: 0 },
  });
  const error: unknown = await client.call(api.system.health, {}).catch((reason: unknown) => reason);
  return error instanceof Error ? error.name : "";
}

function renderUsers(code: ErrorCode): string {
  const endpoints = endpointsOf(api);
  const users = endpoints.filter((endpoint) => errorsOf(endpoint).includes(code)).map((endpoint) => endpoint.id);
  if (users.length === endpoints.length) return "every endpoint";
  if (users.length === 0) return "the HTTP layer";
  if (users.length > endpoints.length / 3) return `${users.length} of ${endpoints.length} endpoints`;
  return users.map((user) => `\`${user}\``).join(", ");
}

/** Class → codes, as the SDK's source declares them. */
function ownCodes(): [string, string[]][] {
  const errors = readFileSync(path.join(source, "http/errors.ts"), "utf8");
  const steps = readFileSync(path.join(source, "shared-vaults/vault-error.ts"), "utf8");
  const quoted = (text: string): string[] => Array.from(text.matchAll(/"(\w+)"/g), ([, code = ""]) => code);
  const declared = /class (\w+) extends SdkError[^}]*?declare readonly code: ("[^;]+);/g;
  const classes = Array.from(errors.matchAll(declared), ([, name = "", codes = ""]): [string, string[]] => [
    name,
    quoted(codes),
  ]);
  const named = classes.flatMap(([, codes]) => codes);
  const all = quoted(/type ClientErrorCode =([^;]+);/.exec(errors)?.[1] ?? "");
  const vault = Array.from(
    (/NEXT_STEPS[^{]+\{(.+?)\n\};/s.exec(steps)?.[1] ?? "").matchAll(/^ {2}(\w+):/gm),
    ([, code = ""]) => code,
  );
  return [
    ...classes,
    ["ApiError", ["unknown_error"]],
    ["VaultError", vault],
    ["SdkError", all.filter((code) => ![...named, "unknown_error"].includes(code))],
  ];
}
