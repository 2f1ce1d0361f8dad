import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Marked, type Token } from 'marked'
import { escaped } from '../../lib/text/html.ts'
import type { Guide, GuideHeading, GuidePart } from './guide.ts'

/** The guides in the order in which they are read; each is a file of `docs/guides`. */
export const guideNames = [
  'quickstart',
  'authentication',
  'paging',
  'errors',
  'limits',
  'vintages',
  'alerts',
  'webhooks',
  'feeds',
  'operating',
] as const

export const guidesDirectory = join(import.meta.dir, '../../../docs/guides')

/** Every guide, rendered. The pages of a build hold the result and no Markdown. */
export const readGuides = (): Guide[] =>
  guideNames.map(name => guideOf(name, readFileSync(join(guidesDirectory, `${name}.md`), 'utf8')))

const idOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')

/** The text of inline Markdown without its marks. */
const plain = (text: string): string =>
  text.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1').replaceAll(/[`*|]/g, '')

/** The heading that is rendered: what a table is called. */
let under = ''
let tablesUnder = 0

const markdown = new Marked({
  renderer: {
    heading({ tokens, depth, text }) {
      under = plain(text)
      tablesUnder = 0
      const id = idOf(under)
      return `<h${depth} id="${id}">${this.parser.parseInline(tokens)} <a class="anchor" href="#${id}" aria-label="Link to “${escaped(under)}”">#</a></h${depth}>\n`
    },
    link({ href, tokens }) {
      const outside = /^https?:/.test(href) ? ' rel="external noreferrer"' : ''
      return `<a href="${escaped(href)}"${outside}>${this.parser.parseInline(tokens)}</a>`
    },
    // In a box of its own: a wide table must not make a narrow page wider.
    table({ header, rows }) {
      const cells = (row: typeof header, name: 'th' | 'td') =>
        row
          .map(cell => {
            const scope = name === 'th' ? ' scope="col"' : ''
            return `<${name}${scope}>${this.parser.parseInline(cell.tokens)}</${name}>`
          })
          .join('')
      tablesUnder += 1
      const label = `Table ${tablesUnder > 1 ? `${tablesUnder} ` : ''}of “${under}”`
      const body = rows.map(row => `<tr>${cells(row, 'td')}</tr>`).join('')
      // A column without a name has no head: an empty one would be read out.
      const names = header.every(cell => cell.text === '')
        ? ''
        : `<thead><tr>${cells(header, 'th').replaceAll(/<th scope="col"><\/th>/g, '<td></td>')}</tr></thead>`
      return `<section class="scroll" tabindex="0" aria-label="${escaped(label)}"><table>${names}<tbody>${body}</tbody></table></section>\n`
    },
  },
})

/** A guide from its Markdown: title and first paragraph, then prose and groups of samples. */
export function guideOf(name: string, text: string): Guide {
  const tokens = markdown.lexer(text).filter(token => token.type !== 'space')
  const [title, about, ...rest] = tokens
  if (title?.type !== 'heading' || about?.type !== 'paragraph')
    throw new Error(`docs/guides/${name}.md does not begin with a title and a paragraph`)
  const parts: GuidePart[] = []
  const headings: GuideHeading[] = []
  let prose: Token[] = []
  const endProse = () => {
    if (prose.length > 0) parts.push({ html: markdown.parser(prose) })
    prose = []
  }
  for (const token of rest) {
    if (token.type === 'code') {
      endProse()
      const sample = { language: String(token.lang ?? '').split(' ')[0]!, text: token.text }
      const last = parts.at(-1)
      // An answer stands by itself below the samples that get it.
      if (last && 'samples' in last && sample.language !== 'json') last.samples.push(sample)
      else parts.push({ samples: [sample] })
      continue
    }
    prose.push(token)
    if (token.type === 'heading')
      headings.push({ id: idOf(plain(token.text)), text: plain(token.text), words: '' })
    else {
      const heading = headings.at(-1)
      if (heading) heading.words += `${plain(token.raw).replaceAll(/\s+/g, ' ').trim()} `
    }
  }
  endProse()
  return {
    name,
    title: plain(title.text),
    about: markdown.parseInline(about.text) as string,
    parts,
    headings,
  }
}
