import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { strToU8, zipSync } from 'fflate'
import { type PowerWays, powerReply, storageReply } from './power.ts'
import { type Written, workbookOf } from './workbook.ts'
import { fredIds, type PublishedWorld, publishedWorld } from './world.ts'

/** A fault that a publisher shows in every response with data, until the test ends it. */
export type Misbehaviour =
  | 'no_rows'
  | 'ends_earlier'
  | 'another_unit'
  | 'another_header'
  | 'another_column'
  | 'all_zero'
  | 'half_of_it'
  | 'in_the_future'
  | 'cut_short'
  | 'maintenance_page'
  | 'empty_body'
  | 'quarter_body'
  | 'always_500'
  | 'truncated'
  | 'total_changes'
  | 'page_twice'
  | 'page_missing'
  | 'not_a_number'
  | 'elsewhere'

/** A request as the publisher logs it. */
export interface Asked {
  path: string
  query: URLSearchParams
  headers: Headers
  status: number
  at: number
}

export interface StandIn {
  /** For `base_url`. */
  url: string
  port: number
  world: PublishedWorld
  asked: Asked[]
  /** The last day that anything is published of. */
  today: string
  misbehaviour: Misbehaviour | undefined
  /** When the half hours of Great Britain are quarters. */
  quarters: PowerWays['quarters']
  /** Statuses with which the next requests are answered first, each once. */
  failFirst: { status: number; retryAfter?: string }[]
  /** When the archives were made. */
  bulkUpdated: string
  /** The day on which a vintage replaced the first one, by series and day. */
  vintages: Map<string, { value: string; from: string }[]>
  stop(): Promise<void>
}

/** The key that is accepted where one is needed. */
export const standInKey = 'CANARY7f3a91c2d4e5b6a7980112233445566'

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;')
const csv = (rows: readonly (readonly string[])[], separator = ',') =>
  rows.map(row => `${row.join(separator)}\n`).join('')

interface Reply {
  body: string | Uint8Array
  type?: string
  status?: number
  headers?: Record<string, string>
}

const json = (body: unknown, status = 200): Reply => ({
  body: JSON.stringify(body).replaceAll('/', '\\/'),
  type: 'application/json',
  status,
})

/**
 * All publishers on one port over a real socket: their paths, their paging and caps, their errors, entity
 * tags and compressed bodies, and on request their failures. Each answer takes `answerMs`.
 */
export async function standIn(
  options: { port?: number; answerMs?: number } = {},
): Promise<StandIn> {
  const self = {
    world: publishedWorld(),
    asked: [] as Asked[],
    today: '2026-08-18',
    misbehaviour: undefined as Misbehaviour | undefined,
    quarters: undefined as PowerWays['quarters'],
    failFirst: [] as { status: number; retryAfter?: string }[],
    bulkUpdated: '2026-08-19T05:00:00-04:00',
    vintages: new Map<string, { value: string; from: string }[]>(),
  }
  const server = createServer(async (asked, response) => {
    if (options.answerMs) await Bun.sleep(options.answerMs)
    const url = new URL(asked.url ?? '/', 'http://127.0.0.1')
    const headers = new Headers()
    for (const [name, value] of Object.entries(asked.headers)) headers.set(name, String(value))
    const reply = answer(headers, url)
    self.asked.push({
      path: url.pathname,
      query: url.searchParams,
      headers,
      status: reply.status,
      at: performance.now(),
    })
    response.writeHead(reply.status, { ...reply.headers, 'Content-Length': reply.body.length })
    if (self.misbehaviour !== 'cut_short' || reply.status !== 200)
      return void response.end(reply.body)
    // Fewer bytes than the head promises, then the end of the connection.
    response.write(reply.body.subarray(0, reply.body.length >> 1), () => void response.destroy())
  })
  server.listen(options.port ?? 0, '127.0.0.1')
  await once(server, 'listening')
  const port = (server.address() as AddressInfo).port

  interface Sent {
    status: number
    headers: Record<string, string>
    body: Uint8Array
  }
  const short = (status: number, body: string, headers: Record<string, string> = {}): Sent => ({
    status,
    headers,
    body: strToU8(body),
  })

  function answer(headers: Headers, url: URL): Sent {
    const failure = self.failFirst.shift()
    if (failure || self.misbehaviour === 'always_500') {
      const status = failure?.status ?? 500
      const after = failure?.retryAfter
      return short(
        status,
        JSON.stringify({ error: 'try again', code: status }),
        after ? { 'Retry-After': after } : {},
      )
    }
    if (self.misbehaviour === 'elsewhere') {
      return short(302, '', { Location: 'https://elsewhere.example/data' })
    }
    const reply = replyTo(url, headers)
    if (!reply) return short(404, JSON.stringify({ error: 'not found', code: 404 }))
    if (self.misbehaviour === 'maintenance_page' && (reply.status ?? 200) === 200) {
      return short(200, '<!doctype html><html><body>Down for maintenance</body></html>')
    }
    if (self.misbehaviour === 'empty_body') return packed(headers, { ...reply, body: '' })
    if (self.misbehaviour === 'quarter_body') {
      // Whole to the socket: only what is in it ends in the middle.
      const bytes = typeof reply.body === 'string' ? strToU8(reply.body) : reply.body
      return packed(headers, { ...reply, body: bytes.slice(0, bytes.length >> 2) })
    }
    return packed(headers, reply)
  }

  /** A response with an entity tag, compressed where the client accepts it. */
  function packed(asked: Headers, { body, type, status = 200, headers = {} }: Reply): Sent {
    const bytes = typeof body === 'string' ? strToU8(body) : body
    const tag = `"${createHash('sha1').update(bytes).digest('hex')}"`
    if (status === 200 && asked.get('if-none-match') === tag) return short(304, '', { ETag: tag })
    const head = { 'Content-Type': type ?? 'text/plain', ETag: tag, ...headers }
    if (!asked.get('accept-encoding')?.includes('gzip'))
      return { status, headers: head, body: bytes }
    return { status, headers: { ...head, 'Content-Encoding': 'gzip' }, body: gzipSync(bytes) }
  }

  const published = <T extends { period: string }>(rows: readonly T[]): T[] =>
    rows.filter(row => row.period <= self.today)

  /** Values with the configured fault. */
  function spoiled<T extends { period: string; value: string }>(rows: readonly T[]): T[] {
    const newest = rows.at(-1)
    switch (self.misbehaviour) {
      case 'no_rows':
        return []
      case 'ends_earlier':
        return rows.slice(0, -2)
      case 'all_zero':
        return rows.map(row => ({ ...row, value: '0' }))
      case 'half_of_it':
        return rows.filter((_, i) => i % 3 === 2 || i === rows.length - 1)
      case 'in_the_future':
        return newest ? [...rows, { ...newest, period: futureOf(newest.period) }] : []
      case 'not_a_number':
        return rows.map((row, i) => (i === rows.length - 1 ? { ...row, value: '12x' } : row))
      default:
        return [...rows]
    }
  }
  /** The title of a column, where that is not what is wrong. */
  const ofColumn = (title: string) =>
    /^another_(header|column)$/.test(self.misbehaviour ?? '') ? `New ${title}` : title
  const futureOf = (period: string) => (period.length === 7 ? '2031-01' : '2031-01-03')

  const powerWays = {
    get today() {
      return self.today
    },
    get quarters() {
      return self.quarters
    },
    key: standInKey,
    spoiled,
    named: ofColumn,
    unit: (own: string) => (self.misbehaviour === 'another_unit' ? 'GBP' : own),
  }

  function replyTo(url: URL, headers: Headers): Reply | undefined {
    const { pathname, searchParams } = url
    if (pathname === '/api' && !searchParams.has('documentType'))
      return storageReply(searchParams, headers.get('x-key'), powerWays)
    const power = powerReply(url, powerWays)
    if (power) return power
    if (pathname.startsWith('/v2/')) return agency(pathname, searchParams)
    if (pathname === '/bulk/manifest.txt') return manifest()
    if (pathname.startsWith('/bulk/')) return bulk(pathname.slice(6).replace('.zip', ''))
    if (pathname.startsWith('/wpsr/')) return weeklyTable(pathname.slice(6).replace('.csv', ''))
    if (pathname === '/ngs/wngsr.json') return gasReport()
    if (pathname === '/fred/series/observations') return vintages(searchParams)
    if (pathname === '/fred/series') return seriesFacts(searchParams)
    if (pathname === '/graph/fredgraph.csv') return graph(searchParams)
    if (pathname === '/stats/eurofxref/eurofxref-daily.xml') return dailyRates()
    if (pathname === '/stats/eurofxref/eurofxref-hist.zip') return rateHistory()
    if (pathname.startsWith('/service/data/EXR/')) return rateService(pathname, searchParams)
    if (pathname.startsWith('/api/data/EXR/')) return norwegianRates(pathname, searchParams)
    if (pathname === '/resource/72hh-3qpy.json') return positions(searchParams)
    return pages(pathname) ?? otherFiles(pathname, searchParams)
  }

  function agency(path: string, query: URLSearchParams): Reply | undefined {
    const key = query.get('api_key')
    if (key !== standInKey) {
      const code = key === null ? 'API_KEY_MISSING' : 'API_KEY_INVALID'
      const message = `No valid api_key was supplied (${key}).`
      return json({ error: { code, message } }, 403)
    }
    const route = path.slice(4).replace(/\/data\/?$/, '')
    const series = [...self.world.agency].filter(([, one]) => one.route === route)
    if (series.length === 0) return undefined
    const rows = series
      .filter(([id, one]) => isWanted(id, route, query) && one.frequency === query.get('frequency'))
      .flatMap(([id, one]) => {
        const from = query.get('start') ?? ''
        const of = route === 'steo' ? one.rows : published(one.rows)
        return spoiled(of)
          .filter(row => row.period >= from)
          .map(row =>
            agencyRow(id, route, row, self.misbehaviour === 'another_unit' ? 'EUR/BBL' : one.units),
          )
      })
      .sort((a, b) => (String(a.period) < String(b.period) ? -1 : a.period === b.period ? 0 : 1))
    const length = Math.min(Number(query.get('length') ?? 5000), 5000)
    let offset = Number(query.get('offset') ?? 0)
    if (self.misbehaviour === 'page_twice' && offset > 0) offset -= 1
    const page =
      self.misbehaviour === 'page_missing' && offset > 0 ? [] : rows.slice(offset, offset + length)
    const total = rows.length + (self.misbehaviour === 'total_changes' ? offset : 0)
    return json({
      response: {
        ...(self.misbehaviour === 'truncated' && {
          warnings: [
            { warning: 'incomplete return', description: 'The API can only return 5000 rows' },
          ],
        }),
        total: String(total),
        dateFormat: 'YYYY-MM-DD',
        frequency: query.get('frequency'),
        data: page,
      },
      request: { command: path, params: { api_key: key } },
      apiVersion: '2.1.13',
    })
  }

  function isWanted(id: string, route: string, query: URLSearchParams): boolean {
    if (route !== 'international') {
      return query.getAll(`facets[${route === 'steo' ? 'seriesId' : 'series'}][]`).includes(id)
    }
    return query.getAll('facets[countryRegionId][]').includes(id.split('-')[2]!)
  }

  function agencyRow(
    id: string,
    route: string,
    row: { period: string; value: string },
    unit: string,
  ) {
    const value = row.value === '' ? null : row.value
    const named = { [ofColumn('value')]: value }
    if (route === 'steo')
      return { period: row.period, seriesId: id, seriesDescription: id, ...named, unit }
    if (route === 'international') {
      const [productId, activityId, countryRegionId] = id.replace(/^INTL\.|\.M$/g, '').split('-')
      return { period: row.period, productId, activityId, countryRegionId, ...named, unit: 'TBPD' }
    }
    return { period: row.period, series: id, 'series-description': id, ...named, units: unit }
  }

  const datasetOf = (route: string) =>
    route === 'steo'
      ? 'STEO'
      : route === 'international'
        ? 'INTL'
        : route.startsWith('natural-gas')
          ? 'NG'
          : 'PET'
  const mailMessages = { daily: 'D', weekly: 'W', monthly: 'M' }

  function manifest(): Reply {
    const dataset = Object.fromEntries(
      ['PET', 'NG', 'STEO', 'INTL', 'COAL'].map(id => [
        id,
        {
          identifier: id,
          last_updated: self.bulkUpdated,
          accessURL: `https://api.eia.gov/bulk/${id}.zip`,
        },
      ]),
    )
    return json({ dataset })
  }

  function bulk(name: string): Reply | undefined {
    const lines = [...self.world.agency].flatMap(([id, one]) => {
      if (datasetOf(one.route) !== name) return []
      const rows = spoiled(one.route === 'steo' ? one.rows : published(one.rows))
      const units = self.misbehaviour === 'another_unit' ? 'EUR/BBL' : one.units
      return [
        JSON.stringify({
          series_id: name === 'INTL' ? id : `${name}.${id}.${mailMessages[one.frequency]}`,
          name: id,
          units,
          f: mailMessages[one.frequency],
          unitsshort: units,
          last_updated: self.bulkUpdated,
          data: rows
            .toReversed()
            .map(row => [
              row.period.replaceAll('-', ''),
              row.value === '' ? null : bulkValue(row.value),
            ]),
        }),
      ]
    })
    lines.push(JSON.stringify({ category_id: '235081', name: 'Prices', childseries: [] }))
    return {
      body: zipSync({ [`${name}.txt`]: strToU8(`${lines.join('\n')}\n`) }),
      type: 'application/zip',
    }
  }
  const bulkValue = (value: string) =>
    /^-?\d/.test(value) && !value.endsWith('x') ? Number(value) : value

  /** A week as Americans write it. */
  const american = (day: string) =>
    `${Number(day.slice(5, 7))}/${Number(day.slice(8))}/${day.slice(2, 4)}`

  function weeklyTable(name: string): Reply | undefined {
    if (name !== 'table4') return undefined
    const stubs: [stub: string, id: string][] = [
      ['Commercial (Excluding SPR)', 'WCESTUS1'],
      ['East Coast (PADD 1)', 'WCESTP11'],
      ['Midwest (PADD 2)', 'WCESTP21'],
      ['Cushing', 'W_EPC0_SAX_YCUOK_MBBL'],
      ['Gulf Coast (PADD 3)', 'WCESTP31'],
      ['Rocky Mountain (PADD 4)', 'WCESTP41'],
      ['West Coast (PADD 5)', 'WCESTP51'],
      ['SPR', 'WCSSTUS1'],
      ['Total Motor Gasoline', 'WGTSTUS1'],
      ['Distillate Fuel Oil', 'WDISTUS1'],
    ]
    const weeks = spoiled(published(self.world.agency.get('WCESTUS1')!.rows))
      .map(row => row.period)
      .slice(-2)
    if (weeks.length < 2) return { body: 'STUB_1,Difference\n' }
    const [before = '', week = ''] = weeks
    const title = /^another_(header|column)$/.test(self.misbehaviour ?? '') ? 'Product' : 'STUB_1'
    const wanted = stubs.filter((_, i) => self.misbehaviour !== 'half_of_it' || i % 3 === 2)
    const rows = wanted.map(([stub, id]) => {
      const values = new Map(self.world.agency.get(id)!.rows.map(row => [row.period, row.value]))
      const millions = (day: string) => {
        const value = values.get(day) ?? values.get(before)
        if (self.misbehaviour === 'all_zero') return '0.000'
        if (value === undefined) return ''
        const text = value.padStart(4, '0')
        return `"${thousands(text.slice(0, -3))}.${text.slice(-3)}"`
      }
      return [`"${stub}"`, millions(week), millions(before), '0.000']
    })
    return { body: csv([[title, american(week), american(before), 'Difference'], ...rows]) }
  }
  const thousands = (digits: string) => digits.replace(/\B(?=(\d{3})+$)/g, ',')

  function gasReport(): Reply {
    const rows = spoiled(published(self.world.gas)).slice(-2).toReversed()
    const week = rows[0]?.period ?? self.today
    const released = Temporal.PlainDate.from(week).add({ days: 6 }).toString()
    const month = new Date(`${released}T00:00:00Z`).toLocaleString('en', {
      month: 'short',
      timeZone: 'UTC',
    })
    const body = {
      release_date: `${released.slice(0, 5)}${month}${released.slice(7)} 00:00:00`,
      current_week: week,
      week_ago: rows[1]?.period ?? week,
      series: [
        {
          series_id: 'png.nw2_epg0_swo_r48_bcf.w',
          name: 'total lower 48 states',
          unitsshort: self.misbehaviour === 'another_unit' ? 'twh' : 'bcf',
          data: rows.map(row => [row.period, bulkValue(row.value)]),
          revision_flag: rows.map(() => 'false'),
        },
      ],
    }
    // Old copies begin with a byte order mark.
    return { body: `\uFEFF${JSON.stringify(body)}`, type: 'application/json' }
  }

  function vintages(query: URLSearchParams): Reply {
    if (query.get('api_key') !== standInKey) {
      return json(
        {
          error_code: 400,
          error_message: 'Bad Request. The value for variable api_key is not registered.',
        },
        400,
      )
    }
    const from = query.get('observation_start') ?? ''
    const newest = {
      from: query.get('realtime_start') ?? '',
      to: query.get('realtime_end') ?? '9999-12-31',
    }
    const observations = spoiled(fredRows(query.get('series_id') ?? ''))
      .filter(row => row.period >= from)
      .flatMap(row => {
        const vintages = self.vintages.get(`${query.get('series_id')} ${row.period}`) ?? [
          {
            value: row.value,
            from: Temporal.PlainDate.from(row.period).add({ days: 6 }).toString(),
          },
        ]
        return vintages.flatMap(({ value, from: since }, i) => {
          const until = vintages[i + 1]?.from ?? '9999-12-31'
          if (until <= newest.from || since > newest.to) return []
          const [, start] = [since, newest.from].toSorted()
          return [
            { realtime_start: start, realtime_end: until, date: row.period, value: value || '.' },
          ]
        })
      })
    const [offset, limit] = [
      Number(query.get('offset') ?? 0),
      Number(query.get('limit') ?? 100_000),
    ]
    return json({
      output_type: 1,
      count: observations.length,
      offset,
      limit,
      observations: observations.slice(offset, offset + limit),
    })
  }

  function seriesFacts(query: URLSearchParams): Reply {
    const id = query.get('series_id') ?? ''
    const units: Record<string, string> = {
      '$/BBL': 'Dollars per Barrel',
      '$/GAL': 'Dollars per Gallon',
      '$/MMBTU': 'Dollars per Million BTU',
    }
    const published = self.world.agency.get(fredIds[id] ?? '')?.units ?? ''
    const unit =
      self.misbehaviour === 'another_unit' ? 'Index 2015=100' : (units[published] ?? published)
    return json({ seriess: [{ id, units: unit, units_short: published }] })
  }

  const fredRows = (id: string) => published(self.world.agency.get(fredIds[id] ?? '')?.rows ?? [])

  function graph(query: URLSearchParams): Reply | undefined {
    const id = query.get('id') ?? ''
    if (!fredIds[id]) return undefined
    const rows = spoiled(fredRows(id)).filter(row => row.period >= (query.get('cosd') ?? ''))
    const title = ofColumn(id)
    return {
      body: csv([['observation_date', title], ...rows.map(row => [row.period, row.value])]),
      type: 'text/csv',
    }
  }

  const rateDays = () => {
    const days = [...self.world.rates.keys()].filter(day => day <= self.today)
    return spoiled(days.map(period => ({ period, value: '' }))).map(row => row.period)
  }
  const rateOf = (day: string, currency: string) => {
    const rates =
      self.world.rates.get(day) ?? self.world.rates.get([...self.world.rates.keys()].at(-1)!)!
    return self.misbehaviour === 'all_zero' ? '0' : (rates[currency] ?? 'N/A')
  }

  function dailyRates(): Reply {
    const day = rateDays().at(-1)
    const attribute = self.misbehaviour === 'another_header' ? 'value' : 'rate'
    const cubes = Object.keys(self.world.rates.get([...self.world.rates.keys()].at(-1)!)!)
      .filter(currency => rateOf(day ?? '', currency) !== 'N/A')
      .map(
        currency => `<Cube currency='${currency}' ${attribute}='${rateOf(day ?? '', currency)}'/>`,
      )
    const inner = day ? `<Cube time='${day}'>${cubes.join('')}</Cube>` : ''
    return {
      body: `<?xml version="1.0" encoding="UTF-8"?>\n<gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01" xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref"><Cube>${inner}</Cube></gesmes:Envelope>`,
      type: 'text/xml',
    }
  }

  function rateHistory(): Reply {
    const currencies = Object.keys([...self.world.rates.values()].at(-1)!)
    const rows = rateDays()
      .toReversed()
      .map(day => [day, ...currencies.map(currency => rateOf(day, currency)), ''])
    const date = self.misbehaviour === 'another_header' ? 'Day' : 'Date'
    const text = csv([[date, ...currencies, ''], ...rows])
    return { body: zipSync({ 'eurofxref-hist.csv': strToU8(text) }), type: 'application/zip' }
  }

  function rateService(path: string, query: URLSearchParams): Reply {
    const currencies = path.split('/').at(-1)!.split('.')[1]!.split('+')
    const from = query.get('startPeriod') ?? ''
    const base = self.misbehaviour === 'another_unit' ? 'USD' : 'EUR'
    const rows = currencies.flatMap(currency =>
      rateDays()
        .filter(day => day >= from)
        .map(day => {
          const value = rateOf(day, currency)
          const key = `EXR.D.${currency}.EUR.SP00.A`
          return value === 'N/A'
            ? [key, 'D', currency, base, 'SP00', 'A', day, '', 'M', '0']
            : [key, 'D', currency, base, 'SP00', 'A', day, value, 'A', '0']
        }),
    )
    const header = `KEY,FREQ,CURRENCY,CURRENCY_DENOM,EXR_TYPE,EXR_SUFFIX,TIME_PERIOD,${ofColumn('OBS_VALUE')},OBS_STATUS,UNIT_MULT`
    return { body: csv([header.split(','), ...rows]), type: 'text/csv' }
  }

  /** Kroner per unit, the krone's own way round; the Swedish and Danish ones per hundred. */
  function norwegianRates(path: string, query: URLSearchParams): Reply {
    const bases = path.split('/').at(-1)!.split('.')[1]!.split('+')
    const from = query.get('startPeriod') ?? ''
    const rows = bases.flatMap(base =>
      rateDays()
        .filter(day => day >= from)
        .map(day => {
          const euro = base === 'EUR' ? 1 : Number(rateOf(day, base))
          const rate = (Number(rateOf(day, 'NOK')) / euro).toFixed(4)
          return [
            'B',
            'Business',
            base,
            base,
            'NOK',
            'Norwegian krone',
            'SP',
            'Spot',
            '4',
            'false',
            '0',
            'Units',
            'C',
            'ECB concertation time 14:15 CET',
            day,
            rate,
          ]
        }),
    )
    const header =
      'FREQ;Frequency;BASE_CUR;Base Currency;QUOTE_CUR;Quote Currency;TENOR;Tenor;DECIMALS;CALCULATED;UNIT_MULT;Unit Multiplier;COLLECTION;Collection Indicator;TIME_PERIOD;OBS_VALUE'
    const titles = header.replace('OBS_VALUE', ofColumn('OBS_VALUE'))
    return { body: csv([titles.split(';'), ...rows], ';'), type: 'text/csv' }
  }

  function positions(query: URLSearchParams): Reply {
    const where = query.get('$where') ?? ''
    const contract = /cftc_contract_market_code='(\w+)'/.exec(where)?.[1] ?? ''
    const from = />= '(\d{4}-\d{2}-\d{2})/.exec(where)?.[1] ?? ''
    const reports = (self.world.positions.get(contract) ?? [])
      .filter(report => report.day <= self.today && report.day >= from)
      .map(report => ({ ...report, period: report.day, value: report.long }))
    const [offset, limit] = [Number(query.get('$offset') ?? 0), Number(query.get('$limit') ?? 1000)]
    const rows = spoiled(reports).slice(offset, offset + limit)
    return json(
      rows.map(report => ({
        report_date_as_yyyy_mm_dd: `${report.period}T00:00:00.000`,
        cftc_contract_market_code: contract,
        open_interest_all: self.misbehaviour === 'all_zero' ? '0' : report.open,
        [ofColumn('m_money_positions_long_all')]: report.value,
        m_money_positions_short_all: self.misbehaviour === 'all_zero' ? '0' : report.short,
      })),
    )
  }

  /** The pages that lead to files whose addresses change. */
  function pages(path: string): Reply | undefined {
    const links: Record<string, [href: string, text: string]> = {
      '/en/research/commodity-markets': [
        'https://thedocs.worldbank.org/en/doc/18675f1d1639c7a34d463f59263ba0a2-0050012026/related/CMO-Historical-Data-Monthly.xlsx',
        'Monthly prices',
      ],
      '/data-and-analysis/weekly-oil-bulletin_en': [
        '/document/download/906e60ca_en?filename=Weekly_Oil_Bulletin_Prices_History.xlsx',
        'Price developments 2005 onwards',
      ],
      '/government/statistics/weekly-road-fuel-prices': [
        'https://assets.publishing.service.gov.uk/media/66a1/weekly_road_fuel_prices_170826.csv',
        'Weekly road fuel prices (CSV)',
      ],
      '/na-rig-count': [
        '/static-files/7240366e-61cc-4acb-89bf-86dc1a0dffe8',
        'North America Rig Count Report - New Report',
      ],
    }
    const link = links[path]
    if (!link) return undefined
    const [href, text] = self.misbehaviour === 'another_header' ? ['/about', 'About us'] : link
    return {
      body: `<!doctype html><html><body><p><a href="/contact">Contact</a> <a href="${escaped(href)}"><span>${text}</span></a></p></body></html>`,
      type: 'text/html',
    }
  }

  function otherFiles(path: string, query: URLSearchParams): Reply | undefined {
    if (path.endsWith('CMO-Historical-Data-Monthly.xlsx')) return pinkSheet()
    if (path.startsWith('/document/download/')) return oilBulletin()
    if (path.endsWith('weekly_road_fuel_prices_170826.csv')) return roadFuel()
    if (path.startsWith('/static-files/')) return rigs()
    if (path.includes('/eua-auction-report/')) return auctions(path)
    if (path.startsWith('/json/')) return metals(path.includes('silver') ? 60 : 4000)
    if (path.includes('/annual-csv/primary/')) return jodi(path)
    if (path === '/data' && query.get('table') === 'OilPrices') return alberta()
    return undefined
  }

  const number = (text: string): Written => {
    if (text === '') return '…'
    return self.misbehaviour === 'all_zero' ? 0 : Number(text)
  }

  function pinkSheet(): Reply {
    const [names = [], units = [], ...months] = self.world.pinkSheet
    const rows = spoiled(
      months
        .filter(row => row[0]! <= self.today.slice(0, 7))
        .map(row => ({ period: row[0]!, value: row[1] ?? '', row })),
    )
    const title = ['World Bank Commodity Price Data (The Pink Sheet)']
    const sheet: Written[][] = [
      title,
      ['monthly prices in nominal US dollars, 1960 to present'],
      ['(monthly series are available only in nominal US dollar terms)'],
      ['Updated on June 02, 2026'],
      [undefined, ...names.slice(1).map(ofColumn)],
      [
        undefined,
        ...units.slice(1).map(unit => (self.misbehaviour === 'another_unit' ? '(EUR/kg)' : unit)),
      ],
      ...rows.map(({ period, row }) => [period.replace('-', 'M'), ...row.slice(1).map(number)]),
    ]
    return {
      body: workbookOf({
        AFOSHEET: [['nothing']],
        'Monthly Prices': sheet,
        'Monthly Indices': [['x']],
      }),
    }
  }

  const mondays = (from: string, count: number) =>
    Array.from({ length: count }, (_, i) =>
      Temporal.PlainDate.from(from).add({ weeks: i }).toString(),
    )
  const serial = (day: string) => Temporal.PlainDate.from('1899-12-30').until(day).days
  const madeUp = (days: readonly string[], base: number) =>
    spoiled(
      published(days.map((period, i) => ({ period, value: (base + (i % 9) / 8).toFixed(3) }))),
    )

  function oilBulletin(): Reply {
    const countries = ['AT', 'DE', 'FR', 'GR', 'IT']
    const unit = self.misbehaviour === 'another_unit' ? 't' : '1000 l'
    const rows = madeUp(mondays('2026-01-05', 40), 1500)
    const titles = countries.flatMap(country => [
      `${country}_price_with_tax_euro95`,
      `${country}_price_with_tax_diesel`,
    ])
    return {
      body: workbookOf({
        'Prices with taxes': [
          [ofColumn('Date'), ...titles.map(ofColumn)],
          [undefined, ...titles.map(() => 'Consumer price, all taxes included')],
          [undefined, ...titles.map(() => unit)],
          ...rows.map(row => [serial(row.period), ...titles.map((_, i) => Number(row.value) + i)]),
        ],
        'Prices wo taxes': [['Date']],
      }),
    }
  }

  function roadFuel(): Reply {
    const pence = self.misbehaviour === 'another_unit' ? 'pounds' : 'p'
    const header = [
      'Date',
      `"ULSP: Pump price (${pence}/litre)"`,
      `"ULSD: Pump price (${pence}/litre)"`,
      '"ULSP: Duty rate (p/litre)"',
    ]
    header[1] = ofColumn(header[1]!)
    const rows = madeUp(mondays('2026-01-05', 40), 130).map(row => [
      row.period.split('-').toReversed().join('/'),
      row.value,
      (Number(row.value) + 8.1).toFixed(2),
      '52.95',
    ])
    return { body: csv([header, ...rows]), type: 'text/csv' }
  }

  function rigs(): Reply {
    const header = [
      'Country',
      'County',
      'Basin',
      'GOM',
      'DrillFor',
      'Location',
      'State/Province',
      'Trajectory',
      'Year',
      'Month',
      'US_PublishDate',
      'Rig Count Value',
    ]
    const rows = madeUp(mondays('2026-01-02', 40), 12).flatMap(({ period, value }) => {
      const cells = (basin: string, drillFor: string, state: string, count: number): Written[] => [
        'UNITED STATES',
        'REEVES',
        basin,
        'N',
        drillFor,
        'Land',
        state,
        'Horizontal',
        Number(period.slice(0, 4)),
        Number(period.slice(5, 7)),
        serial(period),
        count,
      ]
      const count = self.misbehaviour === 'all_zero' ? 0 : Math.floor(Number(value))
      return [
        cells('Permian', 'Oil', 'TEXAS', count),
        cells('Permian', 'Oil', 'NEW MEXICO', Math.max(0, count - 2)),
        cells('Marcellus', 'Gas', 'PENNSYLVANIA', Math.max(0, count - 5)),
      ]
    })
    const titles: Written[][] = [...Array.from({ length: 10 }, () => []), header.map(ofColumn)]
    return { body: workbookOf({ 'NAM Summary': [['x']], 'NAM Weekly': [...titles, ...rows] }) }
  }

  function auctions(path: string): Reply | undefined {
    const year = /report-(\d{4})-data/.exec(path)?.[1]
    if (year !== '2026') return undefined
    const header = [
      'Date',
      'Time',
      'Auction Name',
      'Contract',
      'Status',
      self.misbehaviour === 'another_unit' ? 'Auction Price £/tCO2' : 'Auction Price �/tCO2',
      'Minimum Bid',
    ]
    const rows = madeUp(mondays('2026-01-08', 40), 70).flatMap(({ period, value }) => [
      [
        undefined,
        serial(period),
        '11:00',
        'Auction DE',
        'T3PA',
        'successful',
        Number(value) - 1,
        1,
      ],
      [
        undefined,
        serial(period),
        '11:00',
        'Auction CAP3 EU',
        'T3PA',
        'successful',
        Number(value),
        1,
      ],
      [undefined, serial(period), '11:00', 'Auction EAA', 'EAA3', 'successful', 1, 1],
    ])
    const titles: Written[][] = [['EEX'], [], [], [], [], [undefined, ...header.map(ofColumn)]]
    return { body: workbookOf({ 'Primary Market Auction': [...titles, ...rows] }) }
  }

  const metals = (dollars: number): Reply => {
    const rows = madeUp(mondays('2026-01-05', 40), dollars)
    return json(
      rows.map(row => ({
        is_cms_locked: 1,
        d: row.period,
        [ofColumn('v')]: [Number(row.value), dollars * 0.75, 0],
      })),
    )
  }

  function jodi(path: string): Reply | undefined {
    const year = /(\d{4})\.csv$/.exec(path)?.[1]
    if (year !== '2025' && year !== '2026') return undefined
    const months = Array.from({ length: 12 }, (_, i) => `${year}-${String(i + 1).padStart(2, '0')}`)
    const rows = spoiled(
      months
        .filter(month => month <= self.today.slice(0, 7))
        .map(period => ({ period, value: '9100.0' })),
    )
    return {
      body: csv([
        [
          'REF_AREA',
          'TIME_PERIOD',
          'ENERGY_PRODUCT',
          'FLOW_BREAKDOWN',
          'UNIT_MEASURE',
          ofColumn('OBS_VALUE'),
          'ASSESSMENT_CODE',
        ],
        ...rows.flatMap(row => [
          ['SA', row.period, 'CRUDEOIL', 'INDPROD', 'KBD', row.value, '1'],
          ['SA', row.period, 'CRUDEOIL', 'TOTEXPSB', 'KBD', '-', '3'],
        ]),
      ]),
    }
  }

  function alberta(): Reply {
    const months = Array.from({ length: 12 }, (_, i) => `2026-${String(i + 1).padStart(2, '0')}`)
    const rows = spoiled(
      months
        .filter(month => month <= self.today.slice(0, 7))
        .map(period => ({ period, value: '71.4' })),
    )
    return json(
      rows.map(row => ({
        Date: `${row.period}-01T00:00:00`,
        'Type ': 'WCS',
        [ofColumn('Value')]: Number.isFinite(Number(row.value)) ? Number(row.value) : row.value,
        Unit: self.misbehaviour === 'another_unit' ? '$CAD/m3' : '$US/bbl',
      })),
    )
  }

  return Object.assign(self, {
    url: `http://127.0.0.1:${port}`,
    port,
    stop: async () => {
      server.closeAllConnections()
      server.close()
    },
  })
}
