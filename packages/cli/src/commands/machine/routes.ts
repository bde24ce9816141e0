/** Signing in, the configuration of this machine, and the program itself. */
import type { Routes } from "../../declarations.ts";

export const MACHINE_ROUTES: Routes = {
  version: { brief: "Print the version", load: () => import("./version.ts") },
};
