import { randomBytes } from "node:crypto";

/** What production does not start without: new secrets each time, and where links in mails lead. No load balancer waits for its stop. */
export function productionSecrets(): Record<string, string> {
  return {
    SERVICE_MASTER_KEY: randomBytes(32).toString("hex"),
    SERVICE_JWT_KEYS: `k1:${randomBytes(32).toString("base64")}`,
    SERVICE_APP_URL: "https://app.coffer.example",
    SERVICE_SHUTDOWN_NOTICE_SECONDS: "0",
  };
}
