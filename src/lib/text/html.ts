const marks: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#x27;',
}

/** Text as it is in HTML, in an attribute too. Pages use it in browsers, which have no function for it. */
export const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, mark => marks[mark]!)
