/**
 * The interpreter against the real Move VM: random acts on a vault are run here; what they did becomes unit tests for the VM
 * (as extensions of the module), which compare the complete BCS state after every act, and how the last one aborted.
 */
import { fromBase64 } from "@mysten/bcs";
import { MODULES } from "@coffer/chain/package";
import fc from "fast-check";
import { expect, it } from "vitest";
import { testPackage } from "../../../../test/kit/move-vm.ts";
import { encodeValue } from "./bcs-values.ts";
import { MoveAbortError, MovePrimitiveError } from "./errors.ts";
import { contextValue, frameworkFor, uid } from "./framework.ts";
import { INSTRUCTIONS } from "./instructions/index.ts";
import { type Layouts, layoutsOf } from "./layouts.ts";
import { GasMeter } from "./gas-meter.ts";
import { Machine } from "./machine.ts";
import { type MoveModule, readModule } from "./module.ts";
import type { MoveType } from "./types.ts";
import { asInteger, asStruct, asVector, bytesValue, copyOf, integer, type MoveValue } from "./values.ts";
import type { Step } from "./frame.ts";

/** The end of a membership that has none. */
const NO_END = (1n << 64n) - 1n;

const SEQUENCES = process.env["COFFER_TEST_COUNTS"] === "full" ? 60 : 8;

/** Who acts: the owner of the moment, or one of a few. */
type Who = number | "owner";

type Named = "right" | "last" | "before" | "other";

/** `now` is the clock's time, in quarters of an hour; -1 as an end is none. Acts of one transaction have one number. */
type Act = { readonly by: Who; readonly now: number; readonly transaction?: number } & (
  | {
      readonly name: "add" | "extend" | "shorten" | "remove" | "offer_ownership";
      readonly whom: number;
      readonly key: number;
      readonly end: number;
      /** Which act before it the act names; absent: the one that it must name. */
      readonly last?: Named;
    }
  | { readonly name: "leave" | "set_signing_key" | "accept_ownership"; readonly key: number; readonly old?: number }
  | { readonly name: "renew" | "sweep" | "withdraw_offer" }
  | { readonly name: "raise_floor"; readonly floor: number }
  | { readonly name: "seal_approve"; readonly id: readonly number[]; readonly at: number }
);

const QUARTER = 900_000;
const TIMELESS: ReadonlySet<string> = new Set(["offer_ownership", "withdraw_offer", "sweep", "raise_floor"]);

const who = fc.oneof({ weight: 3, arbitrary: fc.constant("owner" as const) }, { weight: 2, arbitrary: fc.nat(4) });
const key = fc.constantFrom(0, 0, 1, 2, 3, -1);
const u64 = (value: number): number[] =>
  Array.from({ length: 8 }, (_, at) => Math.floor(value / 256 ** (7 - at)) % 256);
/** The vault's id or another's, a generation up to 4, an end, and whatever length comes of it. */
const identity = fc
  .tuple(fc.constantFrom(1, 1, 1, 2), fc.nat(4), fc.constantFrom(0, 0, 1, 2, 1.5), fc.constantFrom(16, 16, 16, 15))
  .map(([last, generation, after, nonce]) => [
    ...[...new Array<number>(31).fill(0), last],
    ...[...u64(generation), ...u64(after * QUARTER), ...new Array<number>(nonce).fill(7)],
  ]);
const by = who;
/** Time passes, and some nodes are behind. */
const now = fc.constantFrom(0, 0, 1, 2, 3);
const end = fc.constantFrom(-1, 1, 2, 3, 4, 1.5);
const last = fc.constantFrom<Named>("right", "right", "right", "right", "last", "before", "other");
const transaction = fc.nat(5);
const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      name: fc.constantFrom("add", "add", "extend", "shorten", "remove", "offer_ownership"),
      whom: fc.nat(4),
      key,
      end,
      last,
      by,
      now,
      transaction,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      name: fc.constantFrom("leave", "set_signing_key", "accept_ownership"),
      key,
      old: key,
      by,
      now,
      transaction,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ name: fc.constantFrom("renew", "sweep", "withdraw_offer"), by, now, transaction }),
  },
  { weight: 1, arbitrary: fc.record({ name: fc.constant("raise_floor"), floor: fc.nat(5), by, now, transaction }) },
  { weight: 2, arbitrary: fc.record({ name: fc.constant("seal_approve"), id: identity, at: fc.nat(3), by, now }) },
);
const sequence = fc.record({
  acts: fc.array(act, { minLength: 12, maxLength: 24 }),
  stopAt: fc.integer({ min: 2, max: 8 }),
});

const addressOf = (index: number) => `0x${(0xa1 + index).toString(16).padStart(64, "0")}`;
/** As the framework's interface makes the digest of a transaction. */
const digestOf = (transaction: number) => new Uint8Array(32).fill(transaction);
const keyBytes = (of: number) => (of < 0 ? Uint8Array.of(1, 2, 3) : new Uint8Array(of === 0 ? 0 : 32).fill(of));
const move = (bytes: Uint8Array) => `x"${Buffer.from(bytes).toString("hex")}"`;

/** Whatever chance draws, these are done, and the last one is refused. */
const STRAIGHT: readonly Act[] = [
  { name: "add", whom: 1, key: 2, end: -1, by: "owner", now: 0 },
  { name: "set_signing_key", key: 3, old: 1, by: "owner", now: 0 },
  { name: "add", whom: 2, key: 0, end: 2, by: "owner", now: 0 },
  { name: "add", whom: 3, key: 1, end: 1, by: "owner", now: 0 },
  { name: "extend", whom: 2, key: 0, end: 3, by: "owner", now: 1, transaction: 1 },
  { name: "shorten", whom: 2, key: 0, end: 3, by: "owner", now: 1, transaction: 1 },
  { name: "shorten", whom: 1, key: 0, end: 4, by: "owner", now: 1, transaction: 2 },
  { name: "renew", by: "owner", now: 1 },
  { name: "sweep", by: 1, now: 1 },
  { name: "add", whom: 3, key: 1, end: 2, by: "owner", now: 1 },
  { name: "remove", whom: 2, key: 0, end: 0, by: "owner", now: 2 },
  { name: "add", whom: 3, key: 1, end: -1, by: "owner", now: 2 },
  { name: "raise_floor", floor: 1, by: "owner", now: 0 },
  { name: "offer_ownership", whom: 1, key: 0, end: 0, by: "owner", now: 0 },
  { name: "withdraw_offer", by: "owner", now: 0, transaction: 3 },
  { name: "offer_ownership", whom: 1, key: 0, end: 0, by: "owner", now: 0, transaction: 4 },
  { name: "accept_ownership", key: 2, old: 2, by: 1, now: 2, transaction: 5 },
  { name: "raise_floor", floor: 2, by: 4, now: 0 },
];

it("does what the Move VM does, in state and in aborts", async () => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  const drawn = fc.sample(sequence, { numRuns: SEQUENCES - 1, seed });
  const samples = [{ acts: STRAIGHT, stopAt: 0 }, ...drawn];
  const runs = samples.map((sample, at) => playIn(INSTRUCTIONS, sample, at));
  const { passed, output } = await testPackage(extensionOf(runs));
  expect(passed, `seed ${seed}\n${output}`).toBe(true);
  expect(output).toContain(`Total tests: ${SEQUENCES};`);
  // One for the new vault, and one for each that is done: acts that are all refused would show nothing.
  expect(runs[0]!.match(/assert!/g)).toHaveLength(STRAIGHT.length);
  expect(runs[0]).toContain("#[expected_failure(abort_code");
});

it("would notice one opcode that is wrong", async () => {
  const lessThan: Step = INSTRUCTIONS["Lt"]!;
  const broken = { ...INSTRUCTIONS, Le: lessThan };
  const upTo: Act[] = [{ name: "raise_floor", floor: 1, by: "owner", now: 0 }];
  expect((await testPackage(extensionOf([playIn(INSTRUCTIONS, { acts: upTo, stopAt: 0 }, 0)]))).passed).toBe(true);
  const wrong = await testPackage(extensionOf([playIn(broken, { acts: upTo, stopAt: 0 }, 0)]));
  expect(wrong.passed).toBe(false);
  expect(wrong.output).toContain("failed: 1");
});

function extensionOf(tests: readonly string[]): string {
  return `#[test_only]\nextend module coffer::vault;\nuse sui::clock;\nuse sui::tx_context::{from_sender, from_transaction};\n${tests.join("\n")}`;
}

/** Runs the acts here and writes the test. An act that is refused ends it, once `stopAt` were left out before. */
function playIn(
  instructions: Readonly<Record<string, Step>>,
  { acts, stopAt }: { acts: readonly Act[]; stopAt: number },
  at: number,
) {
  const game = new Game(instructions);
  const lines = [`let mut v = new(${move(keyBytes(1))}, false, &mut from_sender(@${addressOf(0)}));`, game.assertion()];
  lines.unshift(`let mut clock = clock::create_for_testing(&mut from_sender(@${addressOf(9)}));`);
  let refused = 0;
  let expected = "";
  for (const next of acts) {
    const by = next.by === "owner" ? game.owner() : addressOf(next.by);
    const call = callOf(next, by, game);
    const outcome = game.act(next, by);
    if (outcome === null) {
      lines.push(call, game.assertion());
      continue;
    }
    refused += 1;
    if (refused <= stopAt) continue;
    lines.push(call);
    expected = `#[expected_failure(${outcome}, location = coffer::vault)]\n`;
    break;
  }
  lines.push("std::unit_test::destroy(v);", "std::unit_test::destroy(clock);");
  return `#[test]\n${expected}fun sequence_${at}() {\n${lines.join("\n")}\n}`;
}

/** As the game is before the act. */
function callOf(next: Act, by: string, game: Game): string {
  const set = `clock.set_for_testing(${String(next.now * QUARTER)});`;
  const context = `&from_transaction(@${by}, ${String(next.transaction ?? 0)})`;
  const behind = [...(TIMELESS.has(next.name) ? [] : ["&clock"]), context];
  const call = (...more: string[]) => `${set} ${next.name}(${["&mut v", ...more, ...behind].join(", ")});`;
  switch (next.name) {
    case "add":
      return call(
        `@${addressOf(next.whom)}`,
        move(keyBytes(next.key)),
        String(endOf(next.end)),
        move(game.named(next)),
      );
    case "extend":
      return call(`@${addressOf(next.whom)}`, String(endOf(next.end)), move(game.named(next)));
    case "shorten":
      return call(`@${addressOf(next.whom)}`, String(endOf(next.end)));
    case "offer_ownership":
      return call(`@${addressOf(next.whom)}`, move(game.named(next)));
    case "remove":
      return call(`@${addressOf(next.whom)}`);
    case "leave":
    case "renew":
    case "sweep":
    case "withdraw_offer":
      return call();
    case "raise_floor":
      return call(String(next.floor));
    case "seal_approve":
      return `${set} seal_approve(${[move(Uint8Array.from(next.id)), "&v", next.at, ...behind].join(", ")});`;
    default:
      return call(move(keyBytes(next.key)), move(keyBytes(next.old ?? 0)));
  }
}

function endOf(end: number): bigint {
  return end < 0 ? NO_END : BigInt(end * QUARTER);
}

/** One vault in the interpreter. */
class Game {
  readonly #module: MoveModule = readModule(fromBase64(MODULES[0]!));
  readonly #layouts: Layouts;
  readonly #instructions: Readonly<Record<string, Step>>;
  readonly #box: MoveValue[];
  readonly #type: MoveType;

  constructor(instructions: Readonly<Record<string, Step>>) {
    this.#instructions = instructions;
    this.#layouts = layoutsOf((address, name) =>
      address === this.#module.address && name === this.#module.name ? this.#module : null,
    );
    this.#type = { kind: "datatype", address: this.#module.address, module: "vault", name: "Vault", typeArguments: [] };
    const context = reference(contextValue(addressOf(0), digestOf(0)));
    this.#box = [...this.#run("new", [bytesValue(keyBytes(1)), false, context])];
  }

  /** What an act that gives a right names: in a transaction that has acted already, the act before that. */
  named({
    last: which = "right",
    transaction = 0,
  }: {
    readonly last?: Named;
    readonly transaction?: number;
  }): Uint8Array {
    const { fields } = asStruct(this.#box[0]!);
    const bytesAt = (at: number): Uint8Array =>
      Uint8Array.from(asVector(fields.at(at)!).items, (item) => Number(asInteger(item).value));
    const [last, before] = [bytesAt(-2), bytesAt(-1)];
    const right = last[0] === transaction ? before : last;
    return { right, last, before, other: digestOf(99) }[which];
  }

  /** The owner's address in the vault's state. */
  owner(): string {
    const owner = asStruct(asStruct(this.#box[0]!).fields[5]!);
    return owner.fields[0] as string;
  }

  assertion(): string {
    return `assert!(std::bcs::to_bytes(&v) == ${move(encodeValue(this.#box[0]!, this.#type, this.#layouts))}, 99);`;
  }

  /** Null when it was done; else how it was refused, as the test runner names it. The vault is then as before. */
  act(next: Act, by: string): string | null {
    const before = copyOf(this.#box[0]!);
    try {
      const context = reference(contextValue(by, digestOf(next.transaction ?? 0)));
      const clock = TIMELESS.has(next.name) ? [] : [reference(clockValue(next.now * QUARTER))];
      this.#run(next.name, [...this.#values(next), ...clock, context]);
      return null;
    } catch (error) {
      this.#box[0] = before;
      if (error instanceof MoveAbortError) return `abort_code = ${error.code}`;
      if (error instanceof MovePrimitiveError) return "arithmetic_error";
      throw error;
    }
  }

  #values(next: Act): MoveValue[] {
    const vault: MoveValue = { kind: "reference", box: this.#box, at: 0 };
    switch (next.name) {
      case "add":
        return [
          ...[vault, addressOf(next.whom), bytesValue(keyBytes(next.key)), integer(64, endOf(next.end))],
          bytesValue(this.named(next)),
        ];
      case "extend":
        return [vault, addressOf(next.whom), integer(64, endOf(next.end)), bytesValue(this.named(next))];
      case "shorten":
        return [vault, addressOf(next.whom), integer(64, endOf(next.end))];
      case "offer_ownership":
        return [vault, addressOf(next.whom), bytesValue(this.named(next))];
      case "remove":
        return [vault, addressOf(next.whom)];
      case "leave":
      case "renew":
      case "sweep":
      case "withdraw_offer":
        return [vault];
      case "raise_floor":
        return [vault, integer(64, BigInt(next.floor))];
      case "seal_approve":
        return [bytesValue(Uint8Array.from(next.id)), vault, integer(64, BigInt(next.at))];
      default:
        return [vault, bytesValue(keyBytes(next.key)), bytesValue(keyBytes(next.old ?? 0))];
    }
  }

  #run(name: string, values: readonly MoveValue[]): readonly MoveValue[] {
    // The framework's interface counts ids from one.
    const effects = { freshId: () => `0x${"1".padStart(64, "0")}`, shareObject: () => {}, emitEvent: () => {} };
    const gas = new GasMeter(5_000_000);
    const machine = new Machine({
      findModule: () => null,
      callFramework: frameworkFor(effects, gas),
      gas,
      instructions: this.#instructions,
    });
    return machine.run(
      this.#module,
      this.#module.functions.find((called) => called.name === name)!,
      [],
      values,
    );
  }
}

/** The chain's clock: a UID and the time. */
function clockValue(time: number): MoveValue {
  return { kind: "struct", fields: [uid(addressOf(9)), integer(64, BigInt(time))] };
}

function reference(value: MoveValue): MoveValue {
  return { kind: "reference", box: [value], at: 0 };
}
