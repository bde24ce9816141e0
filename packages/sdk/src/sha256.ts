/** Loaded on demand through here: asked for by its own name, the module would bring the SHA-2 that nobody uses along. */
export { sha256 } from "@noble/hashes/sha2.js";
