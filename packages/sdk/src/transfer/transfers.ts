/** What moves the bytes of files. */
export { commitFiles } from "./file-commit.ts";
export { openFileDownload } from "./download.ts";
export { replaceFile, uploadFile } from "./upload.ts";
export { uploadMany } from "./upload-many.ts";
