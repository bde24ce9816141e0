/** The tree of commands. Each is a file of its own, loaded when a line names it. */
import { FILE_ROUTES } from "./commands/files/routes.ts";
import { MACHINE_ROUTES } from "./commands/machine/routes.ts";
import { OWNER_ROUTES } from "./commands/owner/routes.ts";
import type { Routes } from "./declarations.ts";

export const ROUTES: Routes = { ...MACHINE_ROUTES, ...FILE_ROUTES, ...OWNER_ROUTES };
