/** Text as it stands in HTML, in an attribute too. */
export const escaped = (text: string): string => Bun.escapeHTML(text)
