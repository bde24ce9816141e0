import { afterEach, describe, expect, it, vi } from "vitest";
import { listCommands } from "./command-list.ts";
import { ROUTES } from "./routes.ts";
import { endText, LOOKS_BACK, LOOKS_FORWARD } from "./times.ts";

afterEach(() => void vi.unstubAllEnvs());

describe("an end is echoed with its zone", () => {
  it.each([
    ["UTC", "2026-11-20T23:00:00.000Z", "2026-11-20 23:00Z"],
    ["Europe/Berlin", "2026-11-20T23:00:00.000Z", "2026-11-21 00:00+01:00"],
    ["Europe/Berlin", "2026-07-20T22:00:00.000Z", "2026-07-21 00:00+02:00"],
    ["America/St_Johns", "2026-11-20T03:30:00.000Z", "2026-11-20 00:00-03:30"],
    ["UTC", null, "never"],
  ])("in %s %s is shown as %s", (zone, end, text) => {
    vi.stubEnv("TZ", zone);
    expect(endText(end)).toBe(text);
  });
});

describe("the help of a command that takes times says where it looks, with every form", async () => {
  const ofMembers = ["members add", "members set-until", "vaults members add", "vaults members set-until"];
  const forward = ["invites create", ...ofMembers];
  const takesTimes = new Map(
    (await listCommands(ROUTES)).flatMap(({ path, command }) => {
      const args = "each" in command.args ? [command.args.each] : command.args;
      const names = [...Object.keys(command.flags), ...args.map(({ name }) => name)];
      const isOne = names.some((name) => ["since", "until", "accessUntil", "TIME"].includes(name));
      return isOne ? [[path.join(" "), command.description] as const] : [];
    }),
  );

  it.each([...takesTimes])("coffer %s", (name, description) => {
    expect(description).toContain(forward.includes(name) ? LOOKS_FORWARD : LOOKS_BACK);
  });

  it("and these are all of them", () => {
    const back = ["agents rewind", "audit list", "changes", "search", "sync", "webhooks retry"];
    expect([...takesTimes.keys()].toSorted()).toEqual([...back, ...forward].toSorted());
  });
});
