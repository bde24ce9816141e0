/**
 * Names as the most forgiving file systems read them: one that looks different may open the same file. APFS, NTFS and folded
 * directories of Linux ignore case, and some compatible characters. HFS+ ignores characters that are drawn as nothing. NTFS
 * drops dots and spaces at the end, and reads a stream after a colon.
 */

/** All that the name may be read as. */
export function spellingsOf(name: string): readonly string[] {
  const whole = folded(name);
  const [stem = ""] = whole.split(":");
  return stem === whole ? [whole] : [whole, stem.replace(END, "")];
}

const PLAIN = /^[\x20-\x7e]*$/;
const END = /[. ]+$/;

function folded(name: string): string {
  if (PLAIN.test(name)) return name.toLowerCase().replace(END, "");
  const visible = name.normalize("NFKC").replace(/\p{Default_Ignorable_Code_Point}/gu, "");
  // Capitals first: some small letters, such as the long s and the dotless i, have a capital in common with another one.
  return visible.toUpperCase().toLowerCase().normalize("NFKC").replace(END, "");
}

/** The form of the short names of FAT and NTFS, such as `GIT~1`: each stands for a longer name, which it does not show. */
export function isShortName(name: string): boolean {
  return spellingsOf(name).some((each) => /^(?=[^.]{3,8}(\.|$))[^.]+~\d+(\.[^.]{1,3})?$/.test(each));
}
