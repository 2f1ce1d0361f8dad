import type { Config } from '../../config/config.ts'
import { problems } from '../problem/problem.ts'
import type { OpenApiOptions } from './openapi.ts'

interface Names {
  /** The first is the one answered. */
  exchangeWords: readonly string[]
  headerPrefix: string
}

/** Tags of the document in the order of its chapters. */
export const apiTags: Readonly<Record<string, string>> = {
  discovery: 'What this service has and how it is doing. Most of it needs no key.',
  catalogue: 'The codes, what they mean and how far their data reaches.',
  prices: 'Latest prices, windows, history and batches.',
  futures: 'Contracts, curves, settlements and the sessions of the markets.',
  spreads: 'Cracks, bases, margins, premiums and the structure of curves.',
  analytics: 'Statistics, correlation, trend and forecast of daily closes, each number defined.',
  indicators: 'What markets and positions say beside the price.',
  'Energy intelligence':
    'Drilling, inventories, production and forecasts by those who publish them, wells and permits.',
  'well production':
    'What wells, states and the country produce, and how long wells take to get there.',
  storage: 'Stocks of crude oil, products and gas, and how full the places are.',
  marine: 'Ship fuel at the large ports.',
  bunker: 'The same prices by port, with their spreads, history and export.',
  diesel:
    'Pump prices of diesel in the United States: averages by state, and stations around a place.',
  'fuel surcharge': 'What carriers add for fuel.',
  'data quality': 'How complete, timely, accurate and consistent the stored data is.',
  'data sources':
    "Prices of an account's own, from an address, a file or whoever pushes them, and what came of each sync.",
  'market brief': 'Prices, their day and their month ahead in one answer.',
  watches: 'Codes that are looked at on a rhythm, and the feed of what was seen.',
  streams: 'Events of watches and prices as they come.',
  charting: 'Bars, quotes and marks in the datafeed protocol of charting libraries.',
  spreadsheet: 'The same data for spreadsheets.',
  webhooks: 'Endpoints that are told of events, and what became of each delivery.',
  alerts: 'Conditions on prices and on what daily closes come to, and what they fired.',
  'scheduled deliveries': 'Prices by e-mail at a time of day, with a table to work with.',
  account: 'The account, its keys and their use.',
  'sign-in': 'Sessions of people, which act like a key of their account.',
  billing: 'Plans, what is paid for them, and requests bought beside them.',
  organizations: 'People who act on one account together, and what each of them may do.',
  phone: 'The phone number of the account and text messages to it.',
  notifications: 'What happened, as a list, and by which ways the account wants to hear of it.',
  documentation: 'This document and its page.',
  operator: 'For whoever runs the service; takes the admin token.',
}

/**
 * How the texts and examples of the routes write what is a name of the operator's own, and the
 * names in force.
 */
export function documentNames({
  exchangeWords,
  headerPrefix,
}: Names): Readonly<Record<string, string>> {
  const [word = 'exch'] = exchangeWords
  return { 'exch-': `${word}-`, EXCH_: `${word.toUpperCase()}_`, 'X-Service-': headerPrefix }
}

/** What the document of an instance says beside its routes. */
export const documentOptions = ({
  brand,
  server,
}: Pick<Config, 'brand' | 'server'>): OpenApiOptions => ({
  serviceName: brand.serviceName,
  description: apiIntroduction(brand.serviceName),
  baseUrl: server.baseUrl || '/',
  tags: apiTags,
  names: documentNames(brand),
})

/** The introduction of the document: what every caller must know once. */
export const apiIntroduction = (
  serviceName: string,
): string => `${serviceName} serves energy prices with their full revision history.

## Authentication
Send the API key as \`Authorization: Token <API_KEY>\`; \`Bearer\` works too. GET and HEAD also take \`?api_key=<API_KEY>\` where no Authorization header is sent. A session token, as \`POST /v1/auth/session\` answers it, goes after \`Bearer\` and acts with the rights of its account.

A key may be limited: to an expiry, networks, domains, reading, or \`scopes\`. \`x-scope\` of an operation names the scope that it is of (403 \`KEY_SCOPE_MISSING\` without it); operations without one are open to every key. A limited key manages no keys, people or payments and reads no secrets (403 \`KEY_LIMITED\`).

## Limits
Every answer to a key carries \`X-RateLimit-*\` for its quota and \`RateLimit\`, \`RateLimit-Policy\` (IETF draft) for every window. A 304 does not count against the quota. \`GET /v1/meta/limits\` has the numbers in force.

## Times
Timestamps are ISO 8601 in UTC. Dates are UTC calendar days; ranges include both their ends.

## Unknown parameters
A query parameter that an operation does not have is ignored and named: in the header \`X-Service-Ignored-Parameters\` (\`start;nearest=start_date\`) and, where the body has a \`metadata\` object, in \`metadata.ignored_parameters\`. With \`Prefer: handling=strict\` it is refused with 400 instead.

## Errors
Branch on the HTTP status first, then on the code. Errors carry \`X-Error-Code\`, \`X-Error-Status\` and \`X-Error-Message\`.

| Code | Status | Retry | When |
|---|---|---|---|
${Object.entries(problems)
  .map(
    ([code, problem]) =>
      `| <a id="${code}"></a>\`${code}\` | ${problem.status} | ${problem.retryable ? 'yes' : 'no'} | ${problem.when} |`,
  )
  .join('\n')}
`
