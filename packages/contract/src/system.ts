import * as z from "zod/mini";
import { object } from "./object.ts";
import { bytes, endpoint } from "./endpoint.ts";

const open = {
  auth: "none",
  access: "anyone",
  scope: null,
  vaultLimit: "none",
  effect: "read",
  method: "GET",
} as const;

export const systemGroup = {
  /** The process is alive. */
  health: endpoint({
    ...open,
    id: "system.health",
    path: "/healthz",
    status: 200,
    output: object({
      /** `ok`: the process answers. */
      status: z.enum(["ok"]),
      /** Version of the service. */
      version: z.string(),
    }),
    errors: [],
  }),
  /** Database and blob store answer; 503 while starting, stopping or broken. */
  ready: endpoint({
    ...open,
    id: "system.ready",
    path: "/readyz",
    status: 200,
    output: object({
      /** `ready`: the service takes requests. */
      status: z.enum(["ready"]),
      /** `stopped`: no content is deleted until an operator has run `coffer-server adopt`; all else goes on. */
      deletions: z.optional(z.enum(["stopped"])),
      /** What waits or is refused although requests are answered, why, and what the operator can do. Absent: nothing is. */
      detail: z.optional(z.string()),
    }),
    errors: ["unavailable"],
  }),
  /** Prometheus text format; from loopback or with the metrics token. */
  metrics: endpoint({
    ...open,
    id: "system.metrics",
    path: "/metrics",
    status: 200,
    output: bytes("text/plain"),
    errors: ["not_found"],
  }),
  /**
   * The network file: on which chain, package and key servers the shared vaults of this service are. Its own answer is no reason to believe
   * it: compare the SHA-256 digest of the bytes with one that came another way. 404: the service names none.
   */
  network: endpoint({
    ...open,
    id: "system.network",
    path: "/api/network",
    status: 200,
    output: bytes("application/json"),
    errors: ["not_found"],
  }),
  /** This contract as OpenAPI 3.1. */
  openapi: endpoint({
    ...open,
    id: "system.openapi",
    path: "/openapi.json",
    status: 200,
    output: z.looseObject({}),
    errors: [],
  }),
} as const;
