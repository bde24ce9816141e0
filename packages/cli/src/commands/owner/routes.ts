/** Vaults, people, agents and their keys, webhooks and the audit log. */
import type { Routes } from "../../declarations.ts";

const MEMBERS: Routes = {
  list: { brief: "List the members of a shared vault", load: () => import("./members/list.ts") },
  add: { brief: "Add a member to a shared vault", load: () => import("./members/add.ts") },
  remove: { brief: "Remove a member from a shared vault", load: () => import("./members/remove.ts") },
  "set-until": { brief: "Set when a member's access ends", load: () => import("./members/set-until.ts") },
};

const VAULTS: Routes = {
  create: { brief: "Create a vault", load: () => import("./vaults/create.ts") },
  list: { brief: "List vaults", load: () => import("./vaults/list.ts") },
  get: { brief: "Show a vault", load: () => import("./vaults/get.ts") },
  members: { brief: "Members of shared vaults", routes: MEMBERS },
};

const INVITES: Routes = {
  create: { brief: "Create an invite for an agent", load: () => import("./invites/create.ts") },
  list: { brief: "List invites", load: () => import("./invites/list.ts") },
  revoke: { brief: "Revoke an invite", load: () => import("./invites/revoke.ts") },
};

export const OWNER_ROUTES: Routes = {
  vaults: { brief: "Vaults and their members", routes: VAULTS },
  members: { brief: "Members of shared vaults", routes: MEMBERS },
  invites: { brief: "Invites for agents", routes: INVITES },
};
