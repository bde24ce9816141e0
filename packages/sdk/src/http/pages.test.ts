import { expect, it } from "vitest";
import { allOf } from "../../../../test/kit/bytes.ts";
import { ContractError } from "./errors.ts";
import { ID, json, scripted, VAULT } from "./transport.test-kit.ts";

it("sends nothing before it is awaited, and once for all awaits of the same page", async () => {
  const { client, requests } = scripted([json({ vaults: [VAULT], nextCursor: null })]);
  const list = client.vaults.list();
  expect(requests).toHaveLength(0);
  expect((await list).vaults).toHaveLength(1);
  expect((await list).items[0]?.id).toBe(ID);
  expect(requests).toHaveLength(1);
});

it("is a Promise of a page whose items survive a spread, a clone and JSON [issue 53]", async () => {
  const { client } = scripted([json({ vaults: [VAULT], nextCursor: null })]);
  const promise: Promise<unknown> = client.vaults.list();
  expect(Object.prototype.toString.call(promise)).toBe("[object PagePromise]");
  const page = await client.vaults.list();
  const whole = { vaults: [VAULT], items: [VAULT], nextCursor: null };
  for (const copy of [{ ...page }, structuredClone(page), JSON.parse(JSON.stringify(page)) as unknown])
    expect(copy).toEqual(whole);
  // What a library of queries infers of the call: the page.
  const infer = async <T>(call: () => Promise<T>): Promise<T> => await call();
  expect((await infer(() => client.vaults.list({ limit: 1 }))).items[0]?.id).toBe(ID);
});

it("takes the nextCursor of the last page, which is null, as the beginning", async () => {
  const { client, requests } = scripted([json({ vaults: [VAULT], nextCursor: null })]);
  const { nextCursor } = await client.vaults.list({ cursor: null });
  await client.vaults.list({ cursor: nextCursor });
  expect(requests.map(({ url }) => new URL(url).search)).toEqual(["", ""]);
});

it("begins at the cursor it is given and goes on with those of the server", async () => {
  const { client, requests } = scripted([
    json({ vaults: [VAULT], nextCursor: "two" }),
    json({ vaults: [], nextCursor: null }),
  ]);
  expect((await allOf(client.vaults.list({ cursor: "one", limit: 7 }))).map(({ id }) => id)).toEqual([ID]);
  expect(requests.map(({ url }) => new URL(url).searchParams.get("cursor"))).toEqual(["one", "two"]);
  expect(requests.every(({ url }) => new URL(url).searchParams.get("limit") === "7")).toBe(true);
});

it("ends on a server that repeats its cursor", async () => {
  const { client, requests } = scripted([json({ vaults: [VAULT], nextCursor: "same" })]);
  const all = (async () => {
    for await (const page of client.vaults.list().pages()) expect(page.items).toHaveLength(1);
  })();
  await expect(all).rejects.toThrow(ContractError);
  expect(requests).toHaveLength(2);
});

it("refuses a page that leads back to itself, for those too who turn the pages by themselves", async () => {
  const { client } = scripted([json({ vaults: [VAULT], nextCursor: "same" })]);
  const { nextCursor } = await client.vaults.list();
  expect(nextCursor).toBe("same");
  await expect(client.vaults.list({ cursor: "same" })).rejects.toMatchObject({
    code: "contract_broken",
    issues: ["body.nextCursor: the same again"],
  });
});

it("takes a page that waited and leads back to itself: nothing came meanwhile", async () => {
  const { client } = scripted([json({ changes: [], nextCursor: "same" })]);
  expect(await client.changes.list({ cursor: "same", wait: 0 })).toMatchObject({ nextCursor: "same" });
});

it("stops asking when the reader stops", async () => {
  const { client, requests } = scripted([json({ vaults: [VAULT], nextCursor: "more" })]);
  for await (const vault of client.vaults.list()) {
    expect(vault.id).toBe(ID);
    break;
  }
  expect(requests).toHaveLength(1);
});
