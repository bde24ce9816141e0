import type { Folder } from "@coffer/sdk";
import { expect, it } from "vitest";
import { itemsBelow } from "./item-acts.ts";
import type { Task } from "./task.ts";

it("what is below a folder ends, also at a service that shows another folder in each", async () => {
  let made = 0;
  async function* one(): AsyncGenerator<object> {
    await Promise.resolve();
    made += 1;
    // A walk that goes on ends here, long after it should have.
    if (made < 100_000) yield { id: `folder ${String(made)}`, vaultId: "v", size: 1 };
  }
  const client = { files: { list: one }, folders: { list: one } };
  const task = { client: () => Promise.resolve(client), signal: new AbortController().signal } as unknown as Task;
  expect(await itemsBelow(task, { id: "top", vaultId: "v", trashedAt: null } as Folder, 10)).toBeNull();
  expect(made).toBeLessThan(30);
});
