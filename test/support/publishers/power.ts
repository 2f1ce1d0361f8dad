/** Answers of publishers of power and gas, in their documented forms. */

interface Row {
  period: string
  value: string
}

/** Changes that a stand-in makes to rows and names before they are sent. */
export interface PowerWays {
  /** The last day that anything is published of. */
  today: string
  /** A key that is accepted where one is needed. */
  key: string
  spoiled(rows: readonly Row[]): Row[]
  /** The name of a field, or a wrong one where that is the fault. */
  named(field: string): string
  unit(own: string): string
  /** From when the half hours of Great Britain are quarters, and until when. */
  quarters?: { from: number; to?: number } | undefined
}

export interface PowerReply {
  body: string
  type: string
  status?: number
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
/** Before it the coupled markets had hours. */
export const quartersSince = Date.parse('2025-09-30T22:00:00Z')

const json = (body: unknown, status = 200): PowerReply => ({
  body: JSON.stringify(body),
  type: 'application/json',
  status,
})

/** The value of a series at a moment; now and then negative, and never the same twice in a row. */
export function powerValue(series: string, at: number): string {
  let hash = 7
  for (const letter of series) hash = (hash * 31 + letter.charCodeAt(0)) % 1009
  return String((((at / (5 * minuteMs)) * 37 + hash * 101) % 4001) / 16 - 20)
}

const endOf = (today: string): number => Date.parse(`${today}T22:00:00Z`)

/** Rows of a series on a grid in `[from, to)`, up to the end of today. */
function rowsOf(series: string, from: number, to: number, stepMs: number, today: string): Row[] {
  const rows: Row[] = []
  for (let at = Math.ceil(from / stepMs) * stepMs; at < Math.min(to, endOf(today)); at += stepMs)
    rows.push({ period: new Date(at).toISOString(), value: powerValue(series, at) })
  return rows
}

/** Hours until quarters, then quarters: the weeks around the change, and the last weeks. */
const auctionRows = (series: string, to: number, today: string): Row[] => [
  ...rowsOf(series, quartersSince - 5 * dayMs, quartersSince, hourMs, today),
  ...rowsOf(series, quartersSince, quartersSince + 5 * dayMs, 15 * minuteMs, today),
  ...rowsOf(series, Date.parse('2026-07-25T22:00:00Z'), to, 15 * minuteMs, today),
]

const at = (row: Row): number => Date.parse(row.period)
/** The value in JSON; invalid numbers stay text. */
const number = ({ value }: Row): number | string => (value.endsWith('x') ? value : Number(value))

export function powerReply(url: URL, ways: PowerWays): PowerReply | undefined {
  const { pathname: path, searchParams: query } = url
  if (path.startsWith('/app/chart_data/')) return smard(path, ways)
  if (path === '/bmrs/api/v1/balancing/pricing/market-index') return elexon(query, ways)
  if (path.startsWith('/aemo/data/nem/priceanddemand/')) return aemo(path, ways)
  if (path === '/v2/electricity/rto/region-data/data/') return demand(query, ways)
  if (path === '/price') return energyCharts(query, ways)
  if (path === '/api') return query.has('documentType') ? entsoe(query, ways) : undefined
  return undefined
}

const weekMs = 7 * dayMs
/** Mondays at midnight in Berlin, of summer 2026. */
const firstWeek = Date.parse('2026-06-28T22:00:00Z')

function smard(path: string, ways: PowerWays): PowerReply | undefined {
  const [filter = '', region = '', file = ''] = path.split('/').slice(3)
  if (file.startsWith('index_')) {
    const timestamps = []
    for (let week = firstWeek; week < endOf(ways.today); week += weekMs) timestamps.push(week)
    return json({ [ways.named('timestamps')]: timestamps })
  }
  const [, resolution, week] = /_(hour|quarterhour)_(\d+)\.json$/.exec(file) ?? []
  if (week === undefined) return undefined
  const step = resolution === 'hour' ? hourMs : 15 * minuteMs
  const from = Number(week)
  // The rest of the week is there as blanks.
  const rows = allSpoiled(ways, `${filter}/${region}`, step, firstWeek).filter(
    row =>
      (at(row) >= from && at(row) < from + weekMs) ||
      // A future period is in the newest file.
      (row.period.startsWith('2031') && from + weekMs >= endOf(ways.today)),
  )
  const series: unknown[] = rows.map(row => [at(row), number(row)])
  if (rows.length > 0) series.push([at(rows.at(-1)!) + step, null])
  return json({
    meta_data: { version: 1, created: endOf(ways.today) },
    [ways.named('series')]: series,
  })
}

/** A complete series with its faults: files and pages are parts of it. */
function allSpoiled(ways: PowerWays, series: string, stepMs: number, from: number): Row[] {
  return ways.spoiled(rowsOf(series, from, Number.POSITIVE_INFINITY, stepMs, ways.today))
}

function elexon(query: URLSearchParams, ways: PowerWays): PowerReply {
  const [from, to] = ['from', 'to'].map(name => Date.parse(query.get(name) ?? ''))
  const provider = query.get('dataProviders') ?? ''
  const halves = allSpoiled(ways, provider, 30 * minuteMs, Date.parse('2026-07-01T00:00:00Z'))
  const { from: since, to: until = Number.POSITIVE_INFINITY } = ways.quarters ?? {
    from: Number.POSITIVE_INFINITY,
  }
  const rows = halves.flatMap(row =>
    at(row) >= since && at(row) < until
      ? [0, 15 * minuteMs].map(later => ({
          ...row,
          period: new Date(at(row) + later).toISOString(),
        }))
      : [row],
  )
  const data = rows
    .filter(row => (at(row) >= from! && at(row) <= to!) || row.period.startsWith('2031'))
    .flatMap(row => {
      const startTime = new Date(at(row)).toISOString().replace('.000Z', 'Z')
      const common = { startTime, settlementDate: startTime.slice(0, 10), settlementPeriod: 1 }
      return [
        { ...common, dataProvider: 'N2EXMIDP', price: 0, volume: 0 },
        { ...common, dataProvider: provider, [ways.named('price')]: number(row), volume: 512.3 },
      ]
    })
  return json({ data })
}

function aemo(path: string, ways: PowerWays): PowerReply | undefined {
  const [, month, region] = /PRICE_AND_DEMAND_(\d{6})_(\w+)\.csv$/.exec(path) ?? []
  if (!month || !region) return undefined
  const local = (ms: number) => new Date(ms + 10 * hourMs).toISOString()
  const rows = allSpoiled(ways, region, 5 * minuteMs, Date.parse('2026-07-31T14:00:00Z')).filter(
    row =>
      local(at(row) + 5 * minuteMs)
        .slice(0, 7)
        .replace('-', '') === month ||
      (row.period.startsWith('2031') && month === '202608'),
  )
  const lines = rows.map(row => {
    const end = local(at(row) + 5 * minuteMs)
    const time = `${end.slice(0, 10).replaceAll('-', '/')} ${end.slice(11, 19)}`
    return `${region},${time},7512.33,${row.value},TRADE`
  })
  const header = ['REGION', 'SETTLEMENTDATE', 'TOTALDEMAND', ways.named('RRP'), 'PERIODTYPE']
  return { body: `${[header.join(','), ...lines].join('\r\n')}\r\n`, type: 'text/csv' }
}

/** Moves loads far from zero; invalid numbers stay as they are. */
export const loadValue = (text: string): string =>
  text === '0' || text.endsWith('x') ? text : String(Number(text) + 50_000)

function demand(query: URLSearchParams, ways: PowerWays): PowerReply {
  if (query.get('api_key') !== ways.key)
    return json({ error: { code: 'API_KEY_INVALID', message: 'An invalid api_key' } }, 403)
  const start = Date.parse(`${query.get('start')}:00Z`) - hourMs
  const rows = query
    .getAll('facets[respondent][]')
    .flatMap(respondent =>
      allSpoiled(ways, respondent, hourMs, Date.parse('2026-08-01T00:00:00Z'))
        .filter(row => at(row) >= start)
        .map(row => ({
          period: new Date(at(row) + hourMs).toISOString().slice(0, 13),
          respondent,
          'respondent-name': respondent,
          type: 'D',
          'type-name': 'Demand',
          [ways.named('value')]: loadValue(row.value),
          'value-units': ways.unit('megawatthours'),
        })),
    )
    .sort((a, b) => (a.period + a.respondent < b.period + b.respondent ? -1 : 1))
  const [offset, length] = ['offset', 'length'].map(name => Number(query.get(name)))
  const response = {
    total: String(rows.length),
    dateFormat: 'YYYY-MM-DD"T"HH24',
    frequency: 'hourly',
    data: rows.slice(offset, offset! + length!),
  }
  return json({ response, request: {}, apiVersion: '2.1.13' })
}

function energyCharts(query: URLSearchParams, ways: PowerWays): PowerReply {
  const from = Date.parse(`${query.get('start')}T00:00:00Z`)
  const to = Date.parse(`${query.get('end')}T00:00:00Z`) + dayMs
  const rows = ways
    .spoiled(auctionRows(query.get('bzn')!, to, ways.today))
    .filter(row => at(row) >= from)
  return json({
    license_info: 'as published',
    unix_seconds: rows.map(row => at(row) / 1000),
    [ways.named('price')]: rows.map(number),
    unit: ways.unit('EUR / MWh'),
    deprecated: false,
  })
}

const instant = (ms: number) => `${new Date(ms).toISOString().slice(0, 16)}Z`

/** Each market day as one period, with consecutive equal prices left out (A03). */
function entsoe(query: URLSearchParams, ways: PowerWays): PowerReply {
  if (query.get('securityToken') !== ways.key)
    return { body: 'Unauthorized: Missing or invalid token', type: 'text/plain', status: 401 }
  const time = (name: string) => {
    const text = query.get(name) ?? ''
    return Date.parse(
      `${text.slice(0, 4)}-${text.slice(4, 6)}-${text.slice(6, 8)}T${text.slice(8, 10)}:${text.slice(10)}Z`,
    )
  }
  const domain = query.get('in_Domain') ?? ''
  const all = ways.spoiled(auctionRows(domain, time('periodEnd'), ways.today))
  const rows = all.filter(row => at(row) >= time('periodStart'))
  if (rows.length === 0) return { body: acknowledgement, type: 'text/xml' }
  const days = [...Map.groupBy(rows, row => Math.floor((at(row) + 2 * hourMs) / dayMs)).values()]
  const series = days.map(day => {
    const from = at(day[0]!)
    const step = from < quartersSince ? hourMs : 15 * minuteMs
    const points = day
      .filter((row, i) => i === 0 || row.value !== day[i - 1]!.value)
      .map(
        row =>
          `<Point><position>${(at(row) - from) / step + 1}</position><${ways.named('price.amount')}>${row.value}</${ways.named('price.amount')}></Point>`,
      )
    return `<TimeSeries><mRID>1</mRID><auction.type>A01</auction.type><businessType>A62</businessType>
      <in_Domain.mRID codingScheme="A01">${domain}</in_Domain.mRID>
      <currency_Unit.name>${ways.unit('EUR')}</currency_Unit.name><price_Measure_Unit.name>MWH</price_Measure_Unit.name>
      <classificationSequence_AttributeInstanceComponent.position>1</classificationSequence_AttributeInstanceComponent.position>
      <curveType>A03</curveType><Period><timeInterval><start>${instant(from)}</start><end>${instant(at(day.at(-1)!) + step)}</end></timeInterval>
      <resolution>${step === hourMs ? 'PT60M' : 'PT15M'}</resolution>${points.join('')}</Period></TimeSeries>`
  })
  return {
    body: `<?xml version="1.0" encoding="utf-8"?><Publication_MarketDocument xmlns="urn:iec62325.351:tc57wg16:451-3:publicationdocument:7:3"><mRID>x</mRID><type>A44</type>${series.join('')}</Publication_MarketDocument>`,
    type: 'text/xml',
  }
}

const acknowledgement = `<?xml version="1.0" encoding="UTF-8"?><Acknowledgement_MarketDocument xmlns="urn:iec62325.351:tc57wg16:451-1:acknowledgementdocument:7:0"><Reason><code>999</code><text>No matching data found</text></Reason></Acknowledgement_MarketDocument>`

/** Filling levels by gas day; the key comes in a header. */
export function storageReply(
  query: URLSearchParams,
  key: string | null,
  ways: PowerWays,
): PowerReply {
  if (key !== ways.key)
    return json({ error: 'access denied', message: 'Invalid or missing API key' }, 401)
  const place = query.get('type') ?? query.get('country') ?? ''
  const [from, to] = [query.get('from') ?? '', query.get('to') ?? '9999']
  const days: Row[] = []
  for (let day = Date.parse('2026-01-01'); day <= Date.parse(ways.today); day += dayMs)
    days.push({ period: new Date(day).toISOString().slice(0, 10), value: storageValue(place, day) })
  const rows = ways
    .spoiled(days)
    .filter(({ period }) => period >= from && (period <= to || period > '2030'))
  const size = 100
  const page = Number(query.get('page') ?? 1)
  const data = rows
    .toReversed()
    .slice((page - 1) * size, page * size)
    .map(row => ({
      name: place,
      gasDayStart: row.period,
      gasInStorage: storageVolume(place, Date.parse(row.period)),
      [ways.named('full')]: row.value,
      trend: '0.21',
      status: 'E',
    }))
  return json({
    last_page: Math.max(1, Math.ceil(rows.length / size)),
    total: rows.length,
    gas_day: ways.today,
    data,
  })
}

/** The volume in TWh. */
export const storageVolume = (place: string, day: number): string =>
  String(9 * Number(storageValue(place, day)))

/** The filling level in percent. */
export const storageValue = (place: string, day: number): string =>
  String(40 + ((day / dayMs + place.length * 7) % 400) / 8)
