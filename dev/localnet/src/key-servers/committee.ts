/** A committee behind its aggregator: the members hold shares of one master key, and no one of them can answer alone. */
import { combineShares, isEncryptionOf, type EncryptedShare } from "./encrypted-key.ts";
import type { Endpoint, GrantedKey, KeySource } from "./endpoint.ts";
import type { FetchRequest } from "./fetch-request.ts";
import { KeyServerError } from "./key-server-error.ts";
import type { G2Point } from "./master-key.ts";

export interface CommitteeMember {
  readonly party: number;
  readonly endpoint: Endpoint;
  readonly publicKey: G2Point;
}

export interface Committee {
  /** How many members an answer takes. */
  readonly threshold: number;
  readonly members: readonly CommitteeMember[];
}

type MemberAnswer = { readonly party: number } & (
  | { readonly keys: readonly GrantedKey[] }
  | { readonly refusal: KeyServerError }
);

/** Asks members until enough answers are right, and puts those together; it sees no key itself. */
export function aggregatorSource(committee: Committee): KeySource {
  return {
    grant: (request) => aggregate(committee, request),
    // An aggregator holds no key, so it has nothing to prove.
    describe: () => new Response("Unsupported", { status: 400 }),
  };
}

async function aggregate({ members, threshold }: Committee, request: FetchRequest): Promise<GrantedKey[]> {
  const granted: Extract<MemberAnswer, { keys: unknown }>[] = [];
  const refusals: KeyServerError[] = [];
  for (const member of members) {
    const answer = await askMember(member, request);
    if ("keys" in answer) granted.push(answer);
    else refusals.push(answer.refusal);
    if (granted.length === threshold) break;
    if (members.length - refusals.length < threshold) throw mostFrequent(refusals);
  }
  return request.approval.innerIds.map((_, at) => {
    const shares = granted.map(({ party, keys }): EncryptedShare => ({ party, key: keyAt(keys, at).key }));
    return { fullId: keyAt(granted[0]?.keys ?? [], at).fullId, key: combineShares(shares) };
  });
}

/** A member whose keys are not those of its share counts as one that failed. */
async function askMember(member: CommitteeMember, request: FetchRequest): Promise<MemberAnswer> {
  const { party } = member;
  try {
    const keys = await member.endpoint.ask(request);
    const session = request.session.verification;
    const right = keys.every(({ fullId, key }) => isEncryptionOf(key, fullId, member.publicKey, session));
    return right ? { party, keys } : { party, refusal: failure() };
  } catch (error) {
    return { party, refusal: error instanceof KeyServerError ? error : failure() };
  }
}

function mostFrequent(refusals: readonly KeyServerError[]): KeyServerError {
  const count = (error: KeyServerError): number => refusals.filter((other) => other.error === error.error).length;
  return refusals.reduce((most, next) => (count(next) > count(most) ? next : most), refusals[0] ?? failure());
}

function keyAt(keys: readonly GrantedKey[], at: number): GrantedKey {
  const key = keys[at];
  if (key === undefined) throw failure();
  return key;
}

function failure(): KeyServerError {
  return new KeyServerError("Failure", "Internal server error, please try again later");
}
