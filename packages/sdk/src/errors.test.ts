import { api } from "@coffer/contract";
import { expect, expectTypeOf, it } from "vitest";
import { ApiError, ConnectionError, failureOf, type EndpointErrorCode } from "./errors.ts";

const facts = { status: 409, requestId: null, retryAfterMs: null };

it("types a failure by what the endpoint declares and what follows from its shape", () => {
  expectTypeOf<"vault_not_empty">().toExtend<EndpointErrorCode<typeof api.vaults.delete>>();
  expectTypeOf<"owner_only">().toExtend<EndpointErrorCode<typeof api.vaults.delete>>();
  expectTypeOf<"vault_not_empty">().not.toExtend<EndpointErrorCode<typeof api.files.get>>();
  expectTypeOf<"invalid_credential">().not.toExtend<EndpointErrorCode<typeof api.system.health>>();
  expectTypeOf<"already_created">().not.toExtend<EndpointErrorCode<typeof api.files.get>>();
});

it("is null for what the endpoint does not declare, and for failures the service did not answer", () => {
  const error = new ApiError("vault_not_empty", "holds 1 file", facts);
  expect(failureOf(api.vaults.delete, error)).toBe(error);
  expect(failureOf(api.files.get, error)).toBeNull();
  expect(failureOf(api.vaults.delete, new ApiError("unknown_error", "HTTP 502", facts))).toBeNull();
  expect(failureOf(api.vaults.delete, new ConnectionError("gone"))).toBeNull();
  expect(failureOf(api.vaults.delete, "text")).toBeNull();
});
