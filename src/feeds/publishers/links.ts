import { FeedFault } from '../reading/fault.ts'
import { textOf } from '../reading/text.ts'
import type { Line, PublisherAnswer } from './publisher.ts'

/** A link of a page: where it leads, and its words. */
export interface PageLink {
  url: string
  text: string
}

/** The links of a page, made whole by the page's own address, in their order. */
export async function linksOf(page: PublisherAnswer): Promise<PageLink[]> {
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
export async function linkOn(
  line: Line,
  pageUrl: string,
  what: string,
  choices: readonly ((link: PageLink) => boolean)[],
): Promise<string> {
  const links = await linksOf(await line.ask({ url: pageUrl }))
  for (const isWanted of choices) {
    const link = links.find(isWanted)
    if (link) return link.url
  }
  throw new FeedFault('unexpected_header', `the page has no link to ${what}: its form has changed`)
}
