/** Loaded on demand through here: under its own name, the module would also bring the SHA-2 that nobody uses. */
export { sha256 } from "@noble/hashes/sha2.js";
