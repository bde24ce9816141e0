import { api } from "@coffer/contract";
import { renderOpenApi } from "@coffer/contract/openapi";
import type { Deps } from "../../deps.ts";
import { type GroupHandlers, Reply } from "../../handler.ts";
import { ServiceError } from "../../service-error.ts";

export const VERSION = "0.1.0";

/** What the process says of itself; anything but `ready` is 503. */
export interface Readiness {
  readonly state: "starting" | "ready" | "stopping" | "outdated";
}

export interface SystemParts {
  readonly readiness: Readiness;
  readonly metrics: { render(): Promise<{ text: string; contentType: string }> };
}

type Needs = Pick<Deps, "database" | "blobs"> & SystemParts;

export const systemHandlers = (deps: Needs): GroupHandlers<typeof api.system> => ({
  async health() {
    return { status: "ok", version: VERSION };
  },

  async ready() {
    const { state } = deps.readiness;
    if (state !== "ready") throw new ServiceError("unavailable", `The server is ${state}`);
    const pings = await Promise.allSettled([deps.database.ping(), deps.blobs.ping()]);
    const away = pings.flatMap((ping, part) =>
      ping.status === "rejected" ? [{ part, cause: ping.reason as unknown }] : [],
    );
    if (away.length > 0) {
      const names = away.map(({ part }) => (part === 0 ? "the database" : "the blob store")).join(" and ");
      throw new ServiceError("unavailable", `Away: ${names}`, { cause: away[0]?.cause });
    }
    return { status: "ready" };
  },

  async metrics() {
    const { text, contentType } = await deps.metrics.render();
    return new Reply(single(text), { headers: { "Content-Type": contentType } });
  },

  async openapi() {
    document ??= renderOpenApi(api);
    return document;
  },
});

/** Made on first use: it depends on the contract alone. */
let document: Record<string, unknown> | null = null;

async function* single(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
