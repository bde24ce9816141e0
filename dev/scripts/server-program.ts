/** The server as one program with all that it imports: what a release holds, and what tests start as a process of its own. */
import { cpSync, globSync } from "node:fs";
import path from "node:path";
import type { Options } from "tsup";

/** Of a program with all that it imports: Node has few files to find and read then, and it needs no packages beside it. */
export const BUNDLED: Options = {
  format: "esm",
  platform: "node",
  noExternal: [/^[^.]/],
  clean: false,
  removeNodeProtocol: false,
  // For CommonJS packages in the bundle.
  banner: {
    js: 'import { createRequire as requireFrom } from "node:module";\nconst require = requireFrom(import.meta.url);',
  },
  esbuildOptions: (options) => {
    options.conditions = ["coffer-source"];
  },
};

/** A tsup build of the repository at `root`: `main.js` in this directory, with the texts that it reads beside itself. */
export function serverProgram(root: string, outDir: string): Options {
  return {
    ...BUNDLED,
    name: "coffer-server",
    entry: { main: path.join(root, "server/src/main.ts") },
    outDir,
    tsconfig: path.join(root, "tsconfig.json"),
    target: "node24",
    splitting: false,
    onSuccess: async () => {
      for (const text of globSync("server/src/schema/*.sql", { cwd: root }))
        cpSync(path.join(root, text), path.join(outDir, path.basename(text)));
    },
  };
}
