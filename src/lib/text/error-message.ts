/** The message of a caught error, or the text of any other value that was thrown. */
export const errorMessage = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)
