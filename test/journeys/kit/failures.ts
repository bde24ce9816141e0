/** How something failed, as a program branches on it. */
import assert from "node:assert/strict";
import { SdkError } from "@coffer/sdk";
import { objectAt } from "./account.ts";
import type { ToolAnswer } from "./tool-server.ts";

/** The code of what `work` rejects with; fails when it resolves. */
export async function failureCode(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    if (error instanceof SdkError) return error.code;
    throw error;
  }
  return assert.fail("it did not fail");
}

/** The failure that a tool answered. */
export function toolFailure(answer: ToolAnswer): { readonly code: string; readonly nextStep: string } {
  assert.equal(answer.isError, true, answer.wire);
  const { code, nextStep } = objectAt(answer.facts, "error");
  return { code: String(code), nextStep: String(nextStep) };
}
