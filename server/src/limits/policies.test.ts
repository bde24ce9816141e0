import { api, endpointsOf } from "@coffer/contract";
import { expect, it } from "vitest";
import { ADDRESS_BUCKETS } from "./policies.ts";

const open = endpointsOf(api).filter(({ auth }) => auth === "none");

it("limits endpoints that exist and ask for no credential", () => {
  const ids = open.map(({ id }): string => id);
  for (const id of Object.keys(ADDRESS_BUCKETS)) expect(ids).toContain(id);
});

/** Decisions §2 names the limited ones; of each other it is said here why it needs no limit of addresses. */
const UNLIMITED = {
  "auth.refresh": "limited per session",
  "auth.logout": "a look-up of 256 random bits",
  "auth.resetPassword": "a look-up of 256 random bits",
  "auth.verifyEmail": "a look-up of 256 random bits",
  "billing.events": "a signature over at most the JSON limit",
  "development.signup": "development only",
  "uploads.options": "a constant",
  "system.health": "a constant",
  "system.ready": "asked by supervisors",
  "system.metrics": "loopback or token",
  "system.openapi": "a constant",
};

it("leaves no open endpoint out without a reason [D2-mail-operations D2-login D2-signup D2-idp]", () => {
  const said = [...Object.keys(ADDRESS_BUCKETS), ...Object.keys(UNLIMITED)];
  expect(said.sort()).toEqual(open.map(({ id }) => id).sort());
});
