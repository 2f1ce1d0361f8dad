import { FeedFault } from '../reading/fault.ts'
import { textOf } from '../reading/text.ts'
import type { MapEntry } from './map.ts'
import type { Publisher, PublisherAnswer, PublisherClient } from './publisher.ts'
import { type Collected, sentSeries } from './series.ts'

/** A link of a page: where it leads, and its words. */
export interface PageLink {
  url: string
  text: string
}

/** The links of a page, made whole by the page's own address, in their order. */
async function linksOf(page: PublisherAnswer): Promise<PageLink[]> {
  const links: PageLink[] = []
  const rewriter = new HTMLRewriter().on('a[href]', {
    element(element) {
      const url = URL.parse((element.getAttribute('href') ?? '').replaceAll('&amp;', '&'), page.url)
      links.push({ url: url?.href ?? '', text: '' })
    },
    text(piece) {
      const link = links.at(-1)
      if (link) link.text += piece.text
    },
  })
  await rewriter.transform(new Response(textOf(page.bytes))).text()
  return links.filter(link => link.url !== '')
}

/** The first link of a page that `choices` want, the first choice first. */
async function linkOn(
  client: PublisherClient,
  pageUrl: string,
  what: string,
  choices: readonly ((link: PageLink) => boolean)[],
): Promise<string> {
  const links = await linksOf(await client.get({ url: pageUrl }))
  for (const isWanted of choices) {
    const link = links.find(isWanted)
    if (link) return link.url
  }
  throw new FeedFault('unexpected_header', `the page has no link to ${what}: its form has changed`)
}

/** Parses a file into its series. */
type FileParser = (
  bytes: Uint8Array,
  entries: readonly MapEntry[],
) => ReadonlyMap<string, Collected> | Promise<ReadonlyMap<string, Collected>>

/** Reads the series of one file, unless it has not changed since it was last read. */
export const readFileAt = (url: string, parse: FileParser): Publisher['read'] =>
  readFile(() => url, parse)

/** The same of the file that a page links to. */
export const readLinkedFile = (
  [pageUrl, what, choices]: [pageUrl: string, what: string, choices: Parameters<typeof linkOn>[3]],
  parse: FileParser,
): Publisher['read'] => readFile(client => linkOn(client, pageUrl, what, choices), parse)

const readFile = (
  urlOf: (client: PublisherClient) => string | Promise<string>,
  parse: FileParser,
): Publisher['read'] =>
  async function* (client, { entries }) {
    const answer = await client.get({ url: await urlOf(client), ifChanged: true })
    if (answer) yield* sentSeries(entries, await parse(answer.bytes, entries), undefined)
  }
