import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const SOURCE = fileURLToPath(new URL(".", import.meta.url));
/** The only files that may know the protocol library, and those that reach it through them. */
const PROTOCOL = [
  "apps.ts",
  "call-factory.ts",
  "confirm.ts",
  "event-store.ts",
  "http.ts",
  "legacy-connections.ts",
  "prompts.ts",
  "resources.ts",
  "roots.ts",
  "server.ts",
  "skill.ts",
  "stdio.ts",
];

async function importsOf(file: string): Promise<string[]> {
  const text = await readFile(join(SOURCE, file), "utf8");
  return [...text.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)].map((match) => match[1] ?? "");
}

describe("the protocol library [D0-registry-library-free]", () => {
  it("is imported by the binding alone", async () => {
    const files = (await readdir(SOURCE, { recursive: true })).filter(
      (name) => name.endsWith(".ts") && !name.endsWith(".test.ts"),
    );
    expect(files.length).toBeGreaterThan(20);
    const users: string[] = [];
    for (const file of files)
      if ((await importsOf(file)).some((name) => name.startsWith("@modelcontextprotocol/"))) users.push(file);
    expect(users.toSorted()).toEqual(PROTOCOL);
  });

  it("is one copy in the whole tree", async () => {
    const root = join(SOURCE, "..", "..", "..");
    const lock = JSON.parse(await readFile(join(root, "package-lock.json"), "utf8")) as { packages: object };
    const copies = Object.keys(lock.packages).filter((path) =>
      path.endsWith("node_modules/@modelcontextprotocol/server"),
    );
    expect(copies).toEqual(["node_modules/@modelcontextprotocol/server"]);
  });

  it("is not reached from the registry and the shaping of results", async () => {
    const seen = new Set<string>();
    const waiting = ["registry.ts", "result.ts"];
    for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
      if (seen.has(file)) continue;
      seen.add(file);
      const folder = join(file, "..");
      waiting.push(...(await importsOf(file)).filter((name) => name.startsWith(".")).map((name) => join(folder, name)));
    }
    expect(seen.size).toBeGreaterThan(15);
    expect([...seen].filter((file) => PROTOCOL.includes(file))).toEqual([]);
  });
});
