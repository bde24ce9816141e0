import type { api } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import { ServiceError } from "../../http/errors.ts";
import type { GroupHandlers } from "../../http/handlers.ts";

const notYet = (): Promise<never> => Promise.reject(new ServiceError("public_vault"));

export const membersHandlers = (
  _deps: Pick<Deps, "database" | "clock" | "random" | "chain">,
): GroupHandlers<typeof api.members> => ({
  list: notYet,
  add: notYet,
  remove: notYet,
});
