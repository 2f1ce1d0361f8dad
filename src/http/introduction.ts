import { problems } from './problem.ts'

/** Tags of the document in the order of its chapters. */
export const apiTags: Readonly<Record<string, string>> = {
  discovery: 'What this service has and how it is doing. Most of it needs no key.',
  catalogue: 'The codes, what they mean and how far their data reaches.',
  prices: 'Latest prices, windows, history and batches.',
  futures: 'Contracts, curves, settlements and the sessions of the markets.',
  spreads: 'Cracks, bases, margins, premiums and the structure of curves.',
  analytics: 'Statistics, correlation, trend and forecast of daily closes, each number defined.',
  indicators: 'What markets and positions say beside the price.',
  storage: 'Stocks of crude oil, products and gas, and how full the places are.',
  marine: 'Ship fuel at the large ports.',
  'fuel surcharge': 'What carriers add for fuel.',
  'market brief': 'Prices, their day and their month ahead in one answer.',
  spreadsheet: 'The same data for spreadsheets.',
  account: 'The account, its keys and their use.',
  documentation: 'This document and its page.',
  operator: 'For whoever runs the service; takes the admin token.',
}

/** The introduction of the document: what every caller must know once. */
export const apiIntroduction = (serviceName: string): string => `${serviceName} serves energy prices with their full revision history.

## Authentication
Send the API key as \`Authorization: Token <API_KEY>\`; \`Bearer\` works too. GET and HEAD also take \`?api_key=<API_KEY>\` where no Authorization header is sent.

## Limits
Every answer to a key carries \`X-RateLimit-*\` for its quota and \`RateLimit\`, \`RateLimit-Policy\` (IETF draft) for every window. A 304 does not count against the quota. \`GET /v1/meta/limits\` has the numbers in force.

## Times
Timestamps are ISO 8601 in UTC. Dates are UTC calendar days; ranges include both their ends.

## Errors
Branch on the HTTP status first, then on the code. Errors carry \`X-Error-Code\`, \`X-Error-Status\` and \`X-Error-Message\`.

| Code | Status | Retry | When |
|---|---|---|---|
${Object.entries(problems)
  .map(([code, one]) => `| <a id="${code}"></a>\`${code}\` | ${one.status} | ${one.retryable ? 'yes' : 'no'} | ${one.when} |`)
  .join('\n')}
`
