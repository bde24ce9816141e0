/** Files, folders, transfers, and what happened to them. */
import type { Routes } from "../../declarations.ts";

export const FILE_ROUTES: Routes = {
  upload: { brief: "Upload files and folders", load: () => import("./upload.ts") },
  download: { brief: "Download a file, a folder or a whole vault", load: () => import("./download.ts") },
  ls: { brief: "List a vault or a folder", load: () => import("./ls.ts") },
};
