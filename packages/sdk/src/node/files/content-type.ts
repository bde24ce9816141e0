import mime from "mime";

/**
 * The media type that a file's name indicates; undefined when it indicates none. `.ts` is two kinds of file,
 * TypeScript and a video stream, and indicates none.
 */
export function guessContentType(name: string): string | undefined {
  if (!/[^/\\]\.\w+$/.test(name) || /\.[mc]?ts$/i.test(name)) return undefined;
  return mime.getType(name) ?? undefined;
}
