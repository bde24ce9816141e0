/** The real Move VM, with the vault's package in it: what the local chain's interpreter is held against. */
export { testPackage } from "../../dev/scripts/move.ts";
