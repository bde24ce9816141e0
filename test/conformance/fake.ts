/** What the SDK's fake says that it does not cover, for a conformance run. */
import { api, endpointsOf } from "@coffer/contract";
import type { Fake } from "@coffer/sdk/testing";
import type { ConformanceOptions } from "./run.ts";

export function uncoveredBy(fake: Fake): NonNullable<ConformanceOptions["without"]> {
  const endpoints = endpointsOf(api).filter(({ id }) => !fake.endpoints.includes(id));
  return [
    ...endpoints.map(({ id }) => id),
    "uploads as multipart/form-data",
    "conditional reads",
    "refused webhook addresses",
  ];
}
