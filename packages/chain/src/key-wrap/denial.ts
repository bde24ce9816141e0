/**
 * Why keys were not given. With one key server down, SealClient shows a stranger "fetch failed". So we ask the chain
 * ourselves and look at each server's answer (encryption design §2).
 */
import { ChainError } from "../errors.ts";
import type { KeyServerSet } from "../network.ts";
import type { ApprovalVerdict } from "./approval.ts";
import { nameKeyServer } from "./key-server-group.ts";
import type { Outcome, Refusal } from "./outcomes.ts";

export interface Denial {
  readonly set: KeyServerSet;
  /** By object id; null for a server that was not asked. */
  readonly outcomes: ReadonlyMap<string, Outcome | null>;
  /** The error that SealClient threw. */
  readonly cause: unknown;
}

/** The chain's answer to the question: its verdict, or the error of asking. `skew`: the node's time is not believed. */
export interface ChainOpinion {
  readonly verdict: ApprovalVerdict | { readonly failed: unknown };
  readonly skew: ChainError | null;
}

export function classifyDenial(denial: Denial, opinion: ChainOpinion): ChainError {
  return classifyByChain(opinion, denial.cause) ?? classifyByServers(denial);
}

/** Null when the chain grants the keys that the key servers refused. */
function classifyByChain({ verdict, skew }: ChainOpinion, cause: unknown): ChainError | null {
  if (typeof verdict === "object") return new ChainError("chain_unavailable", { cause: verdict.failed });
  if (verdict !== "granted" && skew !== null) return skew;
  switch (verdict) {
    // Too much in one piece; each key by itself may be granted.
    case "too_costly":
    case "granted":
      return null;
    case "refused":
      return new ChainError("not_a_member", { cause });
    case "ended":
      return new ChainError("membership_ended", { cause });
    case "vault_missing":
      return new ChainError("vault_not_found", { cause });
    case "later_place":
      // The record is signed by a member of that place, so the place is there: this node has not seen it.
      return new ChainError("chain_stale", { cause });
    case "malformed":
      return new ChainError("network_changed", { cause });
  }
}

type Reason = "clock_skew" | "address_alias" | "key_servers_behind" | "key_servers_unavailable";

function classifyByServers(denial: Denial): ChainError {
  const weightOf = (matches: (outcome: Outcome | null) => boolean): number =>
    denial.set.servers
      .filter(({ objectId }) => matches(denial.outcomes.get(objectId) ?? null))
      .reduce((sum, { weight }) => sum + weight, 0);
  const undecided = weightOf((outcome) => outcome === null || outcome.kind === "cancelled");
  const answeredWeight = weightOf((outcome) => outcome?.kind === "answered");
  // The first reason that alone would be enough; with too many servers away, nothing else matters.
  const enough = (reason: Reason): boolean => {
    const refusing = weightOf((outcome) => outcome !== null && reasonOf(outcome) === reason);
    return refusing > 0 && refusing + answeredWeight + undecided >= denial.set.threshold;
  };
  const reason = (["clock_skew", "address_alias", "key_servers_behind"] as const).find(enough);
  const { cause } = denial;
  if (reason === undefined)
    return new ChainError("key_servers_unavailable", { message: describeServers(denial), cause });
  return new ChainError(reason, { cause });
}

function reasonOf(outcome: Outcome): Reason | null {
  if (outcome.kind === "answered" || outcome.kind === "cancelled") return null;
  if (outcome.kind !== "refused") return "key_servers_unavailable";
  switch (outcome.error) {
    case "NoAccess":
    case "InvalidParameter":
      return "key_servers_behind";
    case "InvalidCertificate":
      return "clock_skew";
    case "InvalidSignature":
      return "address_alias";
    default:
      return "key_servers_unavailable";
  }
}

/** "Too few key servers give keys; 2 of 3 shares are needed. Key server 1 of 3 (0x12ab…cdef) cannot be reached; …". */
function describeServers({ set, outcomes }: Denial): string {
  const outcomeOf = (objectId: string): Outcome | null => outcomes.get(objectId) ?? null;
  const reasons = set.servers.flatMap((server) => {
    const said = describeOutcome(outcomeOf(server.objectId));
    return said === null ? [] : [`${nameKeyServer(set, server)} ${said}`];
  });
  const weigh = (servers: readonly { readonly weight: number }[]): number =>
    servers.reduce((sum, { weight }) => sum + weight, 0);
  const needed = `${set.threshold} of ${weigh(set.servers)} shares are needed`;
  const curable = set.servers.filter(({ objectId }) => !lasts(outcomeOf(objectId)));
  const advice = weigh(curable) >= set.threshold ? "Try again later." : LASTING_ADVICE;
  return `Too few key servers give keys; ${needed}. ${reasons.join("; ")}. ${advice}`;
}

const LASTING_ADVICE =
  "Waiting does not cure that. Compare the key servers and the package of the network configuration with their operators' values, and check the version of this program.";

/** What a key server's operator, or this client's user, has to change. */
function lasts(outcome: Outcome | null): boolean {
  if (outcome?.kind === "refused") return REFUSED[outcome.error] !== undefined && outcome.error !== "Failure";
  if (outcome?.kind === "http") return isForCallers(outcome);
  return outcome?.kind === "foreign" || outcome?.kind === "outdated" || outcome?.kind === "redirected";
}

function isForCallers({ status }: { readonly status: number }): boolean {
  return status === 401 || status === 403;
}

const OTHER_CLIENT = "does not serve this version of the Seal client";

/** The meaning of a refusal, if its name does not say it. */
const REFUSED: Partial<Record<Refusal, string>> = {
  Failure: "answers that it failed, as it also does while its chain node is more than two minutes behind",
  InvalidMVRName: "does not know the package by the name that it was asked with",
  InvalidPackage: "does not know the package on its chain",
  UnsupportedPackageId: "does not serve the package",
  InvalidServiceId: "is another key server than the one of that id",
  InvalidSDKType: OTHER_CLIENT,
  InvalidSDKVersion: OTHER_CLIENT,
  MissingRequiredHeader: OTHER_CLIENT,
  DeprecatedSDKVersion: OTHER_CLIENT,
};

function describeOutcome(outcome: Outcome | null): string | null {
  switch (outcome?.kind) {
    case undefined:
    case "cancelled":
      return null;
    case "answered":
      // SealClient drops keys that do not fit the public key, and does not name their server.
      return "answers, with a key that may not fit";
    case "refused":
      return REFUSED[outcome.error] ?? `answers ${outcome.error}`;
    case "http":
      return isForCallers(outcome)
        ? `refuses its callers with HTTP status ${outcome.status}, as one does that wants an API key, or another one`
        : `answers with HTTP status ${outcome.status}`;
    case "foreign":
      return "answers as no key server does";
    case "outdated":
      return "runs a version that is too old for this client";
    case "redirected":
      return "sends its callers to another address, which is not asked";
    case "timeout":
      return "takes too long to answer";
    case "unreachable":
      return "cannot be reached";
  }
}
