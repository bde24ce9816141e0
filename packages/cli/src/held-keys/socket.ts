/** Where the process that holds vault keys is reached, and one question to it. */
import { createHash } from "node:crypto";
import { lstat } from "node:fs/promises";
import { createConnection } from "node:net";
import { dirname, join } from "node:path";
import type { Settings } from "@coffer/sdk/node";
import type { Environment } from "../world.ts";

/** Bytes of a question or an answer: 100 keys have 15 KiB. */
export const MOST_BYTES = 1024 * 1024;
/** It computes nothing: one that takes longer hangs, and the key servers answer as well. */
const PATIENCE_MS = 3_000;

/** Names are hex of SHA-256, keys are Base64. */
export type Question =
  | { readonly ask: "get"; readonly names: readonly string[] }
  | { readonly ask: "put"; readonly keys: Readonly<Record<string, string>> }
  /** Milliseconds since 1970. */
  | { readonly ask: "hold"; readonly until: number }
  | { readonly ask: "end" };

/**
 * One socket for each profile. It is in the user's own directory for such files, where the system has one. Else it is beside the
 * configuration.
 */
export function socketOf({ configFile, profile }: Pick<Settings, "configFile" | "profile">, env: Environment): string {
  const name = createHash("sha256").update(`${configFile}\0${profile}`).digest("hex").slice(0, 16);
  const runtime = env["XDG_RUNTIME_DIR"] ?? "";
  return join(runtime === "" ? dirname(configFile) : join(runtime, "coffer"), `keys-${name}.sock`);
}

/** Only this user can have made a socket there. */
export async function isOwnDirectory(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => null);
  return found !== null && found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o077) === 0;
}

/** null: nobody holds keys there, or does not answer as it should. */
export async function ask(socket: string, question: Question): Promise<Readonly<Record<string, unknown>> | null> {
  if (!(await isOwnDirectory(dirname(socket)))) return null;
  return await new Promise((resolve) => {
    const connection = createConnection(socket);
    let text = "";
    connection.setEncoding("utf8").setTimeout(PATIENCE_MS, () => connection.destroy());
    connection.on("data", (piece: string) => {
      text += piece;
      if (text.length > MOST_BYTES) connection.destroy();
    });
    connection.once("error", () => undefined);
    connection.once("end", () => resolve(objectIn(text)));
    connection.once("close", () => resolve(null));
    connection.end(`${JSON.stringify(question)}\n`);
  });
}

function objectIn(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? { ...value } : null;
  } catch {
    return null;
  }
}
