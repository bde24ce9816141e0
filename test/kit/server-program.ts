/** The built server as a process of its own: what an operator runs, and what the set-up builds of the present sources. */
import { fileURLToPath } from "node:url";

export const SERVER_MAIN = fileURLToPath(new URL("../../server/dist/program/main.js", import.meta.url));

/** The program and the arguments before those of `coffer-server`. */
export const SERVER: readonly [string, ...string[]] = [process.execPath, SERVER_MAIN];
