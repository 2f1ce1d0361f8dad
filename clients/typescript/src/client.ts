import { NotFound } from './errors.ts'
import { createOperations } from './operations.ts'
import { paged } from './paged.ts'
import { type StreamEvent, type StreamOptions, streamEvents } from './stream.ts'
import { createTransport, type Fetch, type TransportOptions } from './transport.ts'

export * from './errors.ts'
export type { StreamEvent, StreamOptions } from './stream.ts'
export type { Fetch, TransportOptions } from './transport.ts'
export { type VerifyOptions, verifyWebhook, type WebhookEvent } from './webhooks.ts'

export interface ClientOptions extends TransportOptions {
  /** Where the service is; `http://127.0.0.1:8470`. */
  url?: string
}

/** Every operation of the interface, by its `operationId`. */
export type Operations = ReturnType<typeof createOperations>
type Paged = typeof paged
/** Operations that answer pages. */
export type PagedName = keyof Paged & keyof Operations
type Answer<Name extends keyof Operations> = Awaited<ReturnType<Operations[Name]>>
type At<T, Keys extends readonly string[]> = Keys extends readonly [
  infer Key,
  ...infer Rest extends readonly string[],
]
  ? Key extends keyof T
    ? At<T[Key], Rest>
    : never
  : T
type Item<T> = T extends readonly (infer Element)[] ? Element : never
/** A row of the pages of an operation. */
export type Row<Name extends PagedName> = Item<At<Answer<Name>, Paged[Name]['rows']>>

type LatestAnswer = Answer<'getLatestPrices'>['data']
/** A price as `latest` answers it. */
export type Price = Exclude<LatestAnswer, { prices: unknown[] }>
/** A price of a history. */
export type HistoryRow = Row<'getHistoricalPrices'>
/** What a stream says of a watched code. */
export type WatchEvent = Answer<'listWatchEvents'>['data']['events'][number]

/** A value that was added, corrected or deleted. */
export type Change = Answer<'listChanges'>['data']['changes'][number]

export type Moment = string | Date

export interface ChangesOptions {
  /** The cursor of the last change that you have; `start`, a time, or `start` where it is absent. */
  since?: string
  /** At most 200. Without them: every code. */
  codes?: readonly string[]
}

export interface HistoryOptions {
  /** Inclusive; a day or a moment with a zone. Without both: the last 30 days. */
  start?: Moment
  end?: Moment
  interval?: 'raw' | 'minute' | 'hour' | 'day' | 'week' | 'month'
  /** The raw prices as the service would have answered them at that moment. */
  asOf?: Moment
}

export interface Client {
  /** Every operation of the interface: `client.api.getFuturesCurve('exch-wti')`. */
  readonly api: Operations
  /** The newest price of each code, in the order asked, as many codes as you like. One that has no price is left out. */
  latest(...codes: string[]): Promise<Price[]>
  /**
   * The prices of the codes (at most 20) in a range, newest first, over all pages. Codes with several prices a day have
   * bars: without `interval`, of an hour in a range of more than a day and of a day in one of more than a week; with
   * `raw`, of an hour in one of more than 31 days. `client.api.exportPrices` has every price of any range.
   */
  history(codes: string | readonly string[], options?: HistoryOptions): AsyncGenerator<HistoryRow>
  /** The rows of all pages of an operation: `client.rows('listWellPermits', { state: 'TX' })`. */
  rows<Name extends PagedName>(
    name: Name,
    ...args: Parameters<Operations[Name]>
  ): AsyncGenerator<Row<Name>>
  /**
   * Every change of a value after a cursor, in the order of recording, up to the newest. Keep the
   * `cursor` of each with what you have made of it, and send the last as `since` the next time.
   */
  changes(options?: ChangesOptions): AsyncGenerator<Change>
  /** The events of the account's watches as they come; one that breaks off goes on where it was. */
  stream(options?: StreamOptions): AsyncGenerator<StreamEvent<WatchEvent>>
}

const codesPerRequest = 20
const rowsPerPage = 100
const changesPerRequest = 10_000

const momentText = (moment: Moment | undefined): string | undefined =>
  moment instanceof Date ? moment.toISOString() : moment

/** A client of one service with one key. */
export function createClient(options: ClientOptions = {}): Client {
  const { url = 'http://127.0.0.1:8470', apiKey, sleep } = options
  const baseUrl = url.replace(/\/+$/, '')
  const transport = createTransport(options)
  const api = createOperations({ baseUrl, fetch: transport })

  async function* rows<Name extends PagedName>(
    name: Name,
    ...args: Parameters<Operations[Name]>
  ): AsyncGenerator<Row<Name>> {
    const { pathParameters, rows: keys } = paged[name]
    const path = args.slice(0, pathParameters)
    const query = (args[pathParameters] ?? {}) as Record<string, unknown>
    const requestOptions = (args[pathParameters + 1] ?? {}) as object
    let hasNext = true
    const watching: Fetch = async (address, init) => {
      const response = await transport(address, init)
      hasNext = response.headers.get('x-has-next') === 'true'
      return response
    }
    const operation = api[name] as (...all: unknown[]) => Promise<unknown>
    for (let page = 1; hasNext; page += 1) {
      const pageQuery = { perPage: rowsPerPage, ...query, page }
      const body = await operation(...path, pageQuery, { ...requestOptions, fetch: watching })
      const list = keys.reduce<unknown>(
        (value, key) => (value as Record<string, unknown>)[key],
        body,
      )
      yield* list as Row<Name>[]
    }
  }

  /** The `id` of the newest event of the account's watches. */
  const lastEventId = async () => {
    for (let since = 0; ; ) {
      const { data } = await api.listWatchEvents({ since, limit: 500 })
      since = data.cursor
      if (!data.has_more) return since
    }
  }

  return {
    api,
    rows,
    async latest(...codes) {
      const prices: Price[] = []
      for (let start = 0; start < codes.length; start += codesPerRequest) {
        const byCode = codes.slice(start, start + codesPerRequest).join(',')
        try {
          const { data } = await api.getLatestPrices({ byCode })
          if ('prices' in data) prices.push(...(data.prices as Price[]))
          else prices.push(data)
        } catch (error) {
          // One code alone that has no price.
          if (!(error instanceof NotFound)) throw error
        }
      }
      return prices
    },
    history(codes, { start, end, interval, asOf } = {}) {
      const range = {
        byCode: typeof codes === 'string' ? codes : codes.join(','),
        startDate: momentText(start),
        endDate: momentText(end),
      }
      if (asOf === undefined) return rows('getHistoricalPrices', { ...range, interval })
      if (interval !== undefined && interval !== 'raw') {
        throw new TypeError(`interval: '${interval}' must be 'raw' or absent with asOf`)
      }
      return rows('getPricesPastMonth', { ...range, interval: 'raw', asOf: momentText(asOf) })
    },
    async *changes({ since = 'start', codes } = {}) {
      for (let cursor = since; ; ) {
        const query = { limit: changesPerRequest, codes: codes?.join(',') }
        const { data } = await api.listChanges(cursor, query)
        yield* data.changes
        if (!data.has_more) return
        cursor = data.cursor
      }
    },
    async *stream(streamOptions = {}) {
      const since = streamOptions.since ?? (await lastEventId())
      yield* streamEvents<WatchEvent>({
        ...streamOptions,
        url: `${baseUrl}/v1/stream`,
        apiKey,
        since,
        fetch: options.fetch ?? ((address, init) => fetch(address, init)),
        ...(sleep && { sleep }),
      })
    },
  }
}
