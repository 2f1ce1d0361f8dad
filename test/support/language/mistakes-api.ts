import type { Demand } from './grade.ts'

/** A mistake of a caller of the API, and what the response has to say of it. */
export interface ApiMistake extends Demand {
  mistake: string
  method?: string
  path: string
  body?: unknown
  /** `authorization: ''` sends no key. */
  headers?: Readonly<Record<string, string>>
  /** The request carries the admin token. */
  isOperator?: boolean
  status: number
}

const window = '/v1/prices/past_day'
const codes21 = Array.from({ length: 21 }, (_, i) => `CODE_${i}`).join(',')
const wholeNumber = 'a whole number of 1 or more'
const moment = 'an ISO 8601 time with a zone, such as'
const date = 'a date (YYYY-MM-DD)'
const intervals = 'raw, minute, hour, day, week, month, quarter or year'
const operators =
  'greater_than, less_than, equals, not_equals, between, greater_than_or_equal or less_than_or_equal'
const alert = {
  name: 'WTI above 80',
  commodity_code: 'WTI_USD',
  condition_operator: 'greater_than',
  condition_value: 80,
}
const hook = { url: 'https://example.com/hook', events: ['price.updated'] }
const plans = 'free, developer, starter, professional, scale or enterprise'
const series = {
  code: 'DESK_USD',
  name: 'Desk',
  category: 'crude_oil',
  unit: 'barrel',
  currency: 'USD',
}
const observation = { code: 'WTI_USD', price: 71, observed_at: '2026-11-20T10:00:00Z' }
const pushed = '/admin/v1/observations'

/** The 39 mistakes that the review of the language tried. */
// biome-ignore format: one mistake a line
export const readApiMistakes: readonly ApiMistake[] = [
  { mistake: 'no key', path: '/v1/prices/latest', headers: { authorization: '' }, status: 401, names: 'API key', right: '"Authorization: Token <API_KEY>"' },
  { mistake: 'a key that is none', path: '/v1/prices/latest', headers: { authorization: 'Token abc' }, status: 401, names: 'API key', right: '64 hexadecimal digits', got: 'got 3 characters' },
  { mistake: 'a user name in HTTP Basic that is no key', path: '/v1/prices/latest', headers: { authorization: 'Basic YWJjOmRlZg==' }, status: 401, names: 'API key', right: '64 hexadecimal digits', got: 'got 3 characters' },
  { mistake: 'a misspelt code', path: '/v1/prices/latest?by_code=BRNT_CRUDE', status: 400, names: 'commodity code', right: 'GET /v1/commodities lists', got: 'BRNT_CRUDE', nearest: 'Did you mean BRENT_CRUDE_USD' },
  { mistake: '21 codes', path: `/v1/prices/latest?by_code=${codes21}`, status: 400, names: 'codes', right: 'At most 20', got: 'got 21' },
  { mistake: 'a misspelt path, from a client of JSON', path: '/v1/price/latest', headers: { accept: 'application/json' }, status: 404, names: '/v1/price/latest', right: 'GET /openapi.json', nearest: 'Did you mean /v1/prices/latest' },
  { mistake: 'a misspelt path', path: '/v1/price/latest', status: 404, names: '/v1/price/latest', right: 'GET /openapi.json', nearest: 'Did you mean /v1/prices/latest' },
  { mistake: 'POST where there is only GET', method: 'POST', path: '/v1/prices/latest', body: {}, status: 404, names: '/v1/prices/latest', right: 'takes GET only', got: 'POST' },
  { mistake: 'interval=2d', path: `${window}?interval=2d`, status: 400, names: 'interval must be', right: intervals, got: 'got "2d"' },
  { mistake: 'start_date=01/02/2026', path: `${window}?start_date=01/02/2026`, status: 400, names: 'start_date must be', right: date, got: 'got "01/02/2026"' },
  { mistake: 'a reversed range', path: `${window}?start_date=2026-11-10&end_date=2026-11-01`, status: 400, names: 'start_date', right: 'is after end_date', got: '2026-11-10' },
  { mistake: 'as_of with bars', path: `${window}?by_code=WTI_USD&as_of=2026-11-01T00:00:00Z&interval=day`, status: 400, names: 'as_of', right: 'interval must be raw or absent', nearest: '/v1/prices/chart' },
  { mistake: 'as_of without a zone', path: `${window}?as_of=2026-11-01`, status: 400, names: 'as_of must be', right: moment, got: 'got "2026-11-01"' },
  { mistake: 'per_page=abc', path: `${window}?per_page=abc`, status: 400, names: 'per_page must be', right: wholeNumber, got: 'got "abc"' },
  { mistake: 'page=-1', path: `${window}?page=-1`, status: 400, names: 'page must be', right: wholeNumber, got: 'got "-1"' },
  { mistake: 'start for start_date, strictly', path: `${window}?start=2026-11-01`, headers: { prefer: 'handling=strict' }, status: 400, names: 'start is not a parameter', nearest: 'Did you mean start_date?' },
  { mistake: 'format=xls', path: `${window}?format=xls`, status: 400, names: 'format must be', right: 'parquet, arrow or xlsx', got: 'got "xls"' },
  { mistake: 'an unknown currency', path: `${window}?by_code=WTI_USD&currency=XYZ`, status: 400, names: 'currency must be', right: 'a currency with an exchange rate: ', got: 'got "XYZ"' },
  { mistake: 'an alert of nothing', method: 'POST', path: '/v1/alerts', body: {}, status: 422, names: 'name is required', right: 'commodity_code is required' },
  { mistake: 'JSON that ends too early', method: 'POST', path: '/v1/alerts', body: '{"name":', status: 400, names: 'The body', right: 'must be valid JSON', got: 'it ends too early' },
  { mistake: 'a form', method: 'POST', path: '/v1/alerts', body: 'name=a', headers: { 'content-type': 'application/x-www-form-urlencoded' }, status: 400, names: 'The body', right: 'Content-Type: application/json', got: 'got application/x-www-form-urlencoded' },
  { mistake: 'an operator as a sign', method: 'POST', path: '/v1/alerts', body: { ...alert, condition_operator: '>' }, status: 422, names: 'condition_operator must be', right: operators, got: 'got ">"', nearest: 'Did you mean greater_than?' },
  { mistake: 'a webhook without TLS', method: 'POST', path: '/v1/webhooks', body: { ...hook, url: 'http://example.com/hook' }, status: 422, names: 'url must be', right: 'an https address', got: 'got "http://example.com/hook"' },
  { mistake: 'an unknown event', method: 'POST', path: '/v1/webhooks', body: { ...hook, events: ['price.changed'] }, status: 422, names: 'events must be', right: 'event types', got: 'price.changed', nearest: 'Did you mean price.updated?' },
  { mistake: 'a private address', method: 'POST', path: '/v1/webhooks', body: { ...hook, url: 'https://10.0.0.1/hook' }, status: 422, names: 'url must be', right: 'an address on the public internet', got: 'got "https://10.0.0.1/hook"' },
  { mistake: 'an unknown alert', path: '/v1/alerts/123', status: 404, names: 'alert', right: 'No alert has the id', got: '"123"' },
  { mistake: 'a delivery at 7am in Berlin', method: 'POST', path: '/v1/scheduled-deliveries', body: { name: 'a', commodity_codes: ['WTI_USD'], frequency: 'daily', delivery_time: '7am', timezone: 'Berlin' }, status: 422, names: 'delivery_time must be', right: 'a time from 00:00 to 23:59, such as 07:00', got: 'got "7am"' },
  { mistake: 'a batch of nothing', method: 'POST', path: '/v1/prices/batch', body: {}, status: 400, names: 'codes', right: '{"codes": ["WTI_USD"' },
  { mistake: 'to_unit=pint', path: '/v1/prices/convert?by_code=WTI_USD&to_unit=pint', status: 400, names: 'to_unit must be', right: 'barrel, metric_ton, gallon', got: 'got "pint"' },
  { mistake: 'a column of bars in an export of rows', path: '/v1/export/prices?codes=WTI_USD&columns=close', status: 400, names: 'columns must be', right: 'price', got: 'got "close"' },
  { mistake: 'an API key on a path of the operator', path: '/admin/v1/accounts', status: 401, names: 'admin token', right: '"Authorization: Bearer <ADMIN_TOKEN>"' },
  { mistake: 'a pushed time without a zone', method: 'POST', path: pushed, isOperator: true, body: { observations: [{ ...observation, observed_at: '2026-11-20T10:00:00' }] }, status: 422, names: 'observations[0].observed_at', right: '2026-11-20T10:00:00Z', got: '2026-11-20T10:00:00' },
  { mistake: 'a price in cents', method: 'POST', path: pushed, isOperator: true, body: { observations: [{ ...observation, price: 7120 }] }, status: 422, names: 'observations[0].price', right: 'outside the accepted range', got: '7120', nearest: '71.2' },
  { mistake: 'an unknown plan', method: 'POST', path: '/admin/v1/accounts', isOperator: true, body: { email: 'a@example.com', plan: 'gold' }, status: 422, names: 'plan must be', right: plans, got: 'got "gold"' },
  { mistake: 'a sign-up without an address', method: 'POST', path: '/v1/auth/signup', body: { email: 'nope' }, status: 422, names: 'email must be', right: 'an e-mail address', got: 'got "nope"' },
  { mistake: 'a wrong password', method: 'POST', path: '/v1/auth/session', body: { email: 'a@example.com', password: 'wrong' }, status: 401, names: 'password', right: 'address, password or link is not valid' },
  { mistake: 'an Idempotency-Key with another body', method: 'POST', path: '/v1/alerts', body: { ...alert, name: 'another' }, headers: { 'idempotency-key': 'used' }, status: 422, names: 'Idempotency-Key', right: 'already used with a different request body' },
  { mistake: 'a code that the demo lacks', path: '/v1/demo/prices/JET_FUEL_USD', status: 403, names: 'demo', right: '/v1/prices/latest does', got: 'JET_FUEL_USD' },
  { mistake: 'webhooks on the free plan', method: 'POST', path: '/v1/webhooks', body: hook, headers: { 'x-plan': 'free' }, status: 403, names: 'Webhooks', right: 'Professional', got: 'Free' },
]

/** More mistakes, one or more of each family of paths. */
// biome-ignore format: one mistake a line
export const moreApiMistakes: readonly ApiMistake[] = [
  { mistake: 'a misspelt precision', path: '/v1/prices/latest?by_code=WTI_USD&precision=ful', status: 400, names: 'precision must be', right: 'rounded or full', got: 'got "ful"', nearest: 'Did you mean full?' },
  { mistake: 'an amount of zero', path: '/v1/prices/convert?by_code=WTI_USD&amount=0', status: 400, names: 'amount must be', right: 'a decimal number above 0', got: 'got "0"' },
  { mistake: 'days=0', path: `${window}?days=0`, status: 400, names: 'days must be', right: 'a whole number from 1 to 365', got: 'got "0"' },
  { mistake: 'a misspelt period', path: `${window}?period=past_dya`, status: 400, names: 'period must be', right: 'past_day, past_week, past_month or past_year', got: 'got "past_dya"', nearest: 'Did you mean past_day?' },
  { mistake: 'the start of a word', path: `${window}?by_type=spott`, status: 400, names: 'by_type must be', right: 'spot_price, futures_price', got: 'got "spott"', nearest: 'Did you mean spot_price?' },
  { mistake: 'a thirteenth month', path: `${window}?at=2026-13-01`, status: 400, names: 'at must be', right: date, got: 'got "2026-13-01"' },
  { mistake: 'a thirteenth month in the path', path: '/v1/prices/2026-13-01', status: 404, names: '{date} must be', right: 'a day, such as 2026-11-20', got: 'got "2026-13-01"' },
  { mistake: 'a 30th of February', path: '/v1/ei/oil_inventories?start_date=2026-02-30', status: 400, names: 'start_date must be', right: date, got: 'got "2026-02-30"' },
  { mistake: 'a widget as XML', path: '/v1/prices/widget?format=xml', status: 400, names: 'format must be', right: 'json or html', got: 'got "xml"' },
  { mistake: 'a misspelt code of a chart', path: '/v1/prices/chart?code=WTI_UDS', status: 400, names: 'commodity code', right: 'GET /v1/commodities lists', got: 'WTI_UDS', nearest: 'Did you mean WTI_USD' },
  { mistake: 'revisions of no code', path: '/v1/prices/vintages', status: 400, names: 'by_code is required', right: 'one code or alias' },
  { mistake: 'an export of no codes', path: '/v1/export/prices', status: 400, names: 'codes is required', right: '1 to 200 codes or aliases, or *' },
  { mistake: 'a misspelt format of an export', path: '/v1/export/prices?codes=WTI_USD&format=parket', status: 400, names: 'format must be', right: 'parquet', got: 'got "parket"', nearest: 'Did you mean parquet?' },
  { mistake: 'a period in words', path: '/v1/analytics/statistics?code=WTI_USD&period=month', status: 400, names: 'period must be', right: 'a whole number from 2 to 1825', got: 'got "month"' },
  { mistake: 'statistics of no code', path: '/v1/analytics/statistics', status: 400, names: 'code is required', right: 'a commodity code, such as WTI_USD' },
  { mistake: 'a window of one', path: '/v1/analytics/rolling?code=WTI_USD&window=1', status: 400, names: 'window must be', right: 'a whole number from 2 to 500', got: 'got "1"' },
  { mistake: 'an unknown method', path: '/v1/analytics/forecast?code=WTI_USD&method=arima', status: 400, names: 'method must be', right: 'sma, ema or combined', got: 'got "arima"' },
  { mistake: 'a range without its unit', path: '/v1/analytics/performance?range=7', status: 400, names: 'range must be', right: '7d, 30d or 90d', got: 'got "7"', nearest: 'Did you mean 7d?' },
  { mistake: 'an unknown category', path: '/v1/commodities?category=crude', status: 400, names: 'category must be', right: 'biofuels, carbon, coal', got: 'got "crude"', nearest: 'Did you mean crude_oil?' },
  { mistake: 'a misspelt code in the path', path: '/v1/commodities/WTI_UDS', status: 404, names: 'commodity code', right: 'GET /v1/commodities lists', got: 'WTI_UDS', nearest: 'Did you mean WTI_USD' },
  { mistake: 'an unknown spread', path: '/v1/spreads/crack?id=nope', status: 400, names: 'id must be', right: 'brent_gasoil, wti_321', got: 'got "nope"' },
  { mistake: 'an unknown futures family', path: '/v1/futures/ice-brnt', status: 404, names: '{slug} must be', right: 'natural-gas, eua-carbon, ttf-gas', got: 'got "ice-brnt"' },
  { mistake: 'a misspelt storage series', path: '/v1/storage/history/CUSHNG', status: 404, names: 'storage series', got: '"CUSHNG"', nearest: 'Did you mean CUSHING?' },
  { mistake: 'an unknown port', path: '/v1/bunker-fuels/ports/SINGAPOR', status: 404, names: 'port', got: '"SINGAPOR"', nearest: 'Did you mean SINGAPORE?' },
  { mistake: 'an unknown state', path: '/v1/diesel-prices?state=XX', status: 404, names: 'state', right: 'Use one of AL, AZ', got: '"XX"' },
  { mistake: 'a misspelt basin', path: '/v1/drilling-intelligence/basin/permien', status: 404, names: 'basin', got: '"permien"', nearest: 'Did you mean permian?' },
  { mistake: 'an unknown permit', path: '/v1/ei/well-permits/99', status: 404, names: 'well permit', right: 'No well permit has the id', got: '"99"' },
  { mistake: 'a value that is text', method: 'POST', path: '/v1/alerts', body: { ...alert, condition_value: 'much' }, status: 422, names: 'condition_value must be', right: 'a number from', got: 'got "much"' },
  { mistake: 'a misspelt operator', method: 'POST', path: '/v1/alerts', body: { ...alert, condition_operator: 'greater_then' }, status: 422, names: 'condition_operator must be', right: operators, got: 'got "greater_then"', nearest: 'Did you mean greater_than?' },
  { mistake: 'a cooldown of days', method: 'POST', path: '/v1/alerts', body: { ...alert, cooldown_minutes: 5000 }, status: 422, names: 'cooldown_minutes must be', right: 'a whole number from 0 to 1440', got: 'got 5000' },
  { mistake: 'a field under a shorter name', method: 'POST', path: '/v1/subscriptions', body: { code: 'WTI_USD' }, status: 422, names: 'codes is required', got: 'got "code" instead' },
  { mistake: 'an expiry in words', method: 'POST', path: '/v1/api-keys', body: { name: 'k', expires_at: 'tomorrow' }, status: 422, names: 'expires_at must be', right: moment, got: 'got "tomorrow"' },
  { mistake: 'a misspelt scope', method: 'POST', path: '/v1/api-keys', body: { name: 'k', scopes: ['price'] }, status: 422, names: 'scopes.0 must be', right: 'prices, futures, analytics', got: 'got "price"', nearest: 'Did you mean prices?' },
  { mistake: 'an address beyond 255', method: 'POST', path: '/v1/api-keys', body: { name: 'k', allowed_ips: ['300.1.1.1'] }, status: 422, names: 'allowed_ips.0 must be', right: 'a network such as 203.0.113.0/24', got: 'got "300.1.1.1"' },
  { mistake: 'codes as one text', method: 'POST', path: '/v1/prices/batch', body: { codes: 'WTI_USD;BRENT' }, status: 400, names: 'codes must be', right: 'a list of strings', got: 'got "WTI_USD;BRENT"' },
  { mistake: 'an unknown role', method: 'POST', path: '/organizations/members', body: { email: 'a@example.com', role: 'boss' }, status: 422, names: 'role must be', right: 'admin, member or read_only', got: 'got "boss"' },
  { mistake: 'a misspelt plan', method: 'POST', path: '/admin/v1/accounts', isOperator: true, body: { email: 'a@example.com', plan: 'profesional' }, status: 422, names: 'plan must be', right: plans, got: 'got "profesional"', nearest: 'Did you mean professional?' },
  { mistake: 'a misspelt cadence', method: 'POST', path: '/admin/v1/series', isOperator: true, body: { ...series, cadence: 'dayly' }, status: 422, names: 'cadence must be', right: 'daily, weekly or monthly', got: 'got "dayly"', nearest: 'Did you mean daily?' },
  { mistake: 'a code with a blank', method: 'POST', path: '/admin/v1/series', isOperator: true, body: { ...series, code: 'my series' }, status: 422, names: 'code must be', right: '2 to 50 capital letters, digits and _', got: 'got "my series"' },
  { mistake: 'a misspelt status of an invoice', path: '/admin/v1/invoices?status=payed', isOperator: true, status: 400, names: 'status must be', right: 'draft, open, paid, void or uncollectible', got: 'got "payed"', nearest: 'Did you mean paid?' },
]
