import { expect, it } from "vitest";
import { clientKeyOf } from "./client-key.ts";

it("is the address for IPv4, however it is written", () => {
  for (const address of ["192.0.2.7", "::ffff:192.0.2.7", "::FFFF:c000:207"]) {
    expect(clientKeyOf(address)).toBe("192.0.2.7");
  }
});

it("is the /64 for IPv6", () => {
  const addresses = ["2001:db8:1:2::1", "2001:DB8:1:2:ffff:ffff:ffff:ffff", "2001:0db8:0001:0002:0:0:0:9"];
  expect(new Set(addresses.map(clientKeyOf))).toEqual(new Set(["2001:db8:1:2::/64"]));
  expect(clientKeyOf("2001:db8:1:3::1")).toBe("2001:db8:1:3::/64");
  expect(clientKeyOf("fe80::1%eth0")).toBe("fe80:0:0:0::/64");
});

it("is what was given when that is no address", () => {
  expect([clientKeyOf(""), clientKeyOf("unknown")]).toEqual(["", "unknown"]);
});
