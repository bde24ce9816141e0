/** What pages and comments must be like to be read easily: short sentences, and none of the turns that readers stumble over. */

/** The most words of a sentence. */
const MOST_WORDS = 25;

/** Turns of phrase that people had to read twice, each with what to write instead. */
const HARD: readonly (readonly [RegExp, string])[] = [
  [/\bwho is no\b/i, "name the people: non-members get …"],
  [/\bis answered\b/i, "name who gets what: non-members get `not_a_member`"],
  [/\btells\b|\btell (all|them apart|what)\b/i, "says, shows, lists"],
  [/\bknows\b/i, "has, sees, reads, remembers"],
  [/^Who(ever)?\b(?!.*\?)/, "name the people: a member, a caller, holders of …"],
  [/\b(by|for|from|of|to|with) who(m|ever)?\b/i, "name the people: a member, a caller, holders of …"],
  [/^Of\b/, "begin with the subject"],
  [/\bstands?\b(?! for\b)/i, "is, lies, holds"],
  [/\blives all of it\b/i, "does every step of it"],
  [/\bwhat is (no|not) longer\b/i, "say what ended"],
];

/** Every sentence that is too long or hard to read, with the reason. A list of code is one word; links' addresses and tables' rules are none. */
export function hardSentences(page: string): readonly string[] {
  return sentencesOf(page).flatMap((sentence) => {
    const words = sentence.replaceAll("code, ", "").split(/\s+/);
    const count = words.filter((word) => /\w/.test(word)).length;
    const long = count > MOST_WORDS ? [`${String(count)} words: ${sentence}`] : [];
    return [...long, ...HARD.filter(([turn]) => turn.test(sentence)).map(([, instead]) => `${instead}: ${sentence}`)];
  });
}

/** The sentences of paragraphs, list items and table cells, without their markup; inline code is one word. */
export function sentencesOf(page: string): readonly string[] {
  return blocksOf(page.replaceAll(/```.*?```/gs, "").replaceAll(/<!--.*?-->/gs, ""))
    .map((block) =>
      block
        .replaceAll(/`[^`]*`/g, "code")
        .replaceAll(/!?\[([^\]]*)\](\([^)]*\))?/g, "$1")
        .replaceAll("**", ""),
    )
    .flatMap((block) => block.split(/(?<=[.!?])\s+(?=\S)/))
    .map((sentence) => sentence.trim())
    .filter((sentence) => /\w/.test(sentence));
}

function blocksOf(page: string): string[] {
  const blocks: string[] = [];
  let isOpen = false;
  for (const line of page.split("\n").map((text) => text.trim())) {
    const begins = /^([-*]|\d+\.) /.test(line);
    if (line.startsWith("|")) blocks.push(...line.split(/(?<!\\)\|/).filter((cell) => !/^[\s:-]*$/.test(cell)));
    else if (line !== "" && !line.startsWith("#"))
      if (isOpen && !begins) blocks.push(`${blocks.pop() ?? ""} ${line}`);
      else blocks.push(line.replace(/^([-*]|\d+\.) /, ""));
    isOpen = line !== "" && !line.startsWith("#") && !line.startsWith("|");
  }
  return blocks;
}
