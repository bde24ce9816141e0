import { ApiError, SdkError } from "@coffer/sdk";
import { describe, expect, it } from "vitest";
import { failureSentence } from "./failure-sentence.ts";
import { StartError } from "./start-error.ts";

const facts = { code: "vault_not_found", retryable: false, nextStep: "Check\u001b its id." } as const;

describe("a failure of npm start", () => {
  it("of the client is its message, its next step, and what to do with --data, without a stack", () => {
    const said = failureSentence(new SdkError("There is no such vault.", facts), "/data");
    expect(said).toMatch(/^There is no such vault\. \(vault_not_found\)\. Check\\u001b its id\. If a part of \/data/);
    expect(said).toMatch(/start afresh on another directory with --data\.$/);
    expect(said).not.toContain("\n");
    const refused = new ApiError("invalid_credential", "No", {
      status: 401,
      requestId: null,
      retryAfterMs: null,
      retryable: false,
      nextStep: "",
    });
    expect(failureSentence(refused, "/data")).toMatch(/^No \(invalid_credential\)\. .*--data/);
  });

  it("of the start is its own sentence, and what nobody foresaw keeps its stack", () => {
    expect(failureSentence(new StartError("Port 1 is in use"), "/data")).toBe("Port 1 is in use");
    expect(failureSentence(new RangeError("a defect"), "/data")).toContain("\n    at ");
  });
});
