/** Names that a person or a model takes for one another: they look the same, and are not. */
import { spellingsOf } from "./paths/spelling.ts";

/** Of these names the ones that look like the wanted one, which is none of them: in case, white space, quotes, dashes or Unicode form. */
export function findLookAlikes<Named extends { readonly name: string }>(
  missing: string,
  among: readonly Named[],
): Named[] {
  const appearance = appearanceOf(missing);
  return among.filter(({ name }) => appearanceOf(name) === appearance);
}

const appearanceOf = (name: string): string =>
  (spellingsOf(name)[0] ?? "")
    .replaceAll(/[\u2018\u2019\u201b]/g, "'")
    .replaceAll(/[\u201c\u201d\u201f]/g, '"')
    .replaceAll(/[\u2010-\u2015]/g, "-")
    .replaceAll(/\s+/g, " ")
    .trim();

/** Which characters of a name one does not see in the other, as code points. "": they differ in nothing that has to be said. */
export function invisibleDifference(name: string, other: string): string {
  const shared = new Set(other);
  const points = Array.from(name)
    .filter((each) => !shared.has(each) && !/[\w.-]/.test(each))
    .map((each) => `U+${(each.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`);
  return [...new Set(points)].slice(0, 3).join(", ");
}
