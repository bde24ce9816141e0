/** Files, folders, transfers, and what happened to them. */
import type { Routes } from "../../declarations.ts";

export const FILE_ROUTES: Routes = {};
