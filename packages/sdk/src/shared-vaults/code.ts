/** The code of shared vaults. The rest of the SDK loads it as one, because it needs `@coffer/chain`. */
export * from "./content/encrypted-download.ts";
export * from "./content/past-versions.ts";
export * from "./content/encrypted-codec.ts";
export * from "./content/shared-commit.ts";
export * from "./deletion-proof.ts";
export * from "./export/export.ts";
export * from "./export/open-export.ts";
export * from "./names/item-changes.ts";
export * from "./names/name-query.ts";
export * from "./names/name-reader.ts";
export * from "./names/bulk-changes.ts";
export * from "./names/entry-history.ts";
export * from "./names/vault-finder.ts";
export * from "./network-check.ts";
export * from "./vault-calls.ts";
export * from "./client-vaults.ts";
export * from "../search/local-indexes.ts";
