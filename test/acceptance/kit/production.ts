import { randomBytes } from "node:crypto";

/** The secrets without which production does not start, new ones each time. */
export function productionSecrets(): Record<string, string> {
  return {
    SERVICE_MASTER_KEY: randomBytes(32).toString("hex"),
    SERVICE_JWT_KEYS: `k1:${randomBytes(32).toString("base64")}`,
  };
}
