/** Files, folders, transfers, and what happened to them. */
import type { Routes } from "../../declarations.ts";

const FOLDERS: Routes = {
  create: { brief: "Create a folder, with the missing ones above it", load: () => import("./folders/create.ts") },
  list: { brief: "List the folders of a place", load: () => import("./folders/list.ts") },
  update: { brief: "Rename or move a folder", load: () => import("./folders/update.ts") },
  delete: { brief: "Move folders to the trash, with everything in them", load: () => import("./folders/delete.ts") },
};

const TRASH: Routes = {
  list: { brief: "List what is in the trash", load: () => import("./trash/list.ts") },
  restore: { brief: "Bring files and folders back from the trash", load: () => import("./trash/restore.ts") },
  empty: { brief: "Delete what is in the trash for good", load: () => import("./trash/empty.ts") },
};

const VERSIONS: Routes = {
  list: { brief: "List the versions of a file, newest first", load: () => import("./versions/list.ts") },
  get: { brief: "Download a version of a file", load: () => import("./versions/get.ts") },
  restore: {
    brief: "Make a version of a file its newest content again",
    load: () => import("./versions/restore.ts"),
  },
};

export const FILE_ROUTES: Routes = {
  upload: { brief: "Upload files and folders", load: () => import("./upload.ts") },
  download: { brief: "Download a file, a folder or a whole vault", load: () => import("./download.ts") },
  sync: { brief: "Make a vault folder like a local one, or the other way round", load: () => import("./sync.ts") },
  ls: { brief: "List a vault or a folder", load: () => import("./ls.ts") },
  cat: { brief: "Write the content of a file to standard output", load: () => import("./cat.ts") },
  du: { brief: "Show how many bytes and files vaults and folders hold", load: () => import("./du.ts") },
  append: { brief: "Append text to the end of a file", load: () => import("./append.ts") },
  stat: { brief: "Show the facts of a file or a folder", load: () => import("./stat.ts") },
  mv: { brief: "Move or rename files and folders in a vault", load: () => import("./mv.ts") },
  rm: { brief: "Move files and folders to the trash, or delete them for good", load: () => import("./rm.ts") },
  verify: {
    brief: "Check that a stored file is intact, and equal to a local one",
    load: () => import("./verify.ts"),
  },
  folders: { brief: "Folders of vaults", routes: FOLDERS },
  trash: { brief: "What was deleted in the last 30 days", routes: TRASH },
  versions: { brief: "What files were before", routes: VERSIONS },
  search: { brief: "Find files by words of their names, type, date and author", load: () => import("./search.ts") },
  changes: { brief: "List changes since a moment, with their actors", load: () => import("./changes.ts") },
  export: {
    brief: "Copy a shared vault out, encrypted, to open without the service",
    load: () => import("./export.ts"),
  },
  decrypt: { brief: "Decrypt an export into a folder, without the service", load: () => import("./decrypt.ts") },
};
