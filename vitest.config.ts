import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: { conditions: ["coffer-source"] },
  ssr: { resolve: { conditions: ["coffer-source"] } },
  test: {
    include: ["packages/*/src/**/*.test.ts", "server/src/**/*.test.ts", "test/**/*.test.ts"],
    exclude: ["**/node_modules/**", "**/dist/**"],
    pool: "forks",
    execArgv: ["--conditions=coffer-source"],
    testTimeout: 20_000,
    hookTimeout: 20_000,
  },
});
