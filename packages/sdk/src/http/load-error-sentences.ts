/** Sentences for people. They are loaded with the first error; null: they cannot be, as in a page whose files were replaced. */
export const loadErrorSentences = () => import("./error-sentences.ts").catch(() => null);
