import type { ProverConfig } from "../../config.ts";
import type { Prover, Zklogin } from "../../ports/zklogin.ts";
import { openDevelopmentProver } from "./development.ts";
import { openHostedProver } from "./hosted.ts";

/** Whether prover and network fit together is settled by the configuration (config/problems.ts). */
export function openProver(config: ProverConfig, zklogin: Zklogin): Prover {
  return config.kind === "development" ? openDevelopmentProver(zklogin) : openHostedProver(config, zklogin);
}
