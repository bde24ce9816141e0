/** What moves the bytes of files. */
export { openFileDownload } from "./open-file.ts";
export { replaceFile, uploadFile } from "./send-file.ts";
export { uploadMany } from "./upload-many.ts";
