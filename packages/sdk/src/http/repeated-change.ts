import type { ErrorCode } from "@coffer/contract";
import { SdkError } from "./errors.ts";

/**
 * A change that cannot be made twice (restore, a version under If-Match). When a repeat is refused with `code`, `read`
 * returns the present state, or null if that is not what was asked for. If `read` fails, the refusal is thrown.
 */
export async function resultOfRepeat<Value>(
  change: Promise<Value>,
  code: ErrorCode,
  read: () => Promise<Value | null>,
): Promise<Value> {
  try {
    return await change;
  } catch (error) {
    if (!(error instanceof SdkError) || error.code !== code || !error.perhapsDone) throw error;
    const present = await read().catch(() => null);
    if (present === null) throw error;
    return present;
  }
}

/**
 * A change of which an earlier attempt may have been done, because its answer was lost. `read` returns the result if it was stored,
 * and false if it was not. null: the service does not show that, and nothing is done again.
 */
export async function unlessStored<Value>(
  change: Promise<Value>,
  read: () => Promise<Value | false | null>,
): Promise<Value> {
  try {
    return await change;
  } catch (error) {
    if (!(error instanceof SdkError) || !error.perhapsDone) throw error;
    const stored = await read().catch(() => null);
    if (stored === null) throw error;
    if (stored === false) throw Object.assign(error, { perhapsDone: false });
    return stored;
  }
}
