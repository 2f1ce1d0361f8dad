import { signal } from '@preact/signals'
import { once } from '../../../lib/once.ts'
import type { Guide, GuidePart, Guides, GuideWords } from '../../guides/guide.ts'
import { ask } from './ask.ts'
import { boot } from './boot.ts'
import { best, match } from './codes.ts'

/** The pages of the documentation in the order in which they are read; empty until loaded. */
export const guides = signal<readonly Guide[]>([])

const words = signal<Readonly<Record<string, GuideWords>>>({})

const loadFile = once(() => ask<Guides>(boot.guides))

/** Loads the list of pages. Throws `Refusal`. */
export const loadGuides = once(async () => {
  guides.value = (await loadFile()).pages
  return guides.value
})

/** Loads what a search of the pages needs. Throws `Refusal`. */
export const loadGuideWords = once(async () => {
  await loadGuides()
  words.value = await ask((await loadFile()).words)
})

/** Loads the text of one page. Throws `Refusal`. */
export const loadGuideParts = (guide: Guide, signal: AbortSignal): Promise<GuidePart[]> =>
  ask<GuidePart[]>(guide.body, { signal })

interface GuidePlace {
  href: string
  title: string
  /** The heading, where a part of the guide is meant. */
  heading: string
}

/** The places of pages that match a typed text, best first. */
export const matchingPlaces = (typed: string, limit: number): GuidePlace[] =>
  best(
    guides.value.flatMap(({ name, title, about, headings }) => {
      const { first = '', headings: below = [] } = words.value[name] ?? {}
      const all = [first, ...headings.map(({ text }, i) => `${text} ${below[i] ?? ''}`)].join(' ')
      return [
        {
          place: { href: `/docs/${name}`, title, heading: '' },
          score: match(title, typed) * 20 || match(`${title} ${about} ${all}`, typed),
        },
        ...headings.map(({ id, text }, i) => ({
          place: { href: `/docs/${name}#${id}`, title, heading: text },
          score: match(text, typed) * 10 || match(`${title} ${text} ${below[i] ?? ''}`, typed),
        })),
      ]
    }),
    ({ score }) => score,
    limit,
  ).map(({ place }) => place)
