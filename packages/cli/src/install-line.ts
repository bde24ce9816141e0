/**
 * How agents get the program: a value of the owner's own profile, and of nothing else. A service that could name it would choose
 * what runs beside the agents' chain keys.
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { CommandFailure, usage } from "./failure.ts";
import { IS_ONE_FILE } from "./one-file.ts";
import type { World } from "./world.ts";

/** Where the file is, for an agent on this machine; where agents download it; or what they run to install `coffer`. */
export type InstallLine =
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "hosted"; readonly address: string; readonly sha256: string }
  | { readonly kind: "line"; readonly line: string };

const NAME = "coffer.mjs";
const LONGEST = 500;
const EXAMPLE = "coffer config set install-line https://example.com/coffer.mjs";
/** A digest in the fragment, as pip has them. */
const HOSTED = /^(?<address>https?:\/\/[^#\s'"]+)#sha256=(?<sha256>[0-9a-f]{64})$/;

/** What a profile says. */
export function parseInstallLine(text: string): InstallLine {
  const { address, sha256 } = HOSTED.exec(text)?.groups ?? {};
  if (address !== undefined && sha256 !== undefined) return { kind: "hosted", address, sha256 };
  return text.startsWith("file:") ? { kind: "file", path: fileURLToPath(text) } : { kind: "line", line: text };
}

/**
 * What a profile keeps of what its owner gave: an address with the SHA-256 of the owner's own copy, the file as an address, or the line.
 * It is printed into a text whose lines agents run, so it is one line.
 */
export async function describeInstallLine(value: string, world: World): Promise<string> {
  const text = value.trim();
  if (/\p{C}/u.test(text) || text.length > LONGEST)
    throw usage("It takes the address of the program, its path, or what installs it, in one line", EXAMPLE);
  if (/^https?:/.test(text)) return `${addressIn(text)}#sha256=${await digestOfOwnCopy(world)}`;
  if (text.startsWith("file:") || !text.endsWith(".mjs") || / -/.test(text)) return text;
  const path = resolve(world.workingDirectory, text);
  if (existsSync(path)) return pathToFileURL(path).href;
  throw new CommandFailure("file_not_found", { message: `There is no file ${path}`, nextStep: EXAMPLE });
}

function addressIn(text: string): string {
  const url = URL.parse(text.replace(/#sha256=[0-9a-f]{64}$/, ""));
  if (url === null || url.hash !== "" || url.username !== "" || url.password !== "" || /['"\s]/.test(url.href))
    throw usage("It takes the address of coffer.mjs, without a user and a fragment", EXAMPLE);
  return url.href;
}

/** This program, if it is the one file; else the one that was built with it. */
async function digestOfOwnCopy({ self }: World): Promise<string> {
  const script = self.args.at(-1) ?? "";
  const file = IS_ONE_FILE ? script : join(dirname(script), NAME);
  try {
    return createHash("sha256")
      .update(await readFile(file))
      .digest("hex");
  } catch (cause) {
    throw new CommandFailure("file_not_found", {
      message: `There is no ${file}, whose SHA-256 agents are to compare`,
      nextStep: `run this with the file that you host: node ${NAME} config set install-line ADDRESS`,
      cause,
    });
  }
}
