import { type PageWithParts, pageParts } from '../../paths.ts'
import { mayOperate } from '../person/operator-token.tsx'
import { boot } from '../requests/boot.ts'
import { words as textWords } from '../text/format.ts'
import type { IconName } from './icons.tsx'

interface Destination {
  href: string
  text: string
}

interface Section extends Destination {
  icon: IconName
  /** Further words by which people look for it. */
  words?: string
}

/** Where the rail of every page leads, for the person who is signed in. */
export const navigation = (): Section[] => [
  ...(boot.isSignedIn
    ? ([
        { href: '/market', text: 'Market', icon: 'market', words: 'morning movers' },
        { href: '/board', text: 'Board', icon: 'board', words: 'watchlist' },
        { href: '/series', text: 'Series', icon: 'series', words: 'catalogue coverage' },
        { href: '/markets', text: 'Markets', icon: 'markets' },
        { href: '/commodities', text: 'Commodities', icon: 'commodities' },
        { href: '/alerts', text: 'Alerts', icon: 'alerts', words: 'backtest' },
        { href: '/webhooks', text: 'Webhooks', icon: 'webhooks', words: 'endpoints deliveries' },
        { href: '/account', text: 'Account', icon: 'account' },
      ] as const)
    : ([{ href: '/', text: 'Home', icon: 'home' }] as const)),
  ...(boot.isEvaluation ? ([{ href: '/desk', text: 'Desk', icon: 'desk' }] as const) : []),
  { href: '/docs', text: 'Docs', icon: 'docs', words: 'reference openapi postman bruno' },
  { href: '/status', text: 'Status', icon: 'status', words: 'uptime availability incidents sla' },
  ...(mayOperate() ? ([{ href: '/operator', text: 'Operator', icon: 'operator' }] as const) : []),
]

/** A page or a part of one, with the words by which people look for it. */
export interface Place extends Destination {
  /** The page that it is a part of. */
  of: string
  words: string
}

const placesOf = (page: PageWithParts): Place[] =>
  Object.entries<readonly [text: string, words: string]>(pageParts[page]).map(
    ([part, [text, words]]) => ({
      href: part === '' ? `/${page}` : `/${page}/${part}`,
      text,
      words,
      of: textWords(page),
    }),
  )

/** Every part of every page that a search leads to. */
export const places = (): Place[] => [
  ...(boot.isSignedIn
    ? (['series', 'markets', 'commodities', 'account'] as const).flatMap(placesOf)
    : []),
  ...(mayOperate() ? placesOf('operator') : []),
  ...(boot.isEvaluation ? placesOf('desk') : []),
]

/** The parts of a page, which the rail lists below it. */
export const partsOf = (href: string): Place[] =>
  places().filter(place => place.href === href || place.href.startsWith(`${href}/`))
