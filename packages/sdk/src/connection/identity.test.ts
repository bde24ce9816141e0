/** What a client believes of a service that sends people to an identity provider. */
import { expect, it } from "vitest";
import { createClient } from "../client.ts";

const nonce = "n".repeat(27);
const URL_OF_PROVIDER = `https://provider.test/authorize?client_id=coffer&nonce=${nonce}&state=state`;

it("refuses an address of the identity provider that carries another nonce [D3-zklogin-client-refuses Z7]", async () => {
  const other = "m".repeat(27);
  const changes: Record<string, (url: string) => string> = {
    "another one": (url) => url.replace(nonce, other),
    none: (url) => url.replace("nonce=", "once="),
    "two, its own first": (url) => `${url}&nonce=${other}`,
    "two, its own last": (url) => url.replace("?", `?nonce=${other}&`),
    "two, one of them encoded": (url) => `${url}&%6eonce=${other}`,
    "its own, twice": (url) => `${url}&nonce=${nonce}`,
    // OpenID Connect Core §6: what a request object says counts in the place of the query.
    "its own, and a request object": (url) => `${url}&request=eyJhbGciOiJub25lIn0.e30.`,
    "its own, and the address of a request object": (url) => `${url}&request_uri=https://elsewhere.test/o`,
  };
  const swapping = (change: (url: string) => string) =>
    createClient({
      baseUrl: "https://coffer.test",
      transport: () => Promise.resolve(Response.json({ url: change(URL_OF_PROVIDER), state: "state" })),
    }).identityProvider.authorizeZklogin({ nonce });
  expect((await swapping((url) => url)).url).toContain(`nonce=${nonce}`);
  for (const [what, change] of Object.entries(changes))
    await expect(swapping(change), what).rejects.toMatchObject({ code: "contract_broken" });
});
