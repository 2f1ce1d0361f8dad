/** What was thrown, in the words that it carries. */
export const errorMessage = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)
