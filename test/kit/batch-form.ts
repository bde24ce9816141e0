/** Bodies of `POST /api/files/batch`, also ones that no client sends. */
export interface FormPart {
  /** The header `Coffer-File`: an object is rendered as JSON; null: there is none. */
  readonly said: object | string | null;
  readonly content: string | Uint8Array;
}

export const FORM_TYPE = "multipart/form-data; boundary=frontier";

export function batchForm(parts: readonly FormPart[], end = "--frontier--\r\n"): Buffer {
  const rendered = parts.flatMap(({ said, content }) => [
    Buffer.from('--frontier\r\ncontent-disposition: form-data; name="file"; filename="file"\r\n'),
    Buffer.from(said === null ? "" : `coffer-file: ${typeof said === "string" ? said : JSON.stringify(said)}\r\n`),
    Buffer.from("\r\n"),
    Buffer.from(content),
    Buffer.from("\r\n"),
  ]);
  return Buffer.concat([...rendered, Buffer.from(end)]);
}
