/** Text as it is in HTML, in an attribute too. */
export const escaped = (text: string): string => Bun.escapeHTML(text)
