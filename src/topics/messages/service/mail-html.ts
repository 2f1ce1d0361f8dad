/**
 * A line of an e-mail as HTML, in which each address that begins with `origin` is a link; other
 * addresses, which a user may have written into a name, stay text.
 */
export function linkedHtml(line: string, origin: string): string {
  const escaped = Bun.escapeHTML(line)
  const begin = Bun.escapeHTML(origin)
  if (begin === '') return escaped
  const [head = '', ...rest] = escaped.split(begin)
  return [
    head,
    ...rest.map(part => {
      // An address ends with the word; a full stop behind it is the sentence's.
      const tail = /^(?:[^\s<>]*[^\s<>.,;:)])?/.exec(part)![0]
      return `<a href="${begin}${tail}">${begin}${tail}</a>${part.slice(tail.length)}`
    }),
  ].join('')
}

/** An e-mail that was written as text only, in paragraphs. */
export const paragraphsHtml = (text: string, origin: string): string =>
  text
    .trim()
    .split(/\n{2,}/)
    .map(paragraph => `<p>${linkedHtml(paragraph, origin).replaceAll('\n', '<br>')}</p>`)
    .join('\n')
