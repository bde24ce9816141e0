import { defineConfig, globalIgnores } from "eslint/config";
import tseslint from "typescript-eslint";

const TESTS = ["**/*.test.ts", "test/**/*.ts"];

/** A test that is switched off looks like a test that passed; the runner prints what a test skips at run time, with its reason. */
const SWITCHED_OFF_TESTS = {
  selector:
    "MemberExpression[object.name=/^(it|test|describe|suite|bench)$/][property.name=/^(only|skip|todo|fails|skipIf|runIf)$/]",
  message:
    "Do not switch tests off in the source: call context.skip(reason) at run time, so that the reason is printed.",
};

/** zod/mini costs a browser bundle 4 KiB where classic zod costs 91 KiB (both gzipped). */
const CLASSIC_ZOD = {
  paths: [{ name: "zod", message: 'Import * as z from "zod/mini".' }],
  patterns: [{ group: ["**/dist/**"], message: "Import the source by its workspace name, never its build." }],
};

/** The entries of programs, which pass the environment on, and what looks for the programs of engines. Everything else is given its settings. */
const ENVIRONMENT_READERS = [
  "server/src/{config,main}.ts",
  "packages/sdk/src/node/{config,settings}.ts",
  "packages/{mcp,cli}/src/process.ts",
  "dev/{devstack,localnet}/src/{start,main}.ts",
  "dev/devstack/src/engines/**",
  // It starts the tool server as a program, with the few variables that a program needs.
  "dev/devstack/src/tool-client.ts",
];

export default defineConfig(
  globalIgnores(["**/dist/", "**/node_modules/", "docs/generated/", ".coffer/"]),
  // "No eslint-disable": a rule that is wrong here is changed here, where everyone sees it.
  { linterOptions: { noInlineConfig: true, reportUnusedDisableDirectives: "error" } },
  {
    files: ["**/*.ts"],
    extends: [tseslint.configs.strictTypeChecked],
    // One program for all files. `projectService` is made for editors, and takes longer.
    languageOptions: { parserOptions: { project: "tsconfig.json", tsconfigRootDir: import.meta.dirname } },
    rules: {
      "no-restricted-syntax": ["error", SWITCHED_OFF_TESTS],
      "no-restricted-imports": ["error", CLASSIC_ZOD],
      "no-debugger": "error",
      "no-eval": "error",
      "no-self-compare": "error",
      "no-unsafe-finally": "error",
      "no-constant-binary-expression": "error",
      "no-cond-assign": "error",
      "no-fallthrough": "error",
      "no-sparse-arrays": "error",
      "no-unsafe-optional-chaining": "error",
      "require-yield": "error",
      "use-isnan": "error",
      "valid-typeof": "error",
      eqeqeq: ["error", "always", { null: "ignore" }],
      // An interface of its own is a name that an editor shows.
      "@typescript-eslint/no-empty-object-type": ["error", { allowInterfaces: "with-single-extends" }],
      "@typescript-eslint/switch-exhaustiveness-check": ["error", { considerDefaultExhaustiveForUnions: true }],
      "@typescript-eslint/consistent-type-imports": ["error", { fixStyle: "inline-type-imports" }],
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true, allowBoolean: true }],
      "@typescript-eslint/no-confusing-void-expression": "off",
      // The driver calls the first for providers on loopback only. The second is of the older protocol revisions, which are served too.
      "@typescript-eslint/no-deprecated": [
        "error",
        {
          allow: [
            { from: "package", package: "openid-client", name: "allowInsecureRequests" },
            { from: "package", package: "@modelcontextprotocol/server", name: "log" },
          ],
        },
      ],
      // Types say what Node has and what a well-formed answer holds; code for browsers and for the edge asks all the same.
      "@typescript-eslint/no-unnecessary-condition": "off",
      // An event emitter ignores what its listener returns; the promise inside is still held by no-floating-promises.
      "@typescript-eslint/no-misused-promises": [
        "error",
        { checksVoidReturn: { arguments: false, properties: false } },
      ],
      // Drivers implement asynchronous ports, some of them without waiting for anything.
      "@typescript-eslint/require-await": "off",
      // Generic helpers of the contract bind a type parameter once on purpose: it is inferred from the argument.
      "@typescript-eslint/no-unnecessary-type-parameters": "off",
      "@typescript-eslint/no-generated-empty-object-type": "off",
      // `erasableSyntaxOnly` leaves no enums; looking for them takes a tenth of the linter's time.
      "@typescript-eslint/no-unsafe-enum-assignment": "off",
      // Said on purpose in signatures: which of two outcomes has no value, which default a reader need not look up.
      "@typescript-eslint/no-invalid-void-type": "off",
      "@typescript-eslint/no-unnecessary-type-arguments": "off",
    },
  },
  {
    files: ["packages/*/src/**/*.ts", "dev/{devstack,localnet}/src/**/*.ts", "server/src/**/*.ts"],
    ignores: [...TESTS, "**/*.test-kit.ts", "**/live-service.ts", ...ENVIRONMENT_READERS],
    rules: {
      "no-restricted-properties": [
        "error",
        { object: "process", property: "env", message: "Take settings as arguments." },
      ],
    },
  },
  {
    // Assertions look at parsed JSON and at matchers that are typed any; a forgotten await is still an error here.
    files: TESTS,
    rules: {
      "@typescript-eslint/no-non-null-assertion": "off",
      "@typescript-eslint/no-misused-spread": "off",
      "@typescript-eslint/no-unsafe-assignment": "off",
      "@typescript-eslint/no-unsafe-member-access": "off",
      "@typescript-eslint/no-unsafe-argument": "off",
      "@typescript-eslint/no-unsafe-return": "off",
    },
  },
  {
    // They take methods off their prototypes and put others there, which call them on the same object.
    files: ["test/kit/scan/tap-*.ts"],
    rules: { "@typescript-eslint/unbound-method": "off" },
  },
  {
    files: ["**/*.js", "**/*.mjs", "**/*.cjs"],
    extends: [tseslint.configs.base],
    rules: { "no-unused-vars": "error", "no-undef": "off", eqeqeq: "error" },
  },
);
