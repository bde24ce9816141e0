/** What moves the bytes of files. */
export { openFileDownload } from "./download/open-file.ts";
export { replaceFile, uploadFile } from "./upload/send-file.ts";
export { uploadMany } from "./upload/upload-many.ts";
