/** What registries and hosts read of this package: server.json by the rules of its schema (2025-12-11). */
import { readFileSync } from "node:fs";
import * as z from "zod/mini";
import { describe, expect, it } from "vitest";
import { parseFlags } from "./flags.ts";

const read = (name: string): unknown => JSON.parse(readFileSync(new URL(`../${name}`, import.meta.url), "utf8"));
const manifest = read("package.json") as { name: string; version: string; mcpName: string };

const input = {
  description: z.optional(z.string()),
  format: z.optional(z.enum(["string", "number", "boolean", "filepath"])),
  isRequired: z.optional(z.boolean()),
  isSecret: z.optional(z.boolean()),
  choices: z.optional(z.array(z.string())),
  default: z.optional(z.string()),
};
const SERVER = z.strictObject({
  $schema: z.literal("https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"),
  name: z.string().check(z.maxLength(200), z.regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/)),
  title: z.string().check(z.minLength(1), z.maxLength(100)),
  description: z.string().check(z.minLength(1), z.maxLength(100)),
  version: z.string().check(z.regex(/^\d+\.\d+\.\d+$/)),
  packages: z.array(
    z.strictObject({
      registryType: z.literal("npm"),
      identifier: z.string(),
      version: z.string().check(z.regex(/^\d+\.\d+\.\d+$/)),
      transport: z.strictObject({ type: z.literal("stdio") }),
      packageArguments: z.array(
        z.strictObject({ type: z.literal("named"), name: z.string(), isRepeated: z.optional(z.boolean()), ...input }),
      ),
      environmentVariables: z.array(z.strictObject({ name: z.string(), ...input })),
    }),
  ),
});

describe("server.json", () => {
  const server = SERVER.parse(read("server.json"));
  const [npm] = server.packages;

  it("has the name and the versions of the package", () => {
    expect([server.name, server.version, npm?.identifier, npm?.version]).toEqual([
      ...[manifest.mcpName, manifest.version, manifest.name, manifest.version],
    ]);
  });

  it("names flags that the server takes, and marks what is secret", () => {
    const flags = (npm?.packageArguments ?? []).flatMap(({ name, choices }) => [name, choices?.[0] ?? "/a/folder"]);
    expect(parseFlags(flags, {}, "0").kind).toBe("serve");
    const variables = npm?.environmentVariables ?? [];
    const secret = variables.filter(({ name }) => /KEY/.test(name));
    expect(secret.map(({ name, isSecret }) => [name, isSecret])).toEqual([
      ["SERVICE_API_KEY", true],
      ["SERVICE_CHAIN_PRIVATE_KEY", true],
    ]);
  });
});
