import * as z from "zod/mini";
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
  health: endpoint({
    ...open,
    id: "system.health",
    path: "/healthz",
    status: 200,
    output: z.object({ status: z.enum(["ok"]), version: z.string() }),
    errors: [],
  }),
  ready: endpoint({
    ...open,
    id: "system.ready",
    path: "/readyz",
    status: 200,
    output: z.object({
      status: z.enum(["ready"]),
      deletions: z.optional(z.enum(["stopped"])),
      /** What waits although requests are answered, why, and what the operator can do; absent: nothing does. */
      detail: z.optional(z.string()),
    }),
    errors: ["unavailable"],
  }),
  metrics: endpoint({
    ...open,
    id: "system.metrics",
    path: "/metrics",
    status: 200,
    output: bytes("text/plain"),
    errors: ["not_found"],
  }),
  openapi: endpoint({
    ...open,
    id: "system.openapi",
    path: "/openapi.json",
    status: 200,
    output: z.looseObject({}),
    errors: [],
  }),
} as const;
