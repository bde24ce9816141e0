/**
 * `@coffer/cli`: the command line. The program is `dist/main.js`; this runs one line of it in a world that you give.
 * @packageDocumentation
 */
export { EXIT, type ExitCode } from "./exit-codes.ts";
export { runCoffer } from "./run.ts";
export type { Environment, InputStream, OutputStream, Program, World } from "./world.ts";
