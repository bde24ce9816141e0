/** What a production server starts with, and an operator has perhaps not meant: each is one line of the log. */
import type { Config } from "../config.ts";
import { isLoopbackHost } from "./loopback.ts";

export interface Warning {
  readonly event: string;
  readonly message: string;
}

export function warningsOf({ mode, mail, listen, settings }: Config): Warning[] {
  if (mode !== "production") return [];
  const warnings: Warning[] = [];
  if (mail.kind === "outbox")
    warnings.push({
      event: "mail-stays-here",
      message: `no SERVICE_SMTP_URL: mails are files in ${mail.directory}, and nobody gets them; processes share that outbox only if they share the data directory`,
    });
  const addresses = { SERVICE_PUBLIC_URL: settings.publicUrl, SERVICE_APP_URL: settings.appUrl };
  for (const [name, address] of Object.entries(addresses)) {
    if (!isInTheClear(address ?? "") || (name === "SERVICE_APP_URL" && address === settings.publicUrl)) continue;
    warnings.push({
      event: "address-in-the-clear",
      message: `${name} begins with http: anybody on the way reads keys and passwords; put TLS in front of this server and write https`,
    });
  }
  if (!isLoopbackHost(listen.host) && settings.trustedProxies.length === 0)
    warnings.push({
      event: "no-trusted-proxies",
      message: `listens on ${listen.host} without SERVICE_TRUSTED_PROXIES: behind a proxy all callers would count as one address, and share its limits; name the proxies' addresses`,
    });
  return warnings;
}

/** http from another machine. */
function isInTheClear(address: string): boolean {
  const url = URL.parse(address);
  return url?.protocol === "http:" && !isLoopbackHost(url.hostname);
}
