/** The name, content type and true size of a file, or the name of a folder (file-format §9). */

export interface Metadata {
  /** At most 255 bytes of UTF-8 in NFC. */
  readonly name: string;
  /** At most 245 bytes of visible ASCII; empty for a folder, and only there. */
  readonly contentType: string;
  /** Bytes of content, before encryption and padding; 0 for a folder. */
  readonly size: number;
}
