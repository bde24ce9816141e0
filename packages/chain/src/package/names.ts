/** The module's name, and its types are `<package>::vault::<name>`. */
export const MODULE = "vault";

/** The module's entry functions (encryption design §3), by their names in transactions. */
export const FUNCTIONS = {
  create: "create",
  add: "add",
  extend: "extend",
  shorten: "shorten",
  remove: "remove",
  leave: "leave",
  setSigningKey: "set_signing_key",
  renew: "renew",
  sweep: "sweep",
  offerOwnership: "offer_ownership",
  withdrawOffer: "withdraw_offer",
  acceptOwnership: "accept_ownership",
  raiseFloor: "raise_floor",
  sealApprove: "seal_approve",
} as const;

export type FunctionName = (typeof FUNCTIONS)[keyof typeof FUNCTIONS];

/** Why the module aborts: its constants, which test/move compares with the source. */
export const ABORT_CODES = {
  ENotOwner: 1,
  ENotMember: 2,
  EAlreadyMember: 3,
  EIsOwner: 4,
  EMembersFull: 5,
  EBadSigningKey: 6,
  ENotOffered: 7,
  EFloorAboveGeneration: 8,
  EFloorLowered: 9,
  EBadIdentity: 10,
  EOtherVault: 11,
  ELaterGeneration: 12,
  ENoAccess: 13,
  ETooManyKeys: 14,
  EBadEnd: 15,
  EEnded: 16,
  ELaterEnd: 17,
  ENotLast: 18,
  EOtherKey: 19,
} as const;

export type AbortName = keyof typeof ABORT_CODES;

/** The constant behind an abort code of the module, or null for a code it does not have. */
export function abortName(code: number | bigint): AbortName | null {
  const entries = Object.entries(ABORT_CODES) as [AbortName, number][];
  return entries.find(([, value]) => value === Number(code))?.[0] ?? null;
}
