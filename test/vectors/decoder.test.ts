import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { encryptFile, newFilePlan } from "@coffer/crypto";
import { nodePlatform } from "@coffer/crypto/node";
import { describe, expect, it, type TestContext } from "vitest";
import { collect, patternBytes } from "../kit/bytes.ts";
import { makeDirectory } from "../kit/directory.ts";
import type { StatementVectors } from "./statement-vectors.ts";

const DECODER = new URL("../../examples/decode-file.py", import.meta.url).pathname;
const VECTORS = new URL("file-format/payload.json", import.meta.url).pathname;
/** Of statements, keys and names. */
const VAULT_DECODER = new URL("../../examples/decode-vault.py", import.meta.url).pathname;
const STATEMENTS = new URL("file-format/statements.json", import.meta.url).pathname;

/** Another language, another library, no line in common: the specification is enough to read our files. */
describe("the independent decoder", () => {
  const directory = makeDirectory();

  it("holds every vector of file-format §1 to §4", (context) => {
    requirePython(context);
    expect(python(DECODER, "--vectors", VECTORS).toString()).toMatch(/^\d\d+ vectors hold\n$/);
  });

  it("holds every vector of file-format §6 to §10 and §12: signatures, ends, records, statements, the ladder, exports", (context) => {
    requirePython(context);
    const { about: _about, people: _people, views: _views, ...checked } = JSON.parse(readFileSync(STATEMENTS, "utf8")) as StatementVectors;
    const count = Object.values(checked).reduce((sum, vectors) => sum + vectors.length, 0);
    expect(python(VAULT_DECODER, "--vectors", STATEMENTS).toString()).toBe(`${count} vectors hold\n`);
  });

  it("opens new files given their data key, and refuses one that was cut", async (context) => {
    requirePython(context);
    for (const [size, padded] of [
      [100_000, false],
      [50_000, true],
    ] as const) {
      const content = patternBytes(`decoder ${size}`, size);
      const { file, key } = await encrypt(content, padded);
      const path = join(directory, "file");
      writeFileSync(path, file);
      expect(python(DECODER, path, key)).toEqual(content);
      writeFileSync(path, file.subarray(0, -1));
      expect(() => python(DECODER, path, key)).toThrow("refused: damaged at chunks");
    }
  });
});

async function encrypt(content: Uint8Array, padded: boolean) {
  let key = "";
  const plan = await newFilePlan(nodePlatform, {
    fileId: "01890a5d-ac96-774b-bcce-b302099a8057",
    versionId: "01890a5d-ac96-774b-bcce-b302099a8058",
    contentSize: content.length,
    padded,
    envelopeOf: ({ dataKey }) => {
      key = Buffer.from(dataKey.reveal()).toString("hex");
      return new Uint8Array(200);
    },
  });
  return { file: await collect(encryptFile(plan, content)), key };
}

/** Never a gate: a machine without Python says so and goes on. */
function requirePython(context: TestContext): void {
  try {
    python("-c", "from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand");
  } catch {
    context.skip("python3 with the package cryptography is not installed (Debian: apt-get install python3-cryptography)");
  }
}

function python(...words: readonly string[]): Buffer {
  return execFileSync("python3", words, { stdio: ["ignore", "pipe", "pipe"], maxBuffer: 16 * 1024 * 1024 });
}
