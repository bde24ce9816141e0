import { isError } from "@coffer/contract";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { fileErrorCode } from "../node/store/durable-file.ts";
import { connectionWords } from "./connection-words.ts";
import { errorCode, sanitizeCause } from "./redaction.ts";

/** As Jest has it: an error that is no `Error` of the realm of the SDK. */
const foreign: unknown = runInNewContext(
  `new TypeError("fetch failed", { cause: Object.assign(new Error("refused"), { code: "ECONNREFUSED" }) })`,
);

it("knows errors of another realm [issue 53]", () => {
  expect(foreign).not.toBeInstanceOf(Error);
  for (const value of [foreign, new RangeError("x"), new DOMException("x")]) expect(isError(value)).toBe(true);
  for (const value of [null, undefined, "Error", {}, { message: "x", name: "Error" }])
    expect(isError(value)).toBe(false);
});

it("reads their codes and causes [issue 53]", () => {
  expect(errorCode(foreign)).toBe("ECONNREFUSED");
  expect(sanitizeCause(foreign)).toMatchObject({ message: "refused", code: "ECONNREFUSED" });
  expect(connectionWords(foreign, "http://127.0.0.1:1").message).toMatch(/^Nothing listens/);
  const missing: unknown = runInNewContext(`Object.assign(new Error("x"), { code: "ENOENT" })`);
  expect(fileErrorCode(missing)).toBe("ENOENT");
});
