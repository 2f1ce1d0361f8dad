import { parts } from '../../pages/commodities/parts.ts'
import { boot } from '../requests/boot.ts'
import type { IconName } from './icons.tsx'

export interface Destination {
  href: string
  text: string
}

interface Section extends Destination {
  icon: IconName
}

/** Where the rail of every page leads, for the person who is signed in. */
export const navigation = (): Section[] => [
  ...(boot.isSignedIn
    ? ([
        { href: '/market', text: 'Market', icon: 'market' },
        { href: '/board', text: 'Board', icon: 'board' },
        { href: '/series', text: 'Series', icon: 'series' },
        { href: '/markets', text: 'Markets', icon: 'markets' },
        { href: '/commodities', text: 'Commodities', icon: 'commodities' },
        { href: '/alerts', text: 'Alerts', icon: 'alerts' },
        { href: '/webhooks', text: 'Webhooks', icon: 'webhooks' },
        { href: '/account', text: 'Account', icon: 'account' },
      ] as const)
    : ([{ href: '/', text: 'Home', icon: 'home' }] as const)),
  ...(boot.isEvaluation ? ([{ href: '/desk', text: 'Desk', icon: 'desk' }] as const) : []),
  { href: '/docs', text: 'Docs', icon: 'docs' },
  { href: '/status', text: 'Status', icon: 'status' },
  { href: '/operator', text: 'Operator', icon: 'operator' },
]

/** A page or a part of one, with the words by which people look for it. */
export interface Place extends Destination {
  /** The page that it is a part of. */
  of: string
  words: string
}

const families = 'brent wti gasoil henry hub natural gas ttf carbon'

const markets: readonly Place[] = [
  {
    href: '/markets',
    text: 'Curves',
    words: `forward curve futures term structure contango backwardation calendar spreads ${families}`,
  },
  {
    href: '/markets/spreads',
    text: 'Spreads',
    words: 'cracks crack refining margins basis premiums',
  },
  {
    href: '/markets/power',
    text: 'Power',
    words: 'electricity day ahead delivery hours zones cheapest heat map gas day',
  },
  { href: '/markets/storage', text: 'Storage', words: 'stocks inventories five years stock' },
  { href: '/markets/seasons', text: 'Seasons', words: 'seasonality monthly returns heat map' },
  { href: '/markets/correlation', text: 'Correlation', words: 'matrix' },
  {
    href: '/markets/positions',
    text: 'Positions',
    words: 'cftc managed money commitments traders',
  },
  { href: '/markets/rigs', text: 'Rigs', words: 'rig count counts drilling baker' },
  { href: '/markets/permits', text: 'Permits', words: 'well permits drilling map' },
].map(place => ({ ...place, of: 'Markets' }))

const commodities: readonly Place[] = parts.map(({ part, text, words }) => ({
  href: part === '' ? '/commodities' : `/commodities/${part}`,
  text,
  words,
  of: 'Commodities',
}))

const series: readonly Place[] = [
  {
    href: '/series/formulas',
    text: 'Formulas',
    words: 'formula editor computed series crack spread template',
    of: 'Series',
  },
]

const account: readonly Place[] = [
  { href: '/account', text: 'Keys', words: 'api key token create revoke roll' },
  { href: '/account/usage', text: 'Usage', words: 'requests quota limits consumption' },
  {
    href: '/account/requests',
    text: 'Requests',
    words: 'log of requests errors refused status request id debug',
  },
  {
    href: '/account/plan',
    text: 'Plan',
    words: 'plans billing invoices invoice subscription upgrade price credits payment',
  },
  { href: '/account/members', text: 'Members', words: 'team organization invite roles people' },
  {
    href: '/account/notifications',
    text: 'Notifications',
    words: 'e-mail phone text messages sms channels',
  },
  {
    href: '/account/display',
    text: 'Display',
    words: 'preferences time zone number format colours scheme dark light dense',
  },
  { href: '/account/sources', text: 'Data sources', words: 'connector own data source' },
  { href: '/account/sign-ins', text: 'Sign-ins', words: 'sessions devices sign out password' },
].map(place => ({ ...place, of: 'Account' }))

const operator: readonly Place[] = [
  { href: '/operator', text: 'Overview', words: 'health condition operator' },
  { href: '/operator/feeds', text: 'Feeds', words: 'public sources publishers' },
  { href: '/operator/data', text: 'Data', words: 'import csv review held batches undo quarantine' },
  { href: '/operator/series', text: 'Series', words: 'add retire change series' },
  { href: '/operator/people', text: 'Customers', words: 'accounts people organizations plans' },
  { href: '/operator/outbox', text: 'Outbox', words: 'messages deliveries queue suppressed held' },
  { href: '/operator/backups', text: 'Backups', words: 'backup restore' },
  { href: '/operator/copies', text: 'Replicas', words: 'copies cluster replication' },
  { href: '/operator/logs', text: 'Logs', words: 'log' },
  { href: '/operator/audit', text: 'Audit', words: 'audit trail' },
  { href: '/operator/system', text: 'System', words: 'settings tokens tests admin' },
].map(place => ({ ...place, of: 'Operator' }))

const desk: readonly Place[] = [
  { href: '/desk', text: 'Scenarios', words: 'clock faults snapshots crash outage' },
  { href: '/desk/requests', text: 'Requests', words: 'log of requests' },
  { href: '/desk/inbox', text: 'Inbox', words: 'mail messages e-mail' },
  { href: '/desk/deliveries', text: 'Deliveries', words: 'webhooks sent' },
].map(place => ({ ...place, of: 'Desk' }))

/** Every part of every page that a search leads to. */
export const places = (): Place[] => [
  ...(boot.isSignedIn ? [...series, ...markets, ...commodities, ...account] : []),
  ...operator,
  ...(boot.isEvaluation ? desk : []),
]

/** The parts of a page, which the rail lists below it. */
export const partsOf = (href: string): Place[] =>
  places().filter(place => place.href === href || place.href.startsWith(`${href}/`))
