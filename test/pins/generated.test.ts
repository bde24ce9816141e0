import { readFileSync } from "node:fs";
import path from "node:path";
import { api } from "@coffer/contract";
import { renderOpenApi } from "@coffer/contract/openapi";
import { expect, it } from "vitest";
import { renderShipped } from "../../dev/scripts/generated.ts";

const root = path.resolve(import.meta.dirname, "../..");

it("ships what the tools, the commands and the server's settings make now: `npm run generate` writes it", async () => {
  for (const [file, text] of Object.entries(await renderShipped())) {
    expect(readFileSync(path.join(root, file), "utf8") === text, `${file} is out of date`).toBe(true);
  }
});

it("gives the interface a semantic version [D1-openapi-semver]", () => {
  const { info } = renderOpenApi(api, {}) as { info: { version: string } };
  expect(info.version).toMatch(/^\d+\.\d+\.\d+$/);
});
