/** Sentences for people. They are loaded with the first error; null: they cannot be, as in a page whose files were replaced. */
export const errorTexts = () => import("./sentences.ts").catch(() => null);
