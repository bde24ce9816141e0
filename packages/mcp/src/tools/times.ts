/** How tools take times, in words for a model that pays for each: every form once. A refusal says it at length. */

/** Bounds of lists and rewinds. */
export const LOOKS_BACK =
  "looks back: 2h (mhdwy), 17:00, today, yesterday, friday, 2026-11-20 (its start) or …T17:00+01:00; UTC";

/** Ends of access. */
export const LOOKS_FORWARD =
  "looks forward: 3d (mhdwy), 17:00, today, tomorrow, friday, 2026-11-20 (its end) or …T17:00+01:00; UTC";
