import { api, endpointsOf } from "@coffer/contract";
import { expect, it } from "vitest";
import { addressBucketOf } from "./policies.ts";

const open = endpointsOf(api).filter(({ auth }) => auth === "none");

/** Decisions §2 limits every route of /api/auth; of each other it is said here why it needs no limit of addresses. */
const UNLIMITED = {
  "billing.events": "a signature over at most 64 KiB",
  "uploads.options": "a constant",
  "system.health": "a constant",
  "system.ready": "asked by supervisors",
  "system.metrics": "loopback or token",
  "system.network": "a constant",
  "system.openapi": "a constant",
};

it("leaves no open endpoint out without a reason [D2-mail-operations D2-login D2-signup D2-idp]", () => {
  const unlimited = open.filter((endpoint) => addressBucketOf(endpoint) === undefined);
  expect(unlimited.map(({ id }) => id).sort()).toEqual(Object.keys(UNLIMITED).sort());
});

it("limits every route of /api/auth that asks for no credential", () => {
  const buckets = open.filter(({ path }) => path.startsWith("/api/auth/")).map((endpoint) => addressBucketOf(endpoint));
  expect(buckets.length).toBeGreaterThan(10);
  expect(buckets).not.toContain(undefined);
});

it("counts no request with a credential by its address", () => {
  const known = endpointsOf(api).filter(({ auth }) => auth === "credential");
  expect(known.filter((endpoint) => addressBucketOf(endpoint) !== undefined)).toEqual([]);
});
