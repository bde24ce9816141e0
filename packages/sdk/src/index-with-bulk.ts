/** `@coffer/sdk` where size does not matter: Node, and the sources. */
import "./bulk.ts";
export * from "./index.ts";
