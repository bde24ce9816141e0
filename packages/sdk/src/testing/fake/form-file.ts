import { newNameProblem } from "@coffer/contract";
import { Failure } from "../handlers.ts";
import type { NewContent } from "./content.ts";

/** The content of an upload: the body itself, or the one file part of multipart/form-data with its name. */
export async function parseFormFile(
  body: Uint8Array,
  contentType: string | undefined,
): Promise<NewContent & { readonly name: string | null }> {
  if (contentType === undefined || !/^multipart\/form-data\b/i.test(contentType))
    return { bytes: body, contentType, name: null };
  const part = await readPart(body, contentType);
  if (newNameProblem(part.name) !== null)
    throw new Failure("validation_failed", "body: the part's file name cannot be used");
  return {
    bytes: new Uint8Array(await part.arrayBuffer()),
    contentType: part.type === "" ? undefined : part.type,
    name: part.name.normalize("NFC"),
  };
}

async function readPart(body: Uint8Array, contentType: string): Promise<globalThis.File> {
  let form: FormData;
  try {
    form = await new Response(new Uint8Array(body), { headers: { "content-type": contentType } }).formData();
  } catch {
    throw new Failure("validation_failed", "body: not multipart/form-data");
  }
  const [file, ...others] = form.values();
  if (file === undefined || typeof file === "string" || others.length > 0)
    throw new Failure("validation_failed", "body: expected one file part and nothing else");
  return file;
}
