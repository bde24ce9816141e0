/** What programs print to be pasted into a shell. */

/** Of `npm start`: what stands between empty lines, at the beginning of the line, below its "What next". The first is the line for other shells. */
export function printedBlocks(printed: string): string[] {
  const [, next = ""] = printed.split("\nWhat next\n");
  return next.split(/\n{2,}/).filter((block) => /^(?:\. |[A-Z_]+=|npm |sed |curl )/.test(block));
}
