import { describe, expect, it } from "vitest";
import { describeIdentityProvider } from "../../../../test/suites/identity-provider.ts";
import { systemClock } from "../../ports/clock.ts";
import { openOidc } from "./oidc.ts";

describeIdentityProvider("OpenID Connect", ({ issuer, clientId, clientSecret, ...options }) =>
  openOidc({ issuer, clientId, clientSecret }, options),
);

describe("the OpenID Connect driver", () => {
  it("talks in the clear to this machine only", () => {
    const open = (issuer: string) =>
      openOidc({ issuer, clientId: "c", clientSecret: null }, { redirectUri: "http://localhost/", clock: systemClock });
    for (const issuer of ["https://issuer.example", "http://127.0.0.1:4000", "http://localhost:4000"]) {
      expect(() => open(issuer)).not.toThrow();
    }
    for (const issuer of ["http://issuer.example", "http://10.0.0.1", "http://127.0.0.1.example", "ftp://127.0.0.1"]) {
      expect(() => open(issuer)).toThrow(RangeError);
    }
  });
});
