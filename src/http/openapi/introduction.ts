import type { Config } from '../../config/config.ts'
import { problems } from '../problem/problem.ts'
import type { OpenApiOptions } from './openapi.ts'

interface Names {
  /** The first is the one answered. */
  exchangeWords: readonly string[]
  headerPrefix: string
}

/** Tags of the document, in the order of its chapters. */
export const apiTags: Readonly<Record<string, string>> = {
  Service: 'Health, status, limits, the demo and this document. Most operations need no API key.',
  Catalogue: 'Commodity codes, their meaning, coverage and data quality.',
  Prices: 'Latest prices, windows, history, batches, exports and widgets.',
  Futures: 'Contracts, forward curves, settlements and trading sessions.',
  Spreads: 'Crack spreads, basis, refining margins, physical premiums and curve structure.',
  Analytics: 'Statistics, correlation, trends, forecasts and market indicators, with definitions.',
  Fundamentals: 'Inventories, storage, OPEC production and agency forecasts.',
  Drilling:
    'Rig counts, drilling productivity, well permits, frac disclosures and well production.',
  Fuels: 'Marine and bunker fuels, diesel pump prices and fuel surcharges.',
  'Data sources':
    "An account's own prices, fetched from a URL or file or pushed, with their sync logs.",
  Alerts: 'Alerts on prices and analytics, and their triggers.',
  'Watches and streams': 'Watches that evaluate codes on a schedule, and event and price streams.',
  Webhooks: 'Webhook endpoints and the deliveries to them.',
  Notifications: 'Notifications and their settings, scheduled e-mails, and text messages.',
  Account: 'The account, API keys, usage, sign-in and organization members.',
  Billing: 'Plans, subscriptions, payments, invoices and credits.',
  'Power and gas': 'Market days, delivery periods, averages and the cheapest time to use power.',
  Integrations:
    'Spreadsheets, charting libraries, dashboards, and assistants that use the Model Context Protocol.',
  Operator: 'Administration of the service. Requires the admin token.',
}

/** Names that the operator can set: as the texts and examples write them, and as configured. */
export function documentNames({
  exchangeWords,
  headerPrefix,
}: Names): Readonly<Record<string, string>> {
  const [word = 'exch'] = exchangeWords
  return { 'exch-': `${word}-`, EXCH_: `${word.toUpperCase()}_`, 'X-Service-': headerPrefix }
}

/** The parts of an instance's OpenAPI document that do not come from its routes. */
export const documentOptions = ({
  brand,
  server,
}: Pick<Config, 'brand' | 'server'>): OpenApiOptions => ({
  serviceName: brand.serviceName,
  description: apiIntroduction(brand.serviceName),
  baseUrl: server.baseUrl || '/',
  contactUrl: brand.supportUrl,
  tags: apiTags,
  names: documentNames(brand),
})

/** The introduction of the document: what every caller must know once. */
export const apiIntroduction = (
  serviceName: string,
): string => `${serviceName} serves energy prices with their full revision history.

## Authentication
Send the API key as \`Authorization: Token <API_KEY>\`; \`Bearer\` works too. GET and HEAD also take \`?api_key=<API_KEY>\` where no Authorization header is sent. A session token, as returned by \`POST /v1/auth/session\`, goes after \`Bearer\` and acts with the rights of its account.

A key may be limited: to an expiry, networks, domains, reading, or \`scopes\`. \`x-scope\` of an operation names the scope that it requires (403 \`KEY_SCOPE_MISSING\` without it); operations without one are open to every key. A limited key cannot manage keys, people or payments, or read secrets (403 \`KEY_LIMITED\`).

## Limits
Every response to a request with a key carries \`X-RateLimit-*\` for its quota and \`RateLimit\`, \`RateLimit-Policy\` (IETF draft) for every window. A 304 does not count against the quota. \`GET /v1/meta/limits\` returns the limits that apply.

## Times
Timestamps are ISO 8601 in UTC. Dates are UTC calendar days; ranges include both ends.

## Unknown parameters
An unknown query parameter is ignored and named in the response header \`X-Service-Ignored-Parameters\` (\`start;nearest=start_date\`) and, if the body has a \`metadata\` object, in \`metadata.ignored_parameters\`. So is an unknown field of a body, such as \`price_alert.cooldown;nearest=cooldown_minutes\`. With \`Prefer: handling=strict\` the request fails with 400, or with 422 for a field, instead.

A parameter that is given twice with different values is refused with 400. Separate several codes with commas.

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
