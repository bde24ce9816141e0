/** One Ceph for a whole run of vitest: the first test that asks for it starts it, and the run's end stops it. */
import type { TestProject } from "vitest/node";
import { listenOnLoopback } from "../loopback.ts";
import type { Ceph } from "@coffer/devstack/engines";

declare module "vitest" {
  interface ProvidedContext {
    /** Where a test asks for the run's Ceph. */
    readonly cephDoor: string;
  }
}

export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  let starting: Promise<Ceph> | null = null;
  // Most runs need no engine, and load none.
  const start = async () => (await import("@coffer/devstack/engines")).startCeph();
  const door = await listenOnLoopback(async (_request, response) => {
    try {
      const { endpoint, secureEndpoint, certificate, accessKeyId, secretAccessKey } = await (starting ??= start());
      response.end(JSON.stringify({ endpoint, secureEndpoint, certificate, accessKeyId, secretAccessKey }));
    } catch (error) {
      response.writeHead(500).end(error instanceof Error ? `${error.message}: ${String(error.cause)}` : String(error));
    }
  });
  project.provide("cephDoor", door.baseUrl);
  return async () => {
    await door[Symbol.asyncDispose]();
    await (await starting?.catch(() => null))?.[Symbol.asyncDispose]();
  };
}
