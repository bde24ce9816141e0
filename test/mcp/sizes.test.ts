/** What an answer has room for: 40,000 characters in each half, a cursor that goes on, and no bytes of files. */
import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ToolAnswer } from "@coffer/devstack";
import { CredentialState, TOOLS } from "@coffer/mcp";
import type { Middleware } from "@coffer/sdk";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { serviceOfFile } from "../kit/service-here.ts";
import { openToolsHere } from "../kit/tools-here.ts";
import { openEveryCall } from "./every-call.ts";

const MOST = 40_000;

function requireShort({ facts, text }: ToolAnswer): void {
  expect(text.length).toBeLessThanOrEqual(MOST);
  expect(JSON.stringify(facts).length).toBeLessThanOrEqual(MOST);
}

interface Page {
  readonly files: object[];
  readonly nextCursor: string | null;
}

const newAccount = serviceOfFile();

/** Names that a model is shown at four to eight times their length. */
const LONG = "\u200b\u{e0041}ß".repeat(31);

/** A vault with so many files, of which the service has one. */
function ofMany(count: number, nameOf: (at: number) => string): Middleware {
  return async (request, next) => {
    const url = new URL(request.url);
    if (!url.pathname.endsWith("/api/files") || request.method !== "GET") return next(request);
    const limit = Number(url.searchParams.get("limit") ?? "50");
    const start = Number(url.searchParams.get("cursor") ?? "0");
    url.search = "";
    const { files } = (await (await next(new Request(url, request))).json()) as Page;
    const [like] = files;
    const shown = Array.from({ length: Math.max(0, Math.min(limit, count - start)) }, (_, at) => ({
      ...like,
      id: `${(start + at).toString(16).padStart(8, "0")}-0000-4000-8000-000000000000`,
      name: nameOf(start + at),
    }));
    const isMore = start + limit < count;
    const page: Page = { files: shown, nextCursor: isMore ? String(start + limit) : null };
    return Response.json(page);
  };
}

async function walk(count: number, limit: number, nameOf: (at: number) => string): Promise<string[]> {
  const { service, vaultId } = await openEveryCall(newAccount);
  await using tools = await openToolsHere({ client: service.connect(ofMany(count, nameOf)) });
  const seen: string[] = [];
  let cursor: unknown;
  let pages = 0;
  do {
    pages += 1;
    const answer = await tools.call("file_list", { vaultId, limit, ...(cursor === undefined ? {} : { cursor }) });
    expect(answer.isError).toBe(false);
    requireShort(answer);
    // Folders have no bytes.
    const rows = (answer.facts["files"] as unknown[][]).filter(([, bytes]) => bytes !== null);
    seen.push(...rows.map(([id]) => String(id)));
    if (cursor !== undefined) expect(answer.facts["nextCursor"]).not.toBe(cursor);
    cursor = answer.facts["nextCursor"];
  } while (cursor !== undefined);
  expect(pages).toBeGreaterThanOrEqual(Math.ceil(count / limit));
  return seen;
}

const idsOf = (count: number): string[] => Array.from({ length: count }, (_, at) => at.toString(16).padStart(8, "0"));

const FULL = process.env["COFFER_TEST_COUNTS"] === "full";

describe("a vault of many files", () => {
  it(`of ${FULL ? "100,000" : "20,000"} is listed whole, page by page, each row once`, async () => {
    const count = FULL ? 100_000 : 20_000;
    const seen = await walk(count, 100, (at) => (at % 50 === 0 ? LONG : `report-${String(at)}.pdf`));
    expect(seen).toEqual(idsOf(count));
  });

  it("of any size, with names of any length, ends each page at a row", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 600 }),
        fc.integer({ min: 1, max: 100 }),
        fc.array(fc.string({ unit: "binary", minLength: 1, maxLength: 85 }), { minLength: 1, maxLength: 5 }),
        async (count, limit, names) => {
          const usable = [...names.map((name) => name.replaceAll(/[/\\]/g, "_")), LONG];
          const seen = await walk(count, limit, (at) => usable[at % usable.length] ?? "x");
          expect(seen).toEqual(idsOf(count));
        },
      ),
      { numRuns: 12 },
    );
  });
});

type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

/** Every text of an answer, blown up; ids and times stay, or nothing of it would be shown. */
function blown(value: Json, text: string, rows: number): Json {
  if (typeof value === "string")
    return /^[0-9a-f-]{36}$|^\d{4}-\d\d-\d\dT|^[a-z]+([._-][a-z]+)*$/.test(value) ? value : text;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const each = value.map((one: Json) => blown(one, text, rows));
    return each.length === 0 ? each : Array.from({ length: rows }, (_, at) => each[at % each.length] ?? null);
  }
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, blown(each, text, rows)]));
}

const swelling =
  (text: string, rows: number): Middleware =>
  async (request, next) => {
    const answer = await next(request);
    if (answer.headers.get("content-type")?.includes("json") !== true) return answer;
    const headers = new Headers(answer.headers);
    headers.delete("content-length");
    headers.set("x-request-id", "r".repeat(8_000));
    const body = answer.ok ? blown((await answer.json()) as Json, text, rows) : { error: text };
    return new Response(JSON.stringify(body), { status: answer.status, headers });
  };

describe.each([
  ["texts of a megabyte", "x".repeat(1_000_000), 1],
  ["texts that are shown eight times as long", "\u200b".repeat(200_000), 1],
  ["a thousand rows for each", "\u{e0041}".repeat(60), 1_000],
  ["names of 255 bytes in many rows", "é".repeat(127), 100],
])("a service that sends %s", (_, text, rows) => {
  it("gets no answer beyond the limit out of any tool", async () => {
    const { calls, folder, service } = await openEveryCall(newAccount);
    const credentialState = new CredentialState();
    await using tools = await openToolsHere({
      client: service.connect(swelling(text, rows)),
      folders: [folder],
      launch: { confirm: "token" },
      parts: { credentialState },
    });
    for (const { name } of TOOLS) for (const args of calls[name] ?? []) requireShort(await tools.call(name, args));
  });
});

it("a megabyte of a binary file comes and goes in 600 bytes, without any of its own", async () => {
  const { folder, service, vaultId } = await openEveryCall(newAccount);
  await using tools = await openToolsHere({ client: service.client, folders: [folder] });
  const content = randomBytes(1 << 20);
  await writeFile(join(folder, "large.bin"), content);
  const wire = async (tool: string, args: Record<string, unknown>): Promise<string> =>
    JSON.stringify(await tools.host.callTool({ name: tool, arguments: args }));
  const up = await wire("file_upload", { paths: ["large.bin"], vaultId });
  const down = await wire("file_download", { files: ["large.bin"], vaultId, dest: "back.bin" });
  const read = await wire("file_read", { file: "large.bin", vaultId });
  const pieces = [0, 1, 2].map((shift) =>
    content
      .subarray(shift, shift + 300)
      .toString("base64")
      .slice(4, 200),
  );
  for (const answer of [up, down, read]) {
    for (const piece of pieces) expect(answer).not.toContain(piece);
    expect(answer).not.toContain(content.subarray(0, 64).toString("hex"));
    // What a host gives its model is one of the halves.
    const { content: parts, structuredContent } = JSON.parse(answer) as {
      content: { text: string }[];
      structuredContent: object;
    };
    for (const half of [parts.map((part) => part.text).join(""), JSON.stringify(structuredContent)])
      expect(Buffer.byteLength(half)).toBeLessThanOrEqual(600);
  }
  expect(down).toContain(String(content.length));
});
