/**
 * A text as one phrase of a full-text search, whatever characters it has. A NUL would end the
 * phrase half-way, which SQLite refuses; no stored text has one, and the replacement character
 * is in none either.
 */
export const phraseOf = (text: string): string =>
  `"${text.replaceAll('"', '""').replaceAll('\0', '\u{fffd}')}"`
