import { describe, expect, it } from "vitest";
import { parseFileHeader } from "./file-header.ts";

const ID = "0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b";
const OTHER = "0190a1b2-c3d4-7e5f-9a9b-0c1d2e3f4a5c";
const FILE = {
  id: ID,
  versionId: OTHER,
  revision: 1,
  name: "",
  size: 4096,
  contentType: "text/plain",
  sha256: "ab".repeat(32),
  vaultId: OTHER,
  folderId: null,
  encrypted: true,
  trashedAt: null,
  createdBy: null,
  updatedBy: null,
  createdAt: "2026-11-20T17:00:00.000Z",
  updatedAt: "2026-11-20T17:00:00.000Z",
  shared: { version: "AAAA", entry: "AAAA", metadata: "AAAA", nameIndex: "ab".repeat(16) },
};

function shownOf(file: unknown): string {
  return Buffer.from(JSON.stringify(file)).toString("base64");
}

describe("a file as it is shown beside its bytes", () => {
  it("is what the contract takes, in a folder, in the trash and in a public vault, too", () => {
    for (const change of [{}, { folderId: OTHER }, { trashedAt: FILE.createdAt }, { shared: null }]) {
      const file = { ...FILE, ...change };
      expect(parseFileHeader(shownOf({ ...file, later: "more" }), ID)).toEqual(file);
    }
  });

  it("is none with a field that the contract does not take", () => {
    for (const change of [
      { id: OTHER.toUpperCase() },
      { size: -0.5 },
      { sha256: "x" },
      { shared: {} },
      { vaultId: null },
    ])
      expect(parseFileHeader(shownOf({ ...FILE, ...change }), ID)).toBeNull();
  });

  it("is none of another file, and nothing else is one", () => {
    expect(parseFileHeader(shownOf(FILE), OTHER)).toBeNull();
    for (const shown of [
      null,
      "",
      "AAAA",
      "not base64",
      shownOf(null),
      shownOf(ID),
      shownOf([FILE]),
      `${shownOf(FILE)} `,
    ])
      expect(parseFileHeader(shown, ID)).toBeNull();
  });
});
