import { createHash } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { basename, extname, join } from 'node:path'
import type { Token, Tokens } from 'marked'
import type { GuideHeading, GuidePart } from './guide.ts'
import { idOf, markdownWith, plain } from './markdown.ts'
import { linkedFile, type PageSource, pageSources, readPage, repository } from './sources.ts'

/** A heading with the words below it. */
type Heading = GuideHeading & { words: string }

/** A page, rendered: a build holds the result and no Markdown. */
interface RenderedPage extends PageSource {
  title: string
  about: string
  words: string
  headings: Heading[]
  parts: GuidePart[]
  /** Its Markdown, whose links lead to the Markdown of other pages. */
  markdown: string
}

/** A file that a page links to or shows, which is served with the pages. */
interface AttachedFile {
  /** With the hash of its content in it. */
  name: string
  file: string
}

export interface RenderedPages {
  pages: RenderedPage[]
  attached: AttachedFile[]
}

/**
 * A part of a page that definitions determine: `<!-- generated: settings -->`. The quote below it
 * is for readers of the repository, and the part replaces it too.
 */
const generatedMark = /^<!-- generated: ([\w-]+) -->(?:\n>.*)*$/gm

/** A page with the parts that are generated. */
export const expanded = (text: string, generated: Readonly<Record<string, string>>): string =>
  text.replaceAll(generatedMark, (_, name: string) => {
    const part = generated[name]
    if (part === undefined) throw new Error(`No part of the documentation is named ${name}`)
    return part
  })

/** Renders every page; `generated` holds the parts that definitions of the program determine. */
export function readPages(generated: Readonly<Record<string, string>>): RenderedPages {
  const sources = pageSources()
  const addresses = new Map(sources.map(({ file, name }) => [file, `/docs/${name}`]))
  const attached = new Map<string, AttachedFile>()
  const attach = (file: string): string => {
    const hash = createHash('sha256')
      .update(readFileSync(join(repository, file)))
      .digest('hex')
    const ending = extname(file)
    const name = `${basename(file, ending)}-${hash.slice(0, 8)}${ending || '.txt'}`
    attached.set(file, { name, file })
    return `/console/${name}`
  }
  /** The address of a link; undefined for a file that is not served. */
  const addressOf = (from: string, href: string): string | undefined => {
    if (/^(https?:|mailto:|#|\/)/.test(href)) return href
    const [path = '', place] = href.split('#')
    const file = linkedFile(from, path)
    const page = addresses.get(file)
    if (page !== undefined) return place === undefined ? page : `${page}#${place}`
    const isServed = /^(docs|packaging)\//.test(file) && existsSync(join(repository, file))
    return isServed && statSync(join(repository, file)).isFile() ? attach(file) : undefined
  }
  const pages = sources.map(source => {
    const text = expanded(readPage(source.file), generated)
    const markdown = text.replaceAll(/\]\(([^)#\s]+)/g, (link, href: string) => {
      const page = addresses.get(linkedFile(source.file, href))
      return page === undefined ? link : `](${page}.md`
    })
    return { ...rendered(source, text, href => addressOf(source.file, href)), markdown }
  })
  return { pages, attached: [...attached.values()] }
}

/** A page from its Markdown: title and first paragraph, then prose and groups of samples. */
function rendered(
  source: PageSource,
  text: string,
  addressOf: (href: string) => string | undefined,
): Omit<RenderedPage, 'markdown'> {
  const markdown = markdownWith(addressOf)
  const [title, ...below] = markdown
    .lexer(text)
    .filter(token => token.type !== 'space' && !token.raw.startsWith('<!--'))
  if (title?.type !== 'heading') throw new Error(`${source.file} does not start with a title`)
  const about = below[0]?.type === 'paragraph' ? (below[0] as Tokens.Paragraph).text : ''
  const rest = about === '' ? below : below.slice(1)
  const parts: GuidePart[] = []
  const headings: Heading[] = []
  let words = ''
  let prose: Token[] = []
  const endProse = () => {
    if (prose.length > 0) parts.push({ html: markdown.parser(prose) })
    prose = []
  }
  let isBelowSample = false
  for (const token of rest) {
    if (token.type === 'code') {
      endProse()
      const sample = { language: String(token.lang ?? '').split(' ')[0]!, text: token.text }
      const last = parts.at(-1)
      // The same thing in other languages is one group; a response is shown below the samples.
      const isAlternative =
        isBelowSample &&
        last !== undefined &&
        'samples' in last &&
        programs.has(sample.language) &&
        last.samples.every(({ language }) => programs.has(language) && language !== sample.language)
      if (isAlternative) last.samples.push(sample)
      else parts.push({ samples: [sample] })
      isBelowSample = true
      continue
    }
    isBelowSample = false
    prose.push(token)
    if (token.type === 'heading')
      headings.push({ id: idOf(plain(token.text)), text: plain(token.text), words: '' })
    else {
      const text = `${plain(token.raw).replaceAll(/\s+/g, ' ').trim()} `
      const heading = headings.at(-1)
      if (heading) heading.words += text
      else words += text
    }
  }
  endProse()
  return {
    ...source,
    title: plain(title.text),
    about: markdown.parseInline(about) as string,
    words,
    parts,
    headings,
  }
}

/** Languages in which the same call may be written. */
const programs: ReadonlySet<string> = new Set(['sh', 'python', 'ts', 'go', 'php'])
