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
