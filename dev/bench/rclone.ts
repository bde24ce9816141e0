/** rclone with a webdav server of its own: a client and a server that store files on this disk. */
import { mkdirSync } from "node:fs";
import { findProgram, secondsOf, startProgram, type Program } from "./machine.ts";

export interface Rclone extends Program {
  /** Runs the client; answers its seconds. `:webdav:PATH` is on the server. */
  run(words: readonly string[]): Promise<number>;
}

const NO_CONFIGURATION = ["--config", "/dev/null"];

/** `served`: a directory that is made, and filled by `fill` before the server reads it. */
export async function startRclone(served: string, fill?: (directory: string) => void): Promise<Rclone> {
  const program = findProgram("rclone") ?? "rclone";
  mkdirSync(served);
  fill?.(served);
  const serve = ["serve", "webdav", served, ...NO_CONFIGURATION];
  const server = await startProgram(program, (port) => [...serve, "--addr", `127.0.0.1:${String(port)}`]);
  return {
    ...server,
    run: (words) => secondsOf(program, [...words, "--webdav-url", server.baseUrl, ...NO_CONFIGURATION]),
  };
}
