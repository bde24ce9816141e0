import { expect, it } from "vitest";
import { openTestApp, type TestApp } from "../app.test-kit.ts";

const HOUR = 3_600_000;

interface Warning {
  readonly level: number;
  readonly peer: string;
  readonly header: string;
  readonly msg: string;
}

function warningsOf(service: TestApp): Warning[] {
  const lines = service.logged().split("\n");
  return lines.filter((line) => line.includes("unnamed-proxy")).map((line) => JSON.parse(line) as Warning);
}

it.each(["x-forwarded-for", "forwarded", "x-real-ip"])(
  "warns once an hour of a peer that sends %s and is not named [issue 51]",
  async (header) => {
    await using service = await openTestApp({ environment: { SERVICE_TRUSTED_PROXIES: "192.0.2.0/24" } });
    const ask = () => service.ask("GET", "/healthz", { headers: { [header]: "203.0.113.7" } });
    await service.ask("GET", "/healthz");
    expect(warningsOf(service)).toEqual([]);
    for (let round = 0; round < 3; round += 1) await ask();
    service.clock.advance(HOUR - 1);
    await ask();
    expect(warningsOf(service)).toMatchObject([{ level: 40, peer: "127.0.0.1", header }]);
    expect(warningsOf(service)[0]?.msg).toContain("SERVICE_TRUSTED_PROXIES");
    service.clock.advance(1);
    await ask();
    expect(warningsOf(service)).toHaveLength(2);
    expect(service.logged()).not.toContain("203.0.113.7");
  },
);

it("says nothing of a proxy that is named and sends X-Forwarded-For", async () => {
  await using service = await openTestApp({ environment: { SERVICE_TRUSTED_PROXIES: "127.0.0.1" } });
  await service.ask("GET", "/healthz", { headers: { "x-forwarded-for": "203.0.113.7", "x-real-ip": "203.0.113.7" } });
  await service.ask("GET", "/healthz");
  expect(warningsOf(service)).toEqual([]);
  // Nobody reads this header: its callers are one address all the same.
  await service.ask("GET", "/healthz", { headers: { forwarded: "for=203.0.113.7" } });
  expect(warningsOf(service)).toHaveLength(1);
});
