import { afterAll, afterEach, expect, test } from 'bun:test'
import { feedNames } from '../../../src/config/keys.ts'
import type { SentSeries } from '../../../src/feeds/publishers/publisher.ts'
import { shippedFeeds } from '../../../src/feeds/publishers/publishers.ts'
import { judge, newestOf } from '../../../src/feeds/publishers/suspicion.ts'
import { FeedFault } from '../../../src/feeds/reading/fault.ts'
import { parseInstant } from '../../../src/lib/time/instant.ts'
import { needs } from '../../support/needs.ts'
import { plainClient } from '../../support/publishers/plain-client.ts'
import { type Misbehaviour, standIn, standInKey } from '../../support/publishers/stand-in.ts'
import { thousandfold } from '../../support/publishers/world.ts'

const now = parseInstant('2026-08-20T12:00:00Z')!
const publishers = await standIn()
afterAll(() => publishers.stop())
afterEach(() => {
  publishers.misbehaviour = undefined
})

async function readAll(name: string, since?: string, key?: string): Promise<SentSeries[]> {
  const { publisher, map } = shippedFeeds.find(feed => feed.publisher.name === name)!
  const client = plainClient(publishers.url)
  const reading = { entries: map, since: () => since, now, key }
  return await Array.fromAsync(publisher.read(client, reading))
}

const seriesIn = (sent: readonly SentSeries[], id: string): SentSeries =>
  sent.find(series => series.entry.sourceId === id)!
const valueIn = (series: SentSeries, period: string) =>
  series.rows.find(row => row.period === period)?.text

const keyOf = (name: string) =>
  ['eia', 'eia_930', 'entsoe', 'gie'].includes(name) ? standInKey : undefined

needs('../shared/data').describe('every publisher over a socket', () => {
  for (const { publisher, map } of shippedFeeds) {
    test(`${publisher.name} gives every line of its map, and what it gives is believed`, async () => {
      const sent = await readAll(publisher.name, undefined, keyOf(publisher.name))
      expect(sent.map(series => series.entry.sourceId).toSorted()).toEqual(
        map.map(entry => entry.sourceId).toSorted(),
      )
      const isAhead = (series: SentSeries) =>
        'dataset' in series.entry.target && series.entry.target.dataset === 'outlooks'
      for (const series of sent) judge(series, undefined, now, isAhead(series))
      expect(sent.some(series => series.rows.length > 0)).toBe(true)
      expect(sent.flatMap(series => series.faults)).toEqual([])
    }, 60_000)
  }

  test('the negative price of 2020-04-20 passes, and the blank of Henry Hub is a blank', async () => {
    for (const [name, oil, gas] of [
      ['eia', 'RWTC', 'RNGWHHD'],
      ['eia_bulk', 'PET.RWTC.D', 'NG.RNGWHHD.D'],
      ['fred', 'DCOILWTICO', 'DHHNGSP'],
    ] as const) {
      const sent = await readAll(name, undefined, keyOf(name))
      expect(valueIn(seriesIn(sent, oil), '2020-04-20')).toBe('-36.98')
      const henryHub = seriesIn(sent, gas)
      expect({ blanks: henryHub.blanks, value: valueIn(henryHub, '2018-01-05') }).toEqual({
        blanks: 1,
        value: undefined,
      })
    }
  })

  test('every value of every series is the text that was sent', async () => {
    const sent = await readAll('eia', undefined, standInKey)
    let compared = 0
    for (const { entry, rows } of sent) {
      const written = publishers.world.agency.get(entry.sourceId)!
      const values = new Map(written.rows.map(row => [row.period, row.value]))
      for (const { period, text } of rows) {
        expect(Number(text)).toBe(Number(values.get(period)))
        compared += 1
      }
    }
    expect(compared).toBeGreaterThan(50_000)
  })

  test('paged answers are read to their total, in pages of five thousand', async () => {
    publishers.asked.length = 0
    const sent = await readAll('eia', undefined, standInKey)
    const spot = publishers.asked.filter(request =>
      request.path.startsWith('/v2/petroleum/pri/spt'),
    )
    expect(spot.map(request => Number(request.query.get('offset')))).toEqual(
      spot.map((_, i) => 5000 * i),
    )
    expect(seriesIn(sent, 'RWTC').rows.length).toBe(
      publishers.world.agency.get('RWTC')!.rows.length,
    )
    for (const one of publishers.asked) expect(one.query.get('sort[0][column]')).toBe('period')
  })

  test('a later feed read requests only the data that it needs', async () => {
    publishers.asked.length = 0
    const sent = await readAll('eia', '2026-06-20', standInKey)
    expect(seriesIn(sent, 'RWTC')).toMatchObject({ covers: '2026-06-20' })
    expect(seriesIn(sent, 'RWTC').rows[0]!.period >= '2026-06-20').toBe(true)
    // One for each twenty series of a route: an address has no room for more.
    expect(publishers.asked.length).toBe(14)
    const rates = await readAll('ecb', '2026-04-01')
    expect(publishers.asked.at(-1)!.path).toStartWith('/service/data/EXR/D.')
    expect(newestOf(seriesIn(rates, 'USD'))).toBe([...publishers.world.rates.keys()].at(-1)!)
  })

  test('the weekly table and the report of gas agree with the agency to the thousandth', async () => {
    const table = await readAll('eia_wpsr')
    const weeks = seriesIn(table, 'table4/Commercial (Excluding SPR)')
    for (const { period, text } of weeks.rows) {
      const stocks = publishers.world.agency
        .get('WCESTUS1')!
        .rows.find(row => row.period === period)!
      expect(thousandfold(text)).toBe(stocks.value)
    }
    const gas = seriesIn(await readAll('eia_wngsr'), 'NW2_EPG0_SWO_R48_BCF')
    const newest = publishers.world.gas.at(-1)!
    expect(gas.rows[0]).toMatchObject({ period: newest.period, text: newest.value })
  })

  test('vintages of a series come with the day that they were recorded, each value once', async () => {
    publishers.vintages.set('DCOILWTICO 2026-08-10', [
      { value: '80.00', from: '2026-08-12' },
      { value: '81.25', from: '2026-08-14' },
    ])
    const sent = await readAll('fred', undefined, standInKey)
    const rows = seriesIn(sent, 'DCOILWTICO').rows.filter(row => row.period === '2026-08-10')
    expect(rows).toEqual([
      { period: '2026-08-10', text: '80', publishedAt: parseInstant('2026-08-12T00:00:00Z')! },
      { period: '2026-08-10', text: '81.25', publishedAt: parseInstant('2026-08-14T00:00:00Z')! },
    ])
    publishers.vintages.clear()
  })

  test('workbooks give the monthly prices, the auction of the common platform and the sums of rigs', async () => {
    const prices = await readAll('world_bank')
    expect(valueIn(seriesIn(prices, 'Coal, South African'), '2026-05')).toBe(
      valueOfPink('Coal, South African **'),
    )
    const carbon = (await readAll('eex_auctions'))[0]!
    expect(valueIn(carbon, '2026-01-08')).toBe('70')
    const rigs = await readAll('baker_hughes')
    const permian = Number(valueIn(seriesIn(rigs, 'basin:Permian/Oil'), '2026-01-02'))
    const american = Number(valueIn(seriesIn(rigs, 'country:UNITED STATES/Oil'), '2026-01-02'))
    expect({ permian, american }).toEqual({ permian: 22, american: 22 })
    expect(valueIn(seriesIn(rigs, 'country:UNITED STATES/Gas'), '2026-01-02')).toBe('7')
    expect(valueIn(seriesIn(rigs, 'country:UNITED STATES/Miscellaneous'), '2026-01-02')).toBe('0')
  })

  const usual: Misbehaviour[] = ['another_header', 'maintenance_page']
  /** Publishers that need different requests or parsers than most. */
  const refused: Partial<Record<string, Misbehaviour[]>> = {
    eia: [
      'another_header',
      'truncated',
      'total_changes',
      'page_twice',
      'page_missing',
      'maintenance_page',
      'cut_short',
    ],
    eia_bulk: ['maintenance_page', 'cut_short'],
    eia_wngsr: ['maintenance_page'],
    ecb: ['another_header', 'maintenance_page', 'cut_short'],
    world_bank: ['another_header', 'maintenance_page', 'cut_short'],
    alberta: ['maintenance_page'],
    eex_auctions: ['maintenance_page'],
    lbma: ['maintenance_page'],
    jodi: ['maintenance_page'],
    smard: ['another_header', 'maintenance_page'],
    elexon: ['another_header', 'maintenance_page'],
    aemo: ['another_header', 'maintenance_page'],
    eia_930: ['another_header', 'maintenance_page'],
    entsoe: ['another_header', 'maintenance_page'],
    gie: ['another_header', 'maintenance_page'],
    energy_charts: ['another_header', 'maintenance_page'],
  }
  for (const name of feedNames) {
    for (const kind of [...(refused[name] ?? usual), 'empty_body'] as const) {
      test(`${name} takes nothing from an answer with ${kind}`, async () => {
        publishers.misbehaviour = kind
        const failure = await readAll(name, undefined, keyOf(name)).then(
          () => 'read',
          error => (error instanceof FeedFault ? 'refused' : `${error}`),
        )
        // A cut body is detected when the socket is read.
        if (kind !== 'cut_short') expect(failure).toBe('refused')
        else expect(failure).not.toBe('read')
      })
    }
  }
})

/** A price of May 2026 as the shared edition has it. */
function valueOfPink(name: string): string {
  const [names, , ...months] = publishers.world.pinkSheet
  return String(Number(months.find(row => row[0] === '2026-05')![names!.indexOf(name)]))
}
