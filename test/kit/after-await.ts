/** Something that happens after the n-th await of a piece of work, whatever else the process does meanwhile. */
import { AsyncLocalStorage, createHook } from "node:async_hooks";

const working = new AsyncLocalStorage<true>();

/** Runs `work`, and calls `act` after its n-th await; resolves with the number of its awaits, and how it ended. */
export async function afterAwait(
  nth: number,
  work: () => Promise<unknown>,
  act: () => void,
): Promise<{ readonly awaits: number; readonly error: unknown }> {
  const own = new Set<number>();
  let awaits = 0;
  const hook = createHook({
    init: (id, type) => {
      if (type === "PROMISE" && working.getStore() === true) own.add(id);
    },
    before: (id) => {
      if (!own.has(id)) return;
      awaits += 1;
      if (awaits === nth) act();
    },
  }).enable();
  try {
    const error: unknown = await working.run(true, () =>
      work().then(
        () => null,
        (thrown: unknown) => thrown,
      ),
    );
    return { awaits, error };
  } finally {
    hook.disable();
  }
}
