/** Control characters and line separators: what no name or setting may hold. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
export const unprintable = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/
