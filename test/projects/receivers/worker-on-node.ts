// The worker without its platform: what it needs is in every runtime.
import { serve } from "@hono/node-server";
import worker from "./worker.ts";

const env = { COFFER_WEBHOOK_SECRET: process.env["COFFER_WEBHOOK_SECRET"] ?? "" };
serve({
  fetch: (request) => worker.fetch(request, env),
  hostname: "127.0.0.1",
  port: Number(process.env["PORT"]),
});
