/** A sample, in the language that its fence names. */
export interface GuideSample {
  language: string
  text: string
}

/** Ready HTML, or the same thing in several languages. */
export type GuidePart = { html: string } | { samples: GuideSample[] }

export interface GuideHeading {
  id: string
  text: string
}

/** The words of a page, for the search: before its first heading, and below each heading. */
export interface GuideWords {
  first: string
  headings: string[]
}

/** The list of pages, and the address of their words by the names of the pages, as JSON. */
export interface Guides {
  pages: Guide[]
  words: string
}

/** The facts about a page of the documentation that lists and the search need. */
export interface Guide {
  name: string
  /** The heading of the index that it is listed under; empty for the index itself. */
  section: string
  title: string
  /** Its first paragraph, as HTML. */
  about: string
  headings: GuideHeading[]
  /** The address of its sections, as JSON. */
  body: string
}

/** The placeholders in samples; pages replace them with the reader's address and key. */
export const sampleOrigin = 'http://127.0.0.1:8470'
export const sampleKey = 'YOUR_API_KEY'
export const sampleAdminToken = 'YOUR_ADMIN_TOKEN'

/** A sample with the address and key of the reader, ready to paste. */
export const filled = (text: string, origin: string, key: string): string =>
  text.replaceAll(sampleOrigin, origin).replaceAll(sampleKey, key)
