import { describe, expect, test } from 'bun:test'
import { tableFromIPC } from 'apache-arrow'
import { type Compressors, parquetMetadata, parquetReadObjects } from 'hyparquet'
import { dayMs, hourMs, isoInstant } from '../../../../src/lib/time/instant.ts'
import { openTestInstance, startAt } from '../../../support/instance/instance.ts'

const path = '/v1/export/prices'
const two = 'codes=WTI_USD,NATURAL_GAS_GBP'

/** Two hundred hours of a code and forty days of another, one of which was corrected. */
function openDemoInstance() {
  const instance = openTestInstance()
  const hours = Array.from({ length: 200 }, (_, i) => 70 + Math.sin(i) * 1.23456789)
  instance.record('WTI_USD', hours, startAt - hourMs, hourMs)
  const days = Array.from({ length: 40 }, (_, i) => 80 + i / 3)
  instance.record('NATURAL_GAS_GBP', days, startAt - dayMs, dayMs)
  return { instance, token: instance.key() }
}

const compressors: Compressors = { ZSTD: (input, _size) => Bun.zstdDecompressSync(input) }

type Row = Record<string, unknown>

const readers: Record<string, (body: Uint8Array<ArrayBuffer>) => Row[] | Promise<Row[]>> = {
  ndjson: body =>
    new TextDecoder()
      .decode(body)
      .trim()
      .split('\n')
      .map(line => JSON.parse(line) as Row),
  parquet: async body =>
    (await parquetReadObjects({ file: body.buffer, compressors })).map(row => ({
      ...row,
      observed_at: isoInstant((row.observed_at as Date).getTime()),
      recorded_at: isoInstant((row.recorded_at as Date).getTime()),
    })),
  arrow: body =>
    tableFromIPC(body)
      .toArray()
      .map(row => ({
        ...row.toJSON(),
        observed_at: isoInstant(Number(row.observed_at)),
        recorded_at: isoInstant(Number(row.recorded_at)),
      })),
}

test('csv has a header and every stored digit, by code and time', async () => {
  const { instance, token } = openDemoInstance()
  const answer = await instance.get(`${path}?codes=WTI_USD,NATURAL_GAS_GBP`, token)
  expect(answer.status).toBe(200)
  expect(answer.headers.get('x-total')).toBe('240')
  const lines = (await answer.text()).trim().split('\n')
  expect(lines[0]).toBe('code,observed_at,price,currency,unit')
  expect(lines.length).toBe(241)
  expect(lines[1]).toBe(
    `NATURAL_GAS_GBP,${isoInstant(startAt - 40 * dayMs)},80,GBP,pence_per_therm`,
  )
  expect(lines[42]).toBe(
    `WTI_USD,${isoInstant(startAt - 199 * hourMs)},${70 + Math.sin(1) * 1.23456789},USD,barrel`,
  )
})

test('an export without a start has 365 days and names their start', async () => {
  const { instance, token } = openDemoInstance()
  const startOf = async (query: string) =>
    (await instance.get(`${path}?${two}${query}`, token)).headers.get('x-service-default-start')
  expect(await startOf('')).toBe(isoInstant(startAt + 1 - 365 * dayMs))
  expect(await startOf('&end_date=2026-11-10')).toBe('2025-11-11T00:00:00Z')
  expect(await startOf('&start_date=2020-01-01')).toBeNull()
})

test('an export was modified when the newest of its values was recorded', async () => {
  const { instance, token } = openDemoInstance()
  const modified = async (query: string) => {
    const answer = await instance.get(`${path}?codes=WTI_USD${query}`, token)
    return Date.parse(answer.headers.get('last-modified') ?? '')
  }
  const before = await modified('')
  const then = isoInstant(instance.clock.now())
  instance.clock.advance(dayMs)
  instance.record('WTI_USD', [75], instance.clock.now(), dayMs)
  expect((await modified('')) - before).toBe(dayMs)
  expect(await modified(`&as_of=${then}`)).toBe(before)
})

test('an export of past days is 304 while nothing was recorded or quarantined since a date', async () => {
  const { instance, token } = openDemoInstance()
  const past = '&start_date=2026-11-01&end_date=2026-11-15'
  const statusOf = async (query: string, since: number) => {
    const headers = { 'if-modified-since': new Date(since).toUTCString() }
    return (await instance.get(`${path}?codes=WTI_USD${query}`, token, headers)).status
  }
  instance.clock.advance(hourMs)
  const now = instance.clock.now()
  expect(await statusOf(past, now)).toBe(304)
  expect(await statusOf(past, now - dayMs)).toBe(200)
  // Its rows change as time passes.
  expect(await statusOf('', now)).toBe(200)
  instance.clock.advance(hourMs)
  const { catalogue, quarantine } = instance.services
  quarantine.add({
    seriesId: catalogue.named('WTI_USD')!.id,
    fromOn: '2026-11-12',
    toOn: '2026-11-13',
    reason: 'wrong',
    createdAt: instance.clock.now(),
  })
  expect(await statusOf(past, now)).toBe(200)
  expect(await statusOf(past, instance.clock.now())).toBe(304)
})

test('every format has the same rows', async () => {
  const { instance, token } = openDemoInstance()
  const columns = 'columns=code,observed_at,price,currency,recorded_at,source'
  const rowsOf = async (format: string) => {
    const answer = await instance.get(`${path}?${two}&${columns}&format=${format}`, token)
    expect(answer.status).toBe(200)
    return await readers[format]!(new Uint8Array(await answer.arrayBuffer()))
  }
  const rows = await rowsOf('ndjson')
  expect(rows.length).toBe(240)
  expect(await rowsOf('parquet')).toEqual(rows)
  expect(await rowsOf('arrow')).toEqual(rows)
})

test('each exported row has the source of its value in every format, in bars and in past states', async () => {
  const { instance, token } = openDemoInstance()
  const authorization = `Bearer ${instance.services.adminTokens.rotate()}`
  const push = async (values: readonly [day: number, price: number, source?: string][]) => {
    instance.clock.advance(hourMs)
    const observations = values.map(([day, price, source]) => ({
      code: 'BRENT_CRUDE_USD',
      observed_at: `2026-11-${day}T12:00:00Z`,
      price,
      ...(source && { source }),
    }))
    const body = { observations }
    const answer = await instance.send('POST', '/admin/v1/observations', body, undefined, {
      authorization,
    })
    expect(answer.status).toBe(200)
    return isoInstant(instance.clock.now())
  }
  const before = await push([
    [10, 70, 'EIA'],
    [11, 71, 'Desk'],
    [12, 72],
    [13, 73, 'EIA'],
  ])
  await push([[13, 73.5, 'Desk']])
  const sourcesOf = async (format: string, more = '') => {
    const answer = await instance.get(
      `${path}?codes=BRENT_CRUDE_USD,WTI_USD&columns=code,observed_at,recorded_at,source&format=${format}${more}`,
      token,
    )
    expect(answer.status).toBe(200)
    const rows = await readers[format]!(new Uint8Array(await answer.arrayBuffer()))
    expect(new Set(rows.filter(row => row.code === 'WTI_USD').map(row => row.source)).size).toBe(1)
    return rows.filter(row => row.code === 'BRENT_CRUDE_USD').map(row => row.source)
  }
  const own = instance.services.catalogue.named('BRENT_CRUDE_USD')!.source
  for (const format of Object.keys(readers)) {
    expect(await sourcesOf(format)).toEqual(['EIA', 'Desk', own, 'Desk'])
    expect(await sourcesOf(format, '&interval=1d')).toEqual(['EIA', 'Desk', own, 'Desk'])
    expect(await sourcesOf(format, `&as_of=${before}`)).toEqual(['EIA', 'Desk', own, 'EIA'])
  }
})

test('a series without a currency has null in all of them', async () => {
  const instance = openTestInstance()
  const token = instance.key()
  instance.record('CUSHING_STORAGE', [22.5, 23], startAt - dayMs, dayMs)
  instance.record('WTI_USD', [70], startAt - dayMs, dayMs)
  for (const format of Object.keys(readers)) {
    const answer = await instance.get(
      `${path}?codes=WTI_USD,CUSHING_STORAGE&format=${format}&columns=currency,observed_at,recorded_at`,
      token,
    )
    const rows = await readers[format]!(new Uint8Array(await answer.arrayBuffer()))
    expect(rows.map(row => row.currency)).toEqual([null, null, 'USD'])
  }
})

test('Parquet row groups state the codes and times that they contain', async () => {
  const { instance, token } = openDemoInstance()
  const answer = await instance.get(`${path}?${two}&format=parquet`, token)
  const { row_groups: groups, num_rows } = parquetMetadata(await answer.arrayBuffer())
  expect(num_rows).toBe(240n)
  expect(groups.length).toBe(1)
  const { columns } = groups[0]!
  expect(columns[0]!.meta_data!.statistics).toMatchObject({
    min_value: 'NATURAL_GAS_GBP',
    max_value: 'WTI_USD',
  })
  expect(columns[1]!.meta_data!.statistics).toMatchObject({
    min_value: new Date(startAt - 40 * dayMs),
    max_value: new Date(startAt - hourMs),
  })
})

test('Parquet packed by Snappy has the same rows for readers without Zstandard', async () => {
  const { instance, token } = openDemoInstance()
  const fileOf = async (more: string) =>
    (await instance.get(`${path}?${two}&format=parquet${more}`, token)).arrayBuffer()
  const packed = await fileOf('&compression=snappy')
  const codecs = parquetMetadata(packed).row_groups[0]!.columns.map(
    column => column.meta_data!.codec,
  )
  expect(new Set(codecs)).toEqual(new Set(['SNAPPY']))
  const rows = await parquetReadObjects({ file: packed })
  expect(rows).toHaveLength(240)
  expect(rows).toEqual(await parquetReadObjects({ file: await fileOf(''), compressors }))
  const refused = await instance.get(`${path}?${two}&format=parquet&compression=lzo`, token)
  expect(refused.status).toBe(400)
})

test('bars are those of the windows', async () => {
  const { instance, token } = openDemoInstance()
  for (const interval of ['hour', 'day', 'week', 'w-fri', 'month', 'quarter', 'year']) {
    const answer = await instance.get(
      `${path}?codes=WTI_USD&interval=${interval}&format=ndjson&columns=bucket_start,open,high,low,price,sample_count`,
      token,
    )
    const rows = (await answer.text())
      .trim()
      .split('\n')
      .map(line => JSON.parse(line) as Row)
    const window = await instance.get(
      `/v1/prices/past_year?by_code=WTI_USD&interval=${interval}&page=1`,
      token,
    )
    const { data, meta } = (await window.json()) as {
      data: { prices: Record<string, number | string>[] }
      meta: { total: number }
    }
    expect(rows.length).toBe(meta.total)
    const round = (value: unknown) => Math.round(Number(value) * 100) / 100
    for (const [i, bar] of data.prices.entries()) {
      const row = rows.at(-1 - i)!
      expect(row.bucket_start).toBe(bar.bucket_start)
      expect(row.sample_count).toBe(bar.sample_count)
      for (const field of ['open', 'high', 'low', 'price'])
        expect(round(row[field])).toBe(Number(bar[field]))
    }
  }
})

test('as_of answers the rows of a past moment, as bars too', async () => {
  const instance = openTestInstance()
  const token = instance.key()
  const { catalogue, ingest } = instance.services
  const seriesId = catalogue.named('WTI_USD')!.id
  const at = startAt - 5 * dayMs
  ingest.write([{ seriesId, observedAt: at, value: 70 }], at + hourMs)
  ingest.write([{ seriesId, observedAt: at, value: 71 }], at + 3 * hourMs)
  const rows = async (asOf: number, more = '') => {
    const answer = await instance.get(
      `${path}?codes=WTI_USD&columns=price&as_of=${isoInstant(asOf)}${more}`,
      token,
    )
    expect(answer.headers.get('x-vintage-as-of')).toBe(isoInstant(asOf))
    return (await answer.text()).trim().split('\n').slice(1)
  }
  expect(await rows(at + 2 * hourMs)).toEqual(['70'])
  expect(await rows(at + 2 * hourMs, '&interval=day')).toEqual(['70'])
  expect(await rows(at + 4 * hourMs)).toEqual(['71'])
  expect(await rows(at - hourMs)).toEqual([])
})

test('quarantined days are left out', async () => {
  const { instance, token } = openDemoInstance()
  instance.services.quarantine.add({
    seriesId: instance.services.catalogue.named('NATURAL_GAS_GBP')!.id,
    fromOn: '2026-11-10',
    toOn: '2026-11-11',
    reason: 'a test',
    createdAt: startAt,
  })
  const answer = await instance.get(`${path}?codes=NATURAL_GAS_GBP`, token)
  expect(answer.headers.get('x-total')).toBe('38')
  const text = await answer.text()
  expect(text).not.toContain('2026-11-10')
  expect(text).toContain('2026-11-12')
})

describe('a cut export is resumed', () => {
  test('with Range and the entity tag, from the byte where it was cut', async () => {
    const { instance, token } = openDemoInstance()
    const url = `${path}?${two}&format=parquet`
    const first = await instance.get(url, token)
    const whole = new Uint8Array(await first.arrayBuffer())
    const etag = first.headers.get('etag')!
    const rest = await instance.get(url, token, { range: 'bytes=100-', 'if-range': etag })
    expect(rest.status).toBe(206)
    expect(rest.headers.get('content-range')).toBe(`bytes 100-${whole.length - 1}/${whole.length}`)
    expect(new Uint8Array(await rest.arrayBuffer())).toEqual(whole.slice(100))
    const end = await instance.get(url, token, { range: 'bytes=-8' })
    expect(new Uint8Array(await end.arrayBuffer())).toEqual(whole.slice(-8))
    const beyond = await instance.get(url, token, { range: 'bytes=999999999-' })
    expect(beyond.status).toBe(416)
    // The body is the error, and not the file.
    expect(beyond.headers.get('content-type')).toStartWith('application/json')
    for (const name of ['content-disposition', 'etag', 'last-modified'])
      expect(beyond.headers.get(name), name).toBeNull()
    expect((await instance.get(url, token, { 'if-none-match': etag })).status).toBe(304)
  })

  test('and is sent whole when the rows have changed since', async () => {
    const { instance, token } = openDemoInstance()
    const url = `${path}?codes=WTI_USD`
    const etag = (await instance.get(url, token)).headers.get('etag')!
    instance.clock.advance(1000)
    instance.record('WTI_USD', [99], startAt, hourMs)
    const again = await instance.get(url, token, { range: 'bytes=100-', 'if-range': etag })
    expect(again.status).toBe(200)
    expect(again.headers.get('etag')).not.toBe(etag)
    expect((await again.text()).startsWith('code,')).toBe(true)
  })
})

describe('an export of the last year', () => {
  const url = `${path}?codes=WTI_USD,NATURAL_GAS_GBP`
  const etagOf = (answer: Response) => answer.headers.get('etag')!

  test.each(['raw', 'hour', 'day', 'month'])(
    'by %s is the same file for as long as it has the same rows',
    async interval => {
      const { instance, token } = openDemoInstance()
      const asked = `${url}&interval=${interval}`
      const first = await instance.get(asked, token)
      const text = await first.text()
      instance.clock.advance(60_000)
      const unchanged = await instance.get(asked, token, { 'if-none-match': etagOf(first) })
      expect(unchanged.status).toBe(304)
      expect(await (await instance.get(asked, token)).text()).toBe(text)
      instance.record('WTI_USD', [99], startAt + 30_000, hourMs)
      const later = await instance.get(asked, token, { 'if-none-match': etagOf(first) })
      expect(later.status).toBe(200)
      expect(await later.text()).toContain(',99,USD')
    },
  )

  test('is another one when a row has become older than a year', async () => {
    const { instance, token } = openDemoInstance()
    instance.record('WTI_USD', [50], startAt - 365 * dayMs + 30_000, hourMs)
    const first = await instance.get(url, token)
    expect(await first.text()).toContain(',50,USD')
    instance.clock.advance(60_000)
    const later = await instance.get(url, token, { 'if-none-match': etagOf(first) })
    expect(later.status).toBe(200)
    expect(later.headers.get('x-total')).toBe('240')
    expect(await later.text()).not.toContain(',50,USD')
  })

  test('an export of the last year contains every correction, even of an old value that has a newer successor', async () => {
    const { instance, token } = openDemoInstance()
    const { catalogue, ingest } = instance.services
    const seriesId = catalogue.named('BRENT_CRUDE_USD')!.id
    const [early, late] = [startAt - 3 * dayMs, startAt - 2 * dayMs]
    ingest.write([{ seriesId, observedAt: early, value: 70 }], early + hourMs)
    ingest.write([{ seriesId, observedAt: late, value: 71 }], late + hourMs)
    const brent = `${path}?codes=BRENT_CRUDE_USD`
    expect(await (await instance.get(brent, token)).text()).toContain(',70,USD')
    ingest.write([{ seriesId, observedAt: early, value: 72 }], early + 2 * hourMs)
    expect(await (await instance.get(brent, token)).text()).toContain(',72,USD')
  })

  test('leaves out a day that was quarantined since', async () => {
    const { instance, token } = openDemoInstance()
    const first = await (await instance.get(url, token)).text()
    const day = isoInstant(startAt - 2 * dayMs).slice(0, 10)
    expect(first).toContain(`GBP,${day}`)
    instance.services.quarantine.add({
      seriesId: instance.services.catalogue.named('NATURAL_GAS_GBP')!.id,
      fromOn: day,
      toOn: day,
      reason: 'a test',
      createdAt: startAt,
    })
    expect(await (await instance.get(url, token)).text()).not.toContain(`GBP,${day}`)
  })

  test('names its series as they are named now', async () => {
    const { instance, token } = openDemoInstance()
    const first = await instance.get(url, token)
    const authorization = `Bearer ${instance.services.adminTokens.rotate()}`
    const edited = await instance.send(
      'PATCH',
      '/admin/v1/series/WTI_USD',
      { unit: 'tonne' },
      undefined,
      { authorization },
    )
    expect(edited.status).toBe(200)
    const later = await instance.get(url, token, { 'if-none-match': etagOf(first) })
    expect(later.status).toBe(200)
    expect(await later.text()).toContain('USD,tonne')
  })
})

test('an export excludes data written while it is running', async () => {
  const { instance, token } = openDemoInstance()
  const rows = Array.from({ length: 70_000 }, (_, i) => i / 7)
  instance.record('BRENT_CRUDE_USD', rows, startAt - hourMs, 60_000)
  instance.clock.advance(1000)
  const answer = await instance.get(`${path}?codes=BRENT_CRUDE_USD,WTI_USD`, token)
  const reader = answer.body!.getReader()
  const decoder = new TextDecoder()
  let text = decoder.decode((await reader.read()).value)
  instance.clock.advance(1000)
  const seriesId = instance.services.catalogue.named('WTI_USD')!.id
  const { ingest } = instance.services
  ingest.write([
    { seriesId, observedAt: startAt - hourMs, value: 1 },
    { seriesId, observedAt: startAt, value: 2 },
  ])
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    text += decoder.decode(value)
  }
  const lines = text.trim().split('\n')
  expect(lines.length - 1).toBe(Number(answer.headers.get('x-total')))
  expect(lines.at(-1)).toBe(
    `WTI_USD,${isoInstant(startAt - hourMs)},${70 + Math.sin(199) * 1.23456789},USD,barrel`,
  )
})

describe('what an export costs', () => {
  const used = async (answer: Response) => Number(answer.headers.get('x-ratelimit-used'))

  test('an export is charged by its rows according to the plan, and a partial download is charged by its share', async () => {
    const instance = openTestInstance()
    const token = instance.key('professional')
    instance.record('BRENT_CRUDE_USD', Array(25_000).fill(80), startAt, 60_000)
    const url = `${path}?codes=BRENT_CRUDE_USD`
    const answer = await instance.get(url, token)
    expect(answer.headers.get('x-quota-requests')).toBe('15')
    expect(await used(answer)).toBe(15)
    const size = (await answer.arrayBuffer()).byteLength
    const half = await instance.get(url, token, { range: `bytes=${size >> 1}-` })
    expect(await used(half)).toBe(23)
    const refused = await instance.get(`${url}&format=fax`, token)
    expect(refused.status).toBe(400)
    expect(await used(refused)).toBe(23)
  })

  test.each([
    ['HEAD', {}],
    ['HEAD with Range', { range: 'bytes=0-99' }],
  ])('%s costs one request, because it sends no rows', async (_, more) => {
    const instance = openTestInstance()
    const token = instance.key('professional')
    instance.record('BRENT_CRUDE_USD', Array(25_000).fill(80), startAt, 60_000)
    const headers = { authorization: `Token ${token}`, ...more }
    const url = `http://localhost${path}?codes=BRENT_CRUDE_USD`
    const head = await instance.app.handle(new Request(url, { method: 'HEAD', headers }))
    expect(head.status).toBe(200)
    expect(head.headers.get('x-total')).toBe('25000')
    expect(head.headers.get('x-quota-requests')).toBe('1')
    expect(await used(head)).toBe(1)
  })

  test('the free plan exports one month of the demo codes and is refused with the limits beyond that', async () => {
    const instance = openTestInstance()
    const token = instance.key('free')
    instance.record('WTI_USD', [70, 71], startAt, dayMs)
    const slice = `${path}?codes=WTI_USD&start_date=2026-11-01`
    expect((await instance.get(slice, token)).status).toBe(200)
    for (const url of [
      `${path}?codes=WTI_USD&start_date=2026-01-01`,
      `${path}?codes=NATURAL_GAS_GBP&start_date=2026-11-01`,
    ]) {
      const refused = await instance.get(url, token)
      expect(refused.status).toBe(403)
      expect(await refused.text()).toContain('31 days of')
    }
  })
})

test('an invalid export request is refused with an error that names the invalid parameter or value', async () => {
  const { instance, token } = openDemoInstance()
  const refusals: [query: string, status: number, said: string][] = [
    ['', 400, 'codes'],
    ['codes=NO_SUCH_CODE', 400, 'NO_SUCH_CODE'],
    ['codes=WTI_USD&columns=code,volume', 400, 'volume'],
    ['codes=WTI_USD&columns=open', 400, 'open'],
    ['codes=WTI_USD&format=xls', 400, 'xls'],
    ['codes=WTI_USD&interval=fortnight', 400, 'fortnight'],
    ['codes=WTI_USD&start_date=2026-11-19&end_date=2026-11-01', 400, 'start_date'],
  ]
  for (const [query, status, said] of refusals) {
    const answer = await instance.get(`${path}?${query}`, token)
    expect({ query, status: answer.status }).toEqual({ query, status })
    expect(await answer.text()).toContain(said)
  }
})
