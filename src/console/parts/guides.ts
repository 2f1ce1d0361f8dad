import { signal } from '@preact/signals'
import type { Guide, GuidePart } from '../guides/guide.ts'
import { ask } from './ask.ts'
import { boot } from './boot.ts'
import { match } from './codes.ts'

/** The pages of the documentation in the order in which they are read; empty until loaded. */
export const guides = signal<readonly Guide[]>([])

let loading: Promise<readonly Guide[]> | undefined

/** Loads the list of pages once in a tab. Throws `Refusal`. */
export function loadGuides(): Promise<readonly Guide[]> {
  loading ??= ask<Guide[]>(boot.guides).then(
    answer => {
      guides.value = answer
      return answer
    },
    error => {
      loading = undefined
      throw error
    },
  )
  return loading
}

/** Loads the text of one page. Throws `Refusal`. */
export const loadGuideParts = (guide: Guide, signal: AbortSignal): Promise<GuidePart[]> =>
  ask<GuidePart[]>(guide.body, { signal })

export interface GuidePlace {
  href: string
  title: string
  /** The heading, where a part of the guide is meant. */
  heading: string
}

/** The places of pages that match a typed text, best first. */
export const matchingPlaces = (typed: string, limit: number): GuidePlace[] =>
  guides.value
    .flatMap(({ name, title, about, words: first, headings }) => {
      const words = [first, ...headings.map(({ text, words }) => `${text} ${words}`)].join(' ')
      return [
        {
          place: { href: `/docs/${name}`, title, heading: '' },
          score: match(title, typed) * 20 || match(`${title} ${about} ${words}`, typed),
        },
        ...headings.map(({ id, text, words }) => ({
          place: { href: `/docs/${name}#${id}`, title, heading: text },
          score: match(text, typed) * 10 || match(`${title} ${text} ${words}`, typed),
        })),
      ]
    })
    .filter(({ score }) => score !== 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, limit)
    .map(({ place }) => place)
