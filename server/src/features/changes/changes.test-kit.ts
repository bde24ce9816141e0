/** TEST ONLY: changes as acts write them, at any time. */
import type { Database } from "../../ports/database.ts";
import { systemRandom } from "../../ports/random.ts";
import { actOn, type NewChange } from "../account/act.ts";

export type TestChange = NewChange & { readonly occurredAt: number; readonly id?: string };

/** Writes them in one act of the account; resolves with the number of the last. */
export async function noteChanges(
  database: Database,
  accountId: string,
  changes: readonly TestChange[],
): Promise<number> {
  let current: TestChange | undefined;
  const clock = { now: () => current?.occurredAt ?? 0, elapsed: () => 0 };
  const random = { ...systemRandom, uuid: () => current?.id ?? systemRandom.uuid() };
  return actOn({ database, clock, random }, accountId, async (act) => {
    let last = 0;
    for (current of changes) {
      const { occurredAt: _at, id: _id, ...change } = current;
      last = await act.record(change);
    }
    return last;
  });
}
