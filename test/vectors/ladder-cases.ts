/** Steps of the ladder as a service may give them out: true ones, and every way out of order that file-format §7.5 names. */
import { makeLadderStep, VaultKey, type VaultKeyRecord } from "@coffer/crypto";
import { base64 } from "../browser/pages/base64.ts";
import { bytesOf, KEYS, PEOPLE, recordOf, seeded, VAULT, type KeyName, type ViewName } from "./statement-fixture.ts";
import type { LadderCase, Refusal } from "./statement-vectors.ts";

const [OLD, NEW, LATER] = ["generation 4", "generation 5", "generation 5, after an end"] as const;

export async function makeLadderCases(): Promise<LadderCase[]> {
  const down = await step(NEW, KEYS[OLD]);
  const chosen = await step(NEW, new VaultKey(VAULT, { generation: 4n, after: 0n }, bytesOf("a chosen key", 32)));
  const within = await step(LATER, KEYS[NEW]);
  const damaged: Refusal = { code: "damaged", step: "ladder" };
  const wrong: Refusal = { code: "wrong_key", step: "ladder" };
  const ofRecord: Refusal = { code: "damaged", step: "record" };
  const old = await recordOf(OLD, PEOPLE.member);
  const middle = await recordOf(NEW, PEOPLE.member);
  const strangers = { target: await recordOf(OLD, PEOPLE.stranger), higher: await recordOf(NEW, PEOPLE.stranger) };
  const places = Buffer.concat([down.subarray(48, 64), down.subarray(32, 48)]);
  const after: Partial<Given> = { higherKey: LATER, higher: await recordOf(LATER, PEOPLE.member), target: middle, view: "after an end" };
  const common = { higherKey: NEW, higher: middle, target: old, view: "now" } as const;
  const caseOf = (name: string, bytes: Uint8Array, expect: LadderCase["expect"], given: Partial<Given> = {}): LadderCase => {
    const { higher, higherKey, target, view } = { ...common, ...given };
    return { name, view, higherKey, higher: base64(higher.bytes), step: base64(bytes), target: base64(target.bytes), expect };
  };
  return [
    caseOf("down a generation", down, { key: base64(KEYS[OLD].reveal()) }),
    caseOf("down to before an end", within, { key: base64(KEYS[NEW].reveal()) }, after),
    caseOf("below the last rotation", down, damaged, { view: "base 5" }),
    caseOf("below the floor", down, damaged, { view: "floor 5" }),
    caseOf("upwards", replaced(down, 32, places), damaged),
    caseOf("to its own place", replaced(down, 48, down.subarray(32, 48)), damaged),
    caseOf("to a time that is no end", replaced(down, 63, Buffer.of(1)), damaged),
    caseOf("of another vault", replaced(down, 0, bytesOf("another vault", 32)), damaged),
    caseOf("from another place than the key's", within, damaged, { target: middle, view: "after an end" }),
    caseOf("to another place than the record's", within, damaged, { ...after, target: old }),
    caseOf("a byte shorter", down.subarray(0, -1), damaged),
    caseOf("a byte longer", Buffer.concat([down, Buffer.of(0)]), damaged),
    caseOf("to a chosen key, with its check", chosen, damaged),
    caseOf("to a chosen key, with the record's check", replaced(chosen, 64, down.subarray(64, 96)), wrong),
    caseOf("a link with a flipped bit", replaced(down, 199, Buffer.of((down[199] ?? 0) ^ 1)), wrong),
    caseOf("to a stranger's record", down, ofRecord, { target: strangers.target }),
    caseOf("from a stranger's record", down, ofRecord, { higher: strangers.higher }),
    caseOf("from a key that is not its record's", down, { code: "wrong_key", step: "record" }, { higherKey: OLD }),
  ];
}

interface Given {
  readonly higherKey: KeyName;
  readonly higher: VaultKeyRecord;
  readonly target: VaultKeyRecord;
  readonly view: ViewName;
}

async function step(from: KeyName, to: VaultKey): Promise<Uint8Array> {
  return (await makeLadderStep(seeded(`step from ${from}`), KEYS[from], to)).bytes;
}

function replaced(bytes: Uint8Array, at: number, by: Uint8Array): Uint8Array {
  const copy = Uint8Array.from(bytes);
  copy.set(by, at);
  return copy;
}
