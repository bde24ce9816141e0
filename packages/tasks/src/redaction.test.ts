import { renderKey } from "@coffer/contract";
import { describe, expect, it } from "vitest";
import { createRedaction } from "./redaction.ts";

const key = renderKey(new Uint8Array(32).fill(7));

describe("redaction", () => {
  it("replaces a registered secret wherever it stands", () => {
    const redaction = createRedaction();
    redaction.register("hunter2-hunter2");
    expect(redaction.redact('{"a":"hunter2-hunter2","b":["x hunter2-hunter2 y"]}')).toBe(
      '{"a":"[redacted]","b":["x [redacted] y"]}',
    );
  });

  it("replaces the JSON-escaped form of a secret, and the frame stays JSON", () => {
    const redaction = createRedaction();
    redaction.register('quo"te\\slash');
    const frame = JSON.stringify({ text: 'say quo"te\\slash now' });
    expect(JSON.parse(redaction.redact(frame))).toEqual({ text: "say [redacted] now" });
  });

  it("knows the shape of keys that nobody registered", () => {
    const redaction = createRedaction();
    expect(redaction.redact(`Bearer ${key}`)).toBe("Bearer [redacted]");
    expect(redaction.redact(`secret whsec_${"a+/b".repeat(10)}aaa=`)).toBe("secret [redacted]");
    expect(redaction.redact(`code cofi_${"a".repeat(30)}`)).toBe("code [redacted]");
  });

  it("leaves short words and ordinary text alone", () => {
    const redaction = createRedaction();
    redaction.register("name");
    expect(redaction.redact('{"name":"coffer_configuration.txt"}')).toBe('{"name":"coffer_configuration.txt"}');
  });
});

it("finds the beginning of a secret where a text was cut, in hex too", () => {
  const redaction = createRedaction();
  const token = `head.${"q7Lw".repeat(40)}`;
  redaction.register(token);
  for (const form of [token, Buffer.from(token).toString("hex")])
    expect(redaction.redact(`a ${form.slice(0, 60)}… (501 characters) b`)).toBe("a [redacted]… (501 characters) b");
  expect(redaction.redact("head and tail… (501 characters)")).toBe("head and tail… (501 characters)");
});
