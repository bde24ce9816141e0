/** Opcodes that the vault does not use, or never with odd numbers: the interpreter against the real Move VM. */
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fromBase64 } from "@mysten/bcs";
import {
  dumpMovePackage,
  initMovePackageBuilder,
  MovePackageFetcher,
  testMovePackage,
} from "@zktx.io/sui-move-builder/full";
import fc from "fast-check";
import { beforeAll, expect, it } from "vitest";
import { MoveAbortError, MovePrimitiveError } from "./errors.ts";
import { GasMeter } from "./gas-meter.ts";
import { Machine } from "./machine.ts";
import { type MoveModule, readModule } from "./module.ts";
import type { IntegerBits, MoveType } from "./types.ts";
import { asInteger, asVector, bytesValue, integer, type MoveValue } from "./values.ts";

const CASES = process.env["COFFER_TEST_COUNTS"] === "full" ? 1500 : 150;
const FRAMEWORK = path.join(import.meta.dirname, "../../../../packages/chain/move/framework");
const WIDTHS: readonly IntegerBits[] = [8, 16, 32, 64, 128, 256];
const OPERATORS = ["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"];
const COMPARISONS = ["<", ">", "<=", ">=", "==", "!="];

/** One function for each operator and width. */
function numbersModule(): string {
  const functions = WIDTHS.flatMap((bits) => [
    ...OPERATORS.map((operator, at) => {
      // A distance is a byte.
      const b = operator.length === 2 && bits !== 8 ? "(b % 256 as u8)" : "b";
      return `public fun op${at}_u${bits}(a: u${bits}, b: u${bits}): u${bits} { a ${operator} ${b} }`;
    }),
    ...COMPARISONS.map((sign, at) => `public fun cmp${at}_u${bits}(a: u${bits}, b: u${bits}): bool { a ${sign} b }`),
    ...WIDTHS.map((to) => `public fun cast${to}_u${bits}(a: u${bits}, _b: u${bits}): u${to} { a as u${to} }`),
  ]);
  return `module tried::numbers;\n${functions.join("\n")}`;
}

class LocalFramework extends MovePackageFetcher {
  override fetchLocal = async (directory: string): Promise<Record<string, string>> => {
    const name = path.basename(directory);
    const root = path.join(FRAMEWORK, name);
    const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((file) =>
      /\.(move|toml)$/.test(file),
    );
    return Object.fromEntries(files.map((file) => [file, readFileSync(path.join(root, file), "utf8")]));
  };
}

const SOURCES = {
  "Move.toml": `[package]\nname = "probe"\nedition = "2024"\n[dependencies]\nSui = { local = "../framework/sui" }\n[addresses]\ntried = "0x0"\n`,
  "sources/probe.move": readFileSync(path.join(import.meta.dirname, "probe.move"), "utf8"),
  "sources/numbers.move": numbersModule(),
};
const input = (files: Record<string, string>) =>
  ({ files, fetcher: new LocalFramework(), network: "testnet", ansiColor: false }) as const;

let modules: MoveModule[];
beforeAll(async () => {
  const entry = createRequire(import.meta.url).resolve("@zktx.io/sui-move-builder/full");
  await initMovePackageBuilder({ wasm: readFileSync(path.join(path.dirname(entry), "sui_move_wasm_bg.wasm")) });
  const built = await dumpMovePackage(input(SOURCES));
  if ("error" in built) throw new Error(built.error);
  modules = built.modules.map((module) => readModule(fromBase64(module)));
});

interface Call {
  readonly module: "numbers" | "probe";
  readonly name: string;
  readonly values: readonly MoveValue[];
}

/** Numbers at the edges of a width as often as any other. */
const numberOf = (bits: IntegerBits) =>
  fc.oneof(
    fc.bigInt({ min: 0n, max: (1n << BigInt(bits)) - 1n }),
    fc.constantFrom(0n, 1n, 2n, 7n, 8n, (1n << BigInt(bits)) - 1n, 1n << BigInt(bits - 1), BigInt(Math.min(bits, 255))),
  );
const numbers: fc.Arbitrary<Call> = fc.constantFrom(...WIDTHS).chain((bits) =>
  fc
    .record({
      of: fc.constantFrom(
        ...OPERATORS.map((_, at) => `op${at}`),
        ...COMPARISONS.map((_, at) => `cmp${at}`),
        ...WIDTHS.map((to) => `cast${to}`),
      ),
      a: numberOf(bits),
      b: numberOf(bits),
    })
    .map(({ of, a, b }) => ({
      module: "numbers",
      name: `${of}_u${bits}`,
      values: [integer(bits, a), integer(bits, b)],
    })),
);
const bytes = fc.uint8Array({ maxLength: 12 }).map(bytesValue);
const small = fc.oneof(fc.nat(20).map(BigInt), numberOf(64)).map((value) => integer(64, value));
const probe: fc.Arbitrary<Call> = fc.oneof(
  fc.tuple(fc.nat(2), small, small).map(([kind, a, b]) => ({
    module: "probe" as const,
    name: "shape",
    values: [integer(8, BigInt(kind)), a, b],
  })),
  bytes.map((acts) => ({ module: "probe" as const, name: "play", values: [acts] })),
  fc.tuple(small, bytes).map((values) => ({ module: "probe" as const, name: "turn", values })),
);

it("computes what the Move VM computes, and fails where it fails", async () => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  const calls = fc.sample(fc.oneof(numbers, numbers, probe), { numRuns: CASES, seed });
  const tests = calls.map(testOf);
  const source = `#[test_only]\nmodule tried::calls;\nuse tried::numbers;\nuse tried::probe;\n${tests.join("\n")}`;
  const tested = await testMovePackage(input({ ...SOURCES, "tests/calls.move": source }));
  if ("error" in tested) throw new Error(tested.error);
  expect(tested.passed, `seed ${seed}\n${tested.output.slice(-4000)}`).toBe(true);
  expect(tested.output).toContain(`Total tests: ${CASES};`);
  expect(tests.filter((test) => test.includes("expected_failure")).length).toBeGreaterThan(CASES / 50);
});

function testOf({ module: name, name: of, values }: Call, at: number): string {
  const module = modules.find((candidate) => candidate.name === name)!;
  const called = module.functions.find((candidate) => candidate.name === of)!;
  const call = `${name}::${of}(${values.map(literal).join(", ")})`;
  const machine = new Machine({
    findModule: () => null,
    callFramework: () => {
      throw new Error("the probe calls no framework");
    },
    gas: new GasMeter(5_000_000),
  });
  try {
    const returned = machine.run(module, called, [], values);
    const names = returned.map((_, index) => `r${index}`);
    const checks = returned.map((value, index) => `assert!(r${index} == ${literalOf(value, called.returns[index]!)});`);
    return `#[test] fun case_${at}() { let (${names.join(", ")}) = ${call}; ${checks.join(" ")} }`;
  } catch (error) {
    const unused = called.returns.map(() => "_").join(", ");
    return `#[test, expected_failure(${failure(error)}, location = tried::${name})] fun case_${at}() { let (${unused}) = ${call}; }`;
  }
}

function failure(error: unknown): string {
  if (error instanceof MoveAbortError) return `abort_code = ${error.code}`;
  if (!(error instanceof MovePrimitiveError)) throw error;
  const status = VECTOR_ERRORS.findIndex((words) => error.message.includes(words));
  return status < 0 ? "arithmetic_error" : `vector_error, minor_status = ${status + 1}`;
}

/** In the order of the Move VM's minor statuses. */
const VECTOR_ERRORS = ["outside of the vector", "vector is empty", "vector is of another length"];

function literal(value: MoveValue): string {
  if (typeof value === "object" && value.kind === "vector") {
    return `x"${Buffer.from(value.items.map((item) => Number(asInteger(item).value))).toString("hex")}"`;
  }
  const { value: number, bits } = asInteger(value);
  return `${number}u${bits}`;
}

/** An empty vector does not tell of what. */
function literalOf(value: MoveValue, type: MoveType): string {
  if (typeof value === "boolean") return String(value);
  if (type.kind !== "vector" || (type.element.kind === "integer" && type.element.bits === 8)) return literal(value);
  return `vector<u64>[${asVector(value).items.map(literal).join(", ")}]`;
}
