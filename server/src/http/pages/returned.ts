/** Where an identity provider sends the browser back to: the program that began the sign-in finishes it. */
import { markup, renderPage } from "./html.ts";

const LONGEST = 4096;

/**
 * `query`: as the provider sent it. Nothing is exchanged here: a link that somebody else made would else sign its visitor in
 * (RFC 6749 §10.12).
 */
export function renderReturn(query: URLSearchParams): { readonly status: number; readonly page: string } {
  const [code, state] = [valueOf(query, "code"), valueOf(query, "state")];
  if (code === "" || state === "") {
    const refused = query.get("error") === "access_denied" ? "You or your identity provider refused the sign-in." : "";
    const text = markup`<p role="alert">The sign-in did not work. ${refused}</p>
      <p>Begin it again in the program that you came from.</p>`;
    return { status: 400, page: renderPage("You are not signed in", text) };
  }
  const text = markup`<p>
      Go back to the program that began this sign-in, and give it these two values. They work once, within ten minutes.
    </p>
    <label>code <input readonly value="${code}"></label>
    <label>state <input readonly value="${state}"></label>
    <p>Give them to nobody else: with them one can sign in as you.</p>`;
  return { status: 200, page: renderPage("Almost signed in", text) };
}

function valueOf(query: URLSearchParams, name: string): string {
  const [value = "", ...more] = query.getAll(name);
  return more.length > 0 || value.length > LONGEST ? "" : value;
}
