import { inspect } from "node:util";
import { api, errorsOf, type EndpointDefinition } from "@coffer/contract";
import { expect, expectTypeOf, it } from "vitest";
import { createClient } from "../client.ts";
import {
  AbortError,
  type ApiErrorCode,
  ApiError,
  ConnectionError,
  type ErrorFacts,
  failureOf,
  SdkError,
  VaultError,
  type EndpointErrorCode,
  type VaultErrorCode,
} from "./errors.ts";
import { inProcessTransport } from "./transports.ts";

const facts = { status: 409, requestId: null, retryAfterMs: null, retryable: false, nextStep: "Empty it first." };

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

it("keeps a typed code through instanceof: a misspelt one does not compile", () => {
  const narrow = (error: unknown): void => {
    if (error instanceof VaultError) expectTypeOf(error.code).toEqualTypeOf<VaultErrorCode>();
    if (error instanceof ApiError) {
      expectTypeOf(error).toEqualTypeOf<ApiError>();
      expectTypeOf(error.code).toEqualTypeOf<ApiErrorCode>();
      // @ts-expect-error: arrives as a VaultError, whoever finds it
      expect(error.code === "generation_moved").toBe(false);
      // @ts-expect-error: no such code
      expect(error.code === "vault_not_emtpy").toBe(false);
    }
    if (error instanceof SdkError) expectTypeOf(error.code).toEqualTypeOf<ErrorFacts["code"]>();
    const failure = failureOf(api.vaults.delete, error);
    if (failure !== null) expectTypeOf(failure.code).toEqualTypeOf<EndpointErrorCode<typeof api.vaults.delete>>();
    // @ts-expect-error: this endpoint does not answer that
    expect(failure?.code === "offset_mismatch").toBe(false);
  };
  narrow(new ApiError("vault_not_empty", "holds 1 file", facts));
});

it("carries what the caller gave to abort, and prints nothing of it", async () => {
  const transport = inProcessTransport(() => new Promise<Response>(() => undefined));
  const client = createClient({ baseUrl: "http://127.0.0.1:1", transport });
  const reasons = [new Error("tab closed"), "cof_secret", undefined];
  for (const early of [true, false])
    for (const reason of reasons) {
      const controller = new AbortController();
      if (early) controller.abort(reason);
      const call = client.call(api.system.health, {}, { signal: controller.signal });
      controller.abort(reason);
      const error: unknown = await call.catch((caught: unknown) => caught);
      expect(error).toBeInstanceOf(AbortError);
      expect((error as AbortError).reason).toBe(controller.signal.reason);
      expect(inspect(error) + JSON.stringify(error)).not.toContain("cof_secret");
    }
});

it("says what to do about it wherever Node prints it: a program that ends with it has no other place", () => {
  const error = new ApiError("vault_not_empty", "holds 1 file", facts);
  const [told, nextStep, details] = inspect(error).split("\n");
  expect([told, nextStep]).toEqual(["ApiError [vault_not_empty]: holds 1 file", "  Empty it first."]);
  expect(details).toContain('"status":409');
});

it.each([
  ["an unset variable", { apiKey: undefined }],
  ["the key itself", "cof_key"],
])("calls %s in the place of credentials a setting", (_, credentials) => {
  expect(() => createClient({ baseUrl: "http://127.0.0.1:1", credentials: credentials as never })).toThrow(
    expect.objectContaining({
      code: "configuration",
      message: expect.stringContaining("pass { apiKey }") as string,
    }),
  );
});

const EVERY = { internal: 1, unavailable: 1, rate_limited: 1 } as const;
const CALLED = { ...EVERY, invalid_credential: 1, development_origin: 1, budget_exceeded: 1 } as const;
const OWNED = { ...CALLED, owner_only: 1, missing_scope: 1 } as const;
const BODY = { validation_failed: 1, unsupported_media_type: 1, body_truncated: 1, request_timeout: 1 } as const;
const JSON_BODY = { ...BODY, malformed_json: 1, body_too_large: 1 } as const;
const REPEATED = { idempotency_in_progress: 1, idempotency_mismatch: 1 } as const;
const PAID = { email_unverified: 1, not_configured: 1, provider_unavailable: 1, vault_limited_key: 1 } as const;

/** Does not compile with a code too many or too few for the type; compared with what the contract computes. */
function codesOf<E extends EndpointDefinition, Codes extends Record<EndpointErrorCode<E>, 1>>(
  endpoint: E,
  codes: Codes & Record<Exclude<keyof Codes, EndpointErrorCode<E>>, never>,
): readonly [EndpointDefinition, string[]] {
  return [endpoint, Object.keys(codes)];
}

it.each([
  codesOf(api.system.health, EVERY),
  codesOf(api.auth.refresh, { ...EVERY, ...JSON_BODY, session_ended: 1 }),
  codesOf(api.auth.resetPassword, { ...EVERY, ...JSON_BODY, token_invalid: 1, weak_password: 1 }),
  codesOf(api.billing.get, { ...OWNED, vault_limited_key: 1 }),
  codesOf(api.billing.checkout, { ...OWNED, ...JSON_BODY, ...REPEATED, ...PAID, plan_unchanged: 1 }),
  codesOf(api.billing.events, {
    ...EVERY,
    ...BODY,
    signature_invalid: 1,
    clock_skew: 1,
    not_configured: 1,
    malformed_json: 1,
    body_too_large: 1,
  }),
  codesOf(api.apiKeys.rotate, {
    ...OWNED,
    ...JSON_BODY,
    ...REPEATED,
    already_created: 1,
    not_found: 1,
    scope_too_wide: 1,
    key_inactive: 1,
    limit_reached: 1,
  }),
])("has the type of what the contract lists", (endpoint, codes) => {
  expect(codes.toSorted()).toEqual(errorsOf(endpoint).toSorted());
});
