import { Marked } from 'marked'
import { escaped } from '../../lib/text/html.ts'

/** The place of a heading in its page. */
export const idOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')

/** The text of inline Markdown without its marks. */
export const plain = (text: string): string =>
  text
    .replaceAll(/!\[[^\]]*\]\([^)]*\)/g, '')
    .replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1')
    .replaceAll(/[`*|]/g, '')

/** Renders Markdown with links that `addressOf` resolves; of HTML, only the names of places stay. */
export function markdownWith(addressOf: (href: string) => string | undefined): Marked {
  /** The heading that is rendered: what a table is called. */
  let under = ''
  let tablesUnder = 0
  return new Marked({
    hooks: {
      // A text that is rendered again must become the same, or its table would be another one.
      preprocess(text) {
        under = ''
        tablesUnder = 0
        return text
      },
    },
    renderer: {
      heading({ tokens, depth, text }) {
        under = plain(text)
        tablesUnder = 0
        const id = idOf(under)
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)} <a class="anchor" href="#${id}" aria-label="Link to “${escaped(under)}”">#</a></h${depth}>\n`
      },
      link({ href, tokens }) {
        const inner = this.parser.parseInline(tokens)
        const address = addressOf(href)
        if (address === undefined) return inner
        const outside = /^https?:/.test(address) ? ' rel="external noreferrer"' : ''
        const file = address.startsWith('/console/') ? ' rel="external"' : ''
        return `<a href="${escaped(address)}"${outside}${file}>${inner}</a>`
      },
      image({ href, text }) {
        return `<img src="${escaped(addressOf(href) ?? href)}" alt="${escaped(text)}" loading="lazy">`
      },
      // A comment is for people who edit the page, and other HTML could run a script.
      html: ({ text }) => (/^(<a id="\w+">|<\/a>)$/.test(text) ? text : ''),
      // Wrapped in a scrolling box: a wide table must not make a narrow page wider.
      table({ header, rows }) {
        const cells = (row: typeof header, name: 'th' | 'td') =>
          row
            .map(cell => {
              const scope = name === 'th' ? ' scope="col"' : ''
              return `<${name}${scope}>${this.parser.parseInline(cell.tokens)}</${name}>`
            })
            .join('')
        tablesUnder += 1
        const number = tablesUnder > 1 ? ` ${tablesUnder}` : ''
        const label = `Table${number}${under && ` of “${under}”`}`
        const body = rows.map(row => `<tr>${cells(row, 'td')}</tr>`).join('')
        // A column without a name has no head: an empty one would be read out.
        const names = header.every(cell => cell.text === '')
          ? ''
          : `<thead><tr>${cells(header, 'th').replaceAll(/<th scope="col"><\/th>/g, '<td></td>')}</tr></thead>`
        return `<section class="scroll" tabindex="0" aria-label="${escaped(label)}"><table>${names}<tbody>${body}</tbody></table></section>\n`
      },
    },
  })
}
