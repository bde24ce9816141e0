/** Every cause of a failure in a shared vault comes with a next step of its own. */
import { CHAIN_ERRORS, ChainError, type ChainErrorCode } from "@coffer/chain";
import { describe, expect, it } from "vitest";
import { SdkError } from "../http/errors.ts";
import { vaultError } from "./vault-error.ts";
import { toVaultError } from "./vault-terms.ts";

describe("a failure in a shared vault", () => {
  it.each(Object.keys(CHAIN_ERRORS) as ChainErrorCode[])("of the chain, %s, says what to do", (code) => {
    const error = toVaultError(new ChainError(code));
    expect(error).toBeInstanceOf(SdkError);
    expect(error).toMatchObject({ code, nextStep: expect.stringMatching(/^[A-Z].{10,}\.$/s) as unknown });
    expect((error as SdkError).nextStep).not.toBe("Read the message.");
  });

  it("says what to do when others kept writing", () => {
    const { nextStep } = vaultError("generation_moved", "The vault kept changing");
    expect(nextStep).toBe("Repeat it: what is done stays done.");
  });

  it("says the caller's next step in the place of its own", () => {
    const error = toVaultError(new ChainError("floor_invalid"), { floor_invalid: "Leave it." });
    expect(error).toMatchObject({ code: "floor_invalid", nextStep: "Leave it." });
  });
});
