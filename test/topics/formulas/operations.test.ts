import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { faultOf } from '../../../src/topics/formulas/service/definitions.ts'
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
    expect([id, Math.abs((row?.value ?? Number.NaN) - example.result) < 1e-9]).toEqual([id, true])
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
      faultOf('DESK_A', { formula: formula!, unit, currency }, services.catalogue.named),
    )
    expect([formula, faults.some(fault => fault === undefined)]).toEqual([formula, true])
  }
})
