import type { LayerCheck } from "@coffer/sdk";
import { inCommandWords } from "@coffer/tasks";

/** One thing that was looked at, with where its value came from and what to do. */
export interface Check {
  readonly name: string;
  readonly state: "ok" | "problem" | "unset";
  readonly value: string | null;
  /** flag, environment, profile, default, service, this machine. */
  readonly source: string | null;
  /** What to do about a problem, or to set it. */
  readonly nextStep: string | null;
}

export const ok = (name: string, value: string, source: string | null = null): Check => ({
  name,
  value,
  source,
  state: "ok",
  nextStep: null,
});

export const problem = (name: string, value: string, nextStep: string, source: string | null = null): Check => ({
  name,
  value,
  source,
  nextStep,
  state: "problem",
});

/** Of what the SDK says about a layer between this machine and what is in a vault. */
export function layerCheck(name: string, { state, cause, nextStep: step }: LayerCheck, vaultId?: string): Check {
  const nextStep = inCommandWords(step, vaultId);
  if (state === "ok") return ok(name, nextStep);
  return state === "failed" ? problem(name, cause ?? "failed", nextStep) : unset(name, nextStep);
}

export const unset = (name: string, nextStep: string): Check => ({
  name,
  nextStep,
  state: "unset",
  value: null,
  source: null,
});
