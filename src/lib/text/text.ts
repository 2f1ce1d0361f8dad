/** Control characters and line separators: what no name or setting may hold. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
export const unprintable = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/

/**
 * The digits of a whole number in groups of three: 12,500. A locale takes longer to load than the
 * database takes to open.
 */
export const thousands = (digits: string): string => digits.replace(/\B(?=(?:\d{3})+$)/g, ',')

/** Text that can be stored and sent as it is: no unpaired surrogate and no null character. */
export const isPlain = (text: string): boolean => text.isWellFormed() && !text.includes('\0')
