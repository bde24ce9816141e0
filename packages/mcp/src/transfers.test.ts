import { expect, it } from "vitest";
import { TaskFailure } from "@coffer/tasks";
import { Transfers } from "./transfers.ts";

const outcome = { summary: "Stored.", facts: { bytes: 5 } };

it("a short transfer answers with its outcome", async () => {
  expect(await new Transfers().run(() => Promise.resolve(outcome))).toBe(outcome);
});

it("a long one answers with a handle, goes on, and is shown with its progress and its outcome", async () => {
  const transfers = new Transfers(5);
  const { promise, resolve } = Promise.withResolvers<typeof outcome>();
  const first = await transfers.run(({ progress }) => {
    progress(2, 5);
    return promise;
  });
  expect(first.facts).toMatchObject({ bytes: 2, totalBytes: 5, transferId: expect.any(String) as string });
  const id = first.facts["transferId"] as string;
  expect((await transfers.get(id)).facts).toMatchObject({ transferId: id });
  resolve(outcome);
  await promise;
  expect(await transfers.get(id)).toBe(outcome);
});

it("a long one that fails tells its failure to whoever asks, and ends no process", async () => {
  const transfers = new Transfers(5);
  const { promise, reject } = Promise.withResolvers<typeof outcome>();
  const { facts } = await transfers.run(() => promise);
  reject(new Error("the disk is full"));
  await new Promise((resolve) => setImmediate(resolve));
  await expect(transfers.get(facts["transferId"] as string)).rejects.toThrow("the disk is full");
  await expect(transfers.get("other")).rejects.toMatchObject({ code: "transfer_unknown" });
});

it("a long one can be cancelled: it has ended then, and what it moved stays", async () => {
  const transfers = new Transfers(5);
  let isEnded = false;
  const { facts } = await transfers.run(async ({ progress, signal }) => {
    progress(3, 5);
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    isEnded = true;
    throw new TaskFailure("cancelled");
  });
  const id = facts["transferId"] as string;
  expect((await transfers.cancel(id)).facts).toMatchObject({ transferId: id, bytes: 3, totalBytes: 5 });
  expect([isEnded, transfers.isBusy()]).toEqual([true, false]);
  await expect(transfers.get(id)).rejects.toMatchObject({ code: "cancelled" });
  await expect(transfers.cancel("other")).rejects.toMatchObject({ code: "transfer_unknown" });
});

it("one that has ended before it is cancelled answers with its outcome", async () => {
  const transfers = new Transfers(5);
  const { promise, resolve } = Promise.withResolvers<typeof outcome>();
  const { facts } = await transfers.run(() => promise);
  resolve(outcome);
  expect(await transfers.cancel(facts["transferId"] as string)).toBe(outcome);
});
