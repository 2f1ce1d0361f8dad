import { boot } from './boot.ts'

export interface Destination {
  href: string
  text: string
}

/** Where the top of every page leads, for who looks at it. */
export const navigation = (): Destination[] => [
  ...(boot.isSignedIn
    ? [
        { href: '/board', text: 'Board' },
        { href: '/series', text: 'Series' },
        { href: '/markets', text: 'Markets' },
        { href: '/alerts', text: 'Alerts' },
        { href: '/webhooks', text: 'Webhooks' },
        { href: '/account', text: 'Account' },
      ]
    : [{ href: '/', text: 'Home' }]),
  ...(boot.isEvaluation ? [{ href: '/desk', text: 'Desk' }] : []),
  { href: '/docs', text: 'Docs' },
  { href: '/status', text: 'Status' },
]
