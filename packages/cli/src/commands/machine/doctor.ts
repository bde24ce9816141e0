import { untrusted } from "@coffer/tasks";
import { command, text } from "../../declarations.ts";
import { checkMachine, missingKey } from "../../doctor/machine-checks.ts";
import { checkService } from "../../doctor/service-checks.ts";
import type { Check } from "../../doctor/check.ts";
import type { Context } from "../../context.ts";
import { asInvoked } from "../../invocation.ts";
import { exitOfVerdict } from "../../exit-codes.ts";
import { done } from "../../result.ts";

const NOT_ASKED = { checks: [], chainAddress: undefined };
const MARKS = { ok: "ok ", problem: "NO ", unset: "-  " } as const;

export default command({
  brief: "Check this machine, the service and the sign-in",
  description:
    "It prints where each value came from, and what to do. It shows no secret, and exits with 1 when it found a problem.",
  examples: [
    { line: "coffer doctor", does: "everything" },
    { line: "coffer doctor --vault Team", does: "and why a vault does not open" },
  ],
  flags: { vault: text("Vault to check, layer by layer", { placeholder: "VAULT" }) },
  run: async (context, { vault }) => {
    const machine = await checkMachine(context);
    const service = machine.settings === null ? NOT_ASKED : await checkService(context, machine.settings, vault);
    // A check that was cut off found nothing.
    context.signal.throwIfAborted();
    const missing = machine.hasChainKey ? [] : [missingKey(service.chainAddress)];
    const allChecks = [...machine.checks, ...missing, ...service.checks];
    const checks = allChecks.map((check) => withOwnCommand(check, context));
    const healthy = checks.every(({ state }) => state !== "problem");
    const width = Math.max(...checks.map(({ name }) => name.length));
    const lines = checks.map((check) => lineOf(check, width));
    return done({ ok: healthy, checks }, lines, { exit: exitOfVerdict(healthy) });
  },
});

function withOwnCommand(check: Check, { world: { invocation } }: Context): Check {
  return check.nextStep === null ? check : { ...check, nextStep: asInvoked(check.nextStep, invocation) };
}

function lineOf({ name, state, value, source, nextStep }: Check, width: number): string {
  const from = source === null ? "" : ` (${source})`;
  const next = nextStep === null ? "" : `${value === null ? "" : " → "}${untrusted(nextStep).visible()}`;
  return `${MARKS[state]} ${name.padEnd(width)}  ${untrusted(value ?? "").visible()}${from}${next}`;
}
