import { readFileSync } from "node:fs";
import path from "node:path";
import { api } from "@coffer/contract";
import { renderOpenApi } from "@coffer/contract/openapi";
import { expect, it } from "vitest";
import { renderGenerated } from "../../scripts/generated.ts";

const root = path.resolve(import.meta.dirname, "../..");

it("keeps docs/generated as the contract makes it: `npm run generate` writes it anew", async () => {
  for (const [file, text] of Object.entries(await renderGenerated())) {
    expect(readFileSync(path.join(root, file), "utf8") === text, `${file} differs from the contract`).toBe(true);
  }
});

it("gives the interface a semantic version [D1-openapi-semver]", () => {
  const { info } = renderOpenApi(api) as { info: { version: string } };
  expect(info.version).toMatch(/^\d+\.\d+\.\d+$/);
});
