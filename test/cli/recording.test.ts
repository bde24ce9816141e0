/** The recording in the pages shows what the program does: the story is played again, and nothing that it shows may differ. */
import { existsSync, readFileSync } from "node:fs";
import { beforeAll, expect, it } from "vitest";
import { toCast, toPicture } from "../../dev/scripts/recording/cast.ts";
import { play, type Played } from "../../dev/scripts/recording/play.ts";
import { CLI_PEER_MODULES } from "../../dev/scripts/peers.ts";

const file = (ending: string): string =>
  readFileSync(new URL(`../../docs/recordings/first-ten-minutes.${ending}`, import.meta.url), "utf8");
const MOST_BYTES = 150_000;
let played: readonly Played[];

beforeAll(async () => {
  played = await play();
});

it("shows what the commands print today; else run npm run record [issue 19]", () => {
  expect(toCast(played)).toBe(file("cast"));
});

it("shows no key, no place of a machine and no whole address [issue 19]", () => {
  for (const text of [file("cast"), file("svg")]) {
    expect(text).not.toMatch(/suiprivkey1\w|\bcof[ir]?_\w|whsec_\w|0x[0-9a-f]{40}/);
    expect(text).not.toMatch(/\/(?:tmp|root|work|Users)\b|\/home\/(?!ada|bot)/);
    expect(text.replaceAll(/127\.0\.0\.1:8787/g, "")).not.toMatch(/\b\d{1,3}(?:\.\d{1,3}){3}\b/);
  }
});

it("is drawn from the recording, and small [issue 19]", (context) => {
  if (!existsSync(CLI_PEER_MODULES)) context.skip("svg-term is not installed; npm run record installs it");
  expect(file("svg").length).toBeLessThan(MOST_BYTES);
  expect(toPicture(file("cast"))).toBe(file("svg"));
});
