/** The chain's clock, named in full: it has the same id and was shared at the same version on every network of Sui. */
export const CLOCK = {
  objectId: `0x${"6".padStart(64, "0")}`,
  initialSharedVersion: "1",
  mutable: false,
} as const;
