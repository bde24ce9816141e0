/** Vaults, people, agents and their keys, webhooks and the audit log. */
import type { Routes } from "../../declarations.ts";

export const OWNER_ROUTES: Routes = {};
