/** A server of the suite's own, with a quota that forty connections can pass. */
import { openScratchServer } from "../../crash/server-process.ts";
import type { Target } from "./target.ts";

const MIB = 1024 * 1024;

export function openOwnServer(): Promise<Target & AsyncDisposable> {
  return openScratchServer({
    SERVICE_PRO_STORAGE_BYTES: String(64 * MIB),
    SERVICE_LOG_LEVEL: "info",
    SERVICE_ACCESS_CODES: "off",
  });
}
