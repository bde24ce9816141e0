import { inspect } from "node:util";
import { expect, test, vi } from "vitest";
import { ApiError, ConnectionError, SdkError } from "./errors.ts";
import { Secret } from "./secret.ts";

test("errors and secrets of another copy of the package are recognised by their class", async () => {
  vi.resetModules();
  const other = { ...(await import("./errors.ts")), ...(await import("./secret.ts")) };
  expect(other.SdkError).not.toBe(SdkError);
  const foreign = new other.ConnectionError("no answer");
  expect(foreign instanceof SdkError).toBe(true);
  expect(foreign instanceof ConnectionError).toBe(true);
  expect(foreign instanceof ApiError).toBe(false);
  expect(new other.SdkError("x", { code: "locked", retryable: true, nextStep: "y" }) instanceof ConnectionError).toBe(
    false,
  );
  class Own extends ConnectionError {}
  expect(foreign instanceof Own).toBe(false);
  expect(new Own("x") instanceof other.SdkError).toBe(true);

  const secret = new other.Secret("the text");
  expect(secret instanceof Secret).toBe(true);
  expect(secret.reveal()).toBe("the text");
  expect([inspect(secret), String(secret), JSON.stringify({ secret })].join()).not.toContain("the text");
});

test("nothing else is", () => {
  for (const value of [null, undefined, 1, "text", {}, new Error("x"), () => undefined, Object.create(null)])
    expect([value instanceof SdkError, value instanceof Secret]).toEqual([false, false]);
});
