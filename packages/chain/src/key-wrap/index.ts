export type { VaultLocation, VaultObjects } from "./approval.ts";
export type { KeyServerStatus } from "./key-server-status.ts";
export { isSealedForWriting } from "./sealed-key.ts";
export { sealVaultKeyWrap, type SealKeyWrap, type SealKeyWrapOptions } from "./seal-key-wrap.ts";
