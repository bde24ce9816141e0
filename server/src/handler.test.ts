/** What must not compile: checked by `npm run typecheck`, which fails when an expected error is missing. */
import type { api } from "@coffer/contract";
import { expect, it } from "vitest";
import type { CreationContext, GroupHandlers, Handler, Principal } from "./handler.ts";
import { Reply } from "./handler.ts";

type Vaults = GroupHandlers<typeof api.vaults>;
type Signup = Handler<typeof api.development.signup>;

const answer = { id: "i", email: "e", apiKey: "k", warning: "w" };

it("refuses a group without one of its handlers, a renamed field and an unrecorded creation, at compile time", async () => {
  const { create, list, get, update } = {} as Vaults;
  // @ts-expect-error a handler is missing
  const missing: Vaults = { create, list, get, update };
  const right: Signup = async () => answer;
  // @ts-expect-error the field is called apiKey
  const renamed: Signup = async () => ({ id: "i", email: "e", key: "k", warning: "w" });
  // @ts-expect-error a POST that creates answers what context.record has wrapped
  const unrecorded: Handler<typeof api.apiKeys.create> = async () => new Reply(answer);
  const narrow: Handler<typeof api.files.get> = async ({ params }) => {
    // @ts-expect-error the parameter is called fileId
    throw new Error(params.id);
  };
  type Context = Parameters<Handler<typeof api.apiKeys.create>>[1];
  const context = null as unknown as Context;
  const typed: CreationContext<Principal> = context;
  expect([missing, renamed, unrecorded, narrow, typed]).toHaveLength(5);
  expect(await right({ body: { email: "e" } }, null as never)).toEqual(answer);
});
