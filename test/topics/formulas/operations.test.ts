import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { openTestInstance } from '../../support/instance/instance.ts'

interface Template {
  id: string
  formula: string
  unit: string
  currency: string
  example: {
    formula: string
    values: { code: string; observed_at: string; value: number }[]
    at: string
    result: number
  }
}

const listed = async () => {
  const instance = openTestInstance()
  const answer = await instance.get('/v1/formulas/templates', instance.key())
  const { data } = (await answer.json()) as { data: { templates: Template[] } }
  return data.templates
}

test('each template gives the result of its example from its values alone', async () => {
  const templates = await listed()
  expect(templates.map(({ id }) => id)).toEqual([
    'crack_321',
    'crack_211',
    'clean_spark',
    'clean_dark',
    'oil_indexation_301',
    'oil_indexation_603',
    'pricing_window',
    'surcharge_table',
    'vlsfo_ets',
    'floor_cap',
  ])
  for (const { id, unit, currency, example } of templates) {
    const { services } = openTestInstance()
    services.seriesChanges.add([
      {
        code: 'DESK_FORMULA',
        terms: { name: id, category: 'own', unit, currency, formula: example.formula },
      },
    ])
    const idOf = (code: string) => services.catalogue.named(code)!.id
    services.ingest.write(
      example.values.map(({ code, observed_at: at, value }) => ({
        seriesId: idOf(code),
        observedAt: Date.parse(at),
        value,
      })),
    )
    const at = Date.parse(example.at)
    const [row] = services.observations.oldestFirst(idOf('DESK_FORMULA'), at, at + 1)
    expect(Math.abs((row?.value ?? Number.NaN) - example.result), id).toBeLessThan(1e-9)
  }
})

/**
 * By template: its result by its example, and after a correction of each of its values in turn. The
 * results are worked out by hand, in dollars and euros as the contracts have them.
 */
const corrected: Record<string, { first: number; after: [string, string, number, number][] }> = {
  crack_321: {
    // (2*2.1*42 + 2.4*42)/3 - 70
    first: (2 * 88.2 + 100.8) / 3 - 70,
    after: [
      ['GASOLINE_USD', '11-10', 2.2, (2 * 92.4 + 100.8) / 3 - 70],
      ['HEATING_OIL_USD', '11-10', 2.5, (2 * 92.4 + 105) / 3 - 70],
      ['WTI_USD', '11-10', 71, 25.6],
    ],
  },
  crack_211: {
    first: 24.5,
    after: [
      ['GASOLINE_USD', '11-10', 2.2, 26.6],
      ['HEATING_OIL_USD', '11-10', 2.5, 28.7],
      ['WTI_USD', '11-10', 71, 27.7],
    ],
  },
  clean_spark: {
    // 90 - 60 - 25.9
    first: 4.1,
    after: [
      ['POWER_DE_EUR', '11-10', 95, 9.1],
      ['DUTCH_TTF_EUR', '11-10', 24.5, 95 - 50 - 25.9],
      ['EU_CARBON_EUR', '11-10', 80, 95 - 50 - 29.6],
    ],
  },
  clean_dark: {
    // 130 - 100 EUR of coal by 6.978 MWh and 0.38 - 63
    first: 67 - 100 / 2.65164,
    after: [
      ['POWER_DE_EUR', '11-10', 140, 77 - 100 / 2.65164],
      ['COAL_ARA_USD', '11-10', 116.67216, 140 - 40 - 63],
      ['EUR_USD', '11-10', 1.2, 77 - 110 / 3],
      ['EU_CARBON_EUR', '11-10', 80, 68 - 110 / 3],
    ],
  },
  oil_indexation_301: {
    // 14.85% of 68, and 0.5
    first: 10.598,
    after: [
      ['BRENT_CRUDE_USD', '08-15', 69, 10.7465],
      ['BRENT_CRUDE_USD', '09-15', 71, 10.895],
      ['BRENT_CRUDE_USD', '10-15', 73, 11.0435],
      ['BRENT_CRUDE_USD', '11-10', 10, 11.0435],
    ],
  },
  oil_indexation_603: {
    // 14.85% of 65, the mean of April to September, and 0.5
    first: 10.1525,
    after: [
      ['BRENT_CRUDE_USD', '04-15', 66, 10.301],
      ['BRENT_CRUDE_USD', '09-15', 76, 10.4495],
      ['BRENT_CRUDE_USD', '10-15', 10, 10.4495],
    ],
  },
  pricing_window: {
    // (70 + 71 + 73 + 74 + 77) / 5
    first: 73,
    after: [
      ['BRENT_CRUDE_USD', '11-08', 75, 74],
      ['BRENT_CRUDE_USD', '11-10', 78, 75],
      ['BRENT_CRUDE_USD', '11-12', 82, 76],
    ],
  },
  surcharge_table: {
    first: 0.2,
    after: [
      ['DIESEL_US_NATIONAL_USD', '11-10', 3.49, 0.15],
      ['DIESEL_US_NATIONAL_USD', '11-10', 4, 0.25],
    ],
  },
  vlsfo_ets: {
    // 500 + 3.114 * 0.7 * 77 USD
    first: 667.8446,
    after: [
      ['VLSFO_RTM_USD', '11-10', 510, 677.8446],
      ['EUR_USD', '11-10', 1.2, 510 + 2.1798 * 84],
      ['EU_CARBON_EUR', '11-10', 80, 510 + 2.1798 * 96],
    ],
  },
  floor_cap: {
    first: 50,
    after: [
      ['DUTCH_TTF_EUR', '11-10', 40, 40],
      ['DUTCH_TTF_EUR', '11-10', 10, 20],
    ],
  },
}

test('each template has, as of each moment, the result of what was known then', async () => {
  const templates = await listed()
  expect(Object.keys(corrected)).toEqual(templates.map(({ id }) => id))
  for (const { id, unit, currency, example } of templates) {
    const { services, clock } = openTestInstance()
    const terms = { name: id, category: 'own', unit, currency, formula: example.formula }
    services.seriesChanges.add([{ code: 'DESK_FORMULA', terms }])
    const idOf = (code: string) => services.catalogue.named(code)!.id
    const write = (code: string, at: string, value: number) =>
      services.ingest.write([{ seriesId: idOf(code), observedAt: Date.parse(at), value }])
    for (const { code, observed_at: at, value } of example.values) write(code, at, value)
    const { first, after } = corrected[id]!
    const expected = [{ moment: clock.now() + 500, result: first }]
    for (const [code, day, value, result] of after) {
      clock.advance(60_000)
      write(code, `2026-${day}T00:00:00Z`, value)
      expected.push({ moment: clock.now() + 500, result })
    }
    const at = Date.parse(example.at)
    const found = expected.map(({ moment }) =>
      services.observations.asOf(idOf('DESK_FORMULA'), at, at + 1, moment, 1)[0]?.value.toFixed(9),
    )
    expect([id, ...found]).toEqual([id, ...expected.map(({ result }) => result.toFixed(9))])
    const [now] = services.observations.oldestFirst(idOf('DESK_FORMULA'), at, at + 1)
    expect(now?.value.toFixed(9), id).toEqual(expected.at(-1)!.result.toFixed(9))
  }
})

test('every formula of the guide is accepted', () => {
  const { services } = openTestInstance()
  const guide = readFileSync(resolve(import.meta.dir, '../../../docs/how-to/formulas.md'), 'utf8')
  const rows = [
    ...guide.slice(guide.indexOf('## Examples')).matchAll(/^\| [^|`]+ \| `([^`]+)` \|$/gm),
  ]
  expect(rows.length).toBe(10)
  const terms = [
    ['barrel', 'USD'],
    ['mwh', 'EUR'],
    ['MT', 'USD'],
  ] as const
  for (const [, formula] of rows) {
    const faults = terms.map(([unit, currency]) =>
      services.formulas.faultOf(
        'DESK_A',
        { formula: formula!, unit, currency },
        services.catalogue.named,
      ),
    )
    expect(
      faults.some(fault => fault === undefined),
      formula,
    ).toBe(true)
  }
})
