import type { ProverConfig } from "../../config.ts";
import type { Prover, Zklogin } from "../../ports/zklogin.ts";

export function openProver(_config: ProverConfig, _zklogin: Zklogin): Prover {
  throw new Error("placeholder");
}
