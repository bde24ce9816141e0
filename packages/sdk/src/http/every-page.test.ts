import { expect, it } from "vitest";
import { everyPage, MAX_PAGES_IN_MEMORY, MAX_PAGES } from "./every-page.ts";
import { ContractError } from "./errors.ts";
import { paged } from "./pages.ts";
import { VAULT } from "./transport.test-kit.ts";

/** A service that has another page, with a new cursor, as long as its caller asks; it gives up long after the client should have. */
function endless() {
  let asked = 0;
  const page = async (): Promise<{ vaults: [typeof VAULT]; nextCursor: string | null }> => {
    asked += 1;
    return { vaults: [VAULT], nextCursor: asked < 2 * MAX_PAGES ? `page ${String(asked)}` : null };
  };
  return { page, asked: () => asked };
}

it("a call ends on a service that never ends its list", async () => {
  const { page, asked } = endless();
  let rows = 0;
  const all = (async () => {
    for await (const vault of paged("vaults", {}, page)) rows += vault === VAULT ? 1 : 0;
  })();
  await expect(all).rejects.toThrow(ContractError);
  await expect(all).rejects.toMatchObject({
    code: "contract_broken",
    message: expect.stringContaining("100000 pages") as string,
  });
  expect([asked(), rows]).toEqual([MAX_PAGES, MAX_PAGES]);
});

it("what a call keeps whole in memory has fewer pages", async () => {
  const { page, asked } = endless();
  const all = (async () => {
    for await (const { vaults } of everyPage("vaults.list", page, MAX_PAGES_IN_MEMORY)) expect(vaults).toHaveLength(1);
  })();
  await expect(all).rejects.toMatchObject({ code: "contract_broken" });
  expect(asked()).toBe(MAX_PAGES_IN_MEMORY);
});

it("a list that ends is read to its end, from its first page on", async () => {
  const cursors: (string | undefined)[] = [];
  const pages: (string | null)[] = [];
  const load = async ({ cursor }: { readonly cursor?: string }) => {
    cursors.push(cursor);
    return { nextCursor: ["one", "two"][cursors.length - 1] ?? null };
  };
  for await (const { nextCursor } of everyPage("vaults.list", load)) pages.push(nextCursor);
  expect([cursors, pages]).toEqual([
    [undefined, "one", "two"],
    ["one", "two", null],
  ]);
});
