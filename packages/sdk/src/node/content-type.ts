/**
 * The media type that a file's name tells; undefined when it tells none. `.ts` is two kinds of file, TypeScript and a video stream, and tells
 * none. The table is loaded with the first name.
 */
export async function guessContentType(name: string): Promise<string | undefined> {
  if (!/[^/\\]\.\w+$/.test(name) || /\.[mc]?ts$/i.test(name)) return undefined;
  const { default: mime } = await import("mime");
  return mime.getType(name) ?? undefined;
}
