/** Statements about exports: in order, and every way out of order that file-format §12 names. */
import { makeExportStatement, signExportStatement, type ExportFields } from "@coffer/crypto";
import { sha256Of } from "../kit/bytes.ts";
import { base64 } from "../browser/pages/base64.ts";
import { END, OTHER_VAULT, PEOPLE, TIME, VAULT, VIEWS, type ViewName } from "./statement-fixture.ts";
import type { ExportCase, Refusal } from "./statement-vectors.ts";

const MANIFEST = Buffer.from('{ "format": "coffer-export", "version": "2" }\n');

export async function makeExportCases(): Promise<ExportCase[]> {
  const good = await makeExportStatement(VIEWS.now, PEOPLE.member, MANIFEST, TIME);
  const before = await makeExportStatement(VIEWS["in generation 4"], PEOPLE.removed, MANIFEST, TIME);
  const damaged: Refusal = { code: "damaged", step: "export" };
  return [
    caseOf("a member's", good.bytes, accepted(good)),
    caseOf("one of whoever was removed, of their time", before.bytes, accepted(before)),
    caseOf("below the floor", before.bytes, { code: "rolled_back", step: "export" }, { view: "floor 5" }),
    caseOf("one of whoever was removed, of a later time", await signed({}, "removed"), damaged),
    caseOf("a stranger's", await signed({}, "stranger"), damaged),
    caseOf("a stranger's under a member's name", await signed({ signer: PEOPLE.member.address }, "stranger"), damaged),
    caseOf("of a generation that is not there yet", await signed({ generation: 6n }), damaged),
    caseOf("one of whose membership has ended, of before", await signed({}, "ended"), { ...accepted(good), signer: base64(PEOPLE.ended.address) }, { view: "after an end" }),
    caseOf("one of whose membership has ended, of its end", await signed({ after: END }, "ended"), damaged, { view: "after an end" }),
    caseOf("of an end that is not there yet", await signed({ after: END }), damaged, { view: "before an end" }),
    caseOf("of a time that is no end", changed(good.bytes, 47), damaged),
    caseOf("of another manifest", good.bytes, damaged, { manifest: Buffer.concat([MANIFEST, Buffer.of(0x0a)]) }),
    caseOf("of another vault", await signed({ vault: OTHER_VAULT }), { code: "vault_changed", step: "pins" }),
    caseOf("with another time", changed(good.bytes, 119), damaged),
    caseOf("with another generation", changed(good.bytes, 39), damaged),
    caseOf("with another signature", changed(good.bytes, 148), damaged),
    caseOf("a byte shorter", good.bytes.subarray(0, -1), damaged),
    caseOf("a byte longer", Buffer.concat([good.bytes, Buffer.of(0)]), damaged),
  ];
}

async function signed(fields: Partial<ExportFields>, who: keyof typeof PEOPLE = "member"): Promise<Uint8Array> {
  const { address, signer } = PEOPLE[who];
  const manifestDigest = Buffer.from(sha256Of(MANIFEST), "hex");
  const all = { vault: VAULT, generation: 5n, after: 0n, manifestDigest, signer: address, time: TIME, ...fields };
  return (await signExportStatement(all, signer)).bytes;
}

function changed(bytes: Uint8Array, at: number): Uint8Array {
  return bytes.map((byte, index) => (index === at ? byte ^ 1 : byte));
}

function accepted({ signer, generation, after, time }: ExportFields): ExportCase["expect"] {
  return { signer: base64(signer), generation: String(generation), after: String(after), time };
}

function caseOf(
  name: string,
  statement: Uint8Array,
  expect: ExportCase["expect"],
  { view = "now", manifest = MANIFEST }: { readonly view?: ViewName; readonly manifest?: Uint8Array } = {},
): ExportCase {
  return { name, vault: base64(VAULT), view, manifest: base64(manifest), statement: base64(statement), expect };
}
