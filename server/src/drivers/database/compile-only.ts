/** Kysely builds and compiles, and drivers run what was compiled (ports/database.ts): executing through it rejects. */
import type { Driver } from "kysely";

const refuse = (): Promise<never> =>
  Promise.reject(new Error("Kysely only compiles here: run the query through Queries"));

export const compileOnly: Driver = {
  init: () => Promise.resolve(),
  destroy: () => Promise.resolve(),
  acquireConnection: refuse,
  releaseConnection: refuse,
  beginTransaction: refuse,
  commitTransaction: refuse,
  rollbackTransaction: refuse,
};
