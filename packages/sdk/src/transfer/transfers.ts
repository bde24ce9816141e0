/** What moves the bytes of files. */
export { openFileDownload } from "./download.ts";
export { replaceFile, uploadFile } from "./upload.ts";
export { uploadMany } from "./upload-many.ts";
