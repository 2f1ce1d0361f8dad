import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import fc from 'fast-check'
import { scaled } from '../../../../src/datasets/cell.ts'
import { mappingOf } from '../../../../src/feeds/files/mapping.ts'
import { priceFields } from '../../../../src/topics/prices/files/columns.ts'
import { importPrices, type PriceImport } from '../../../../src/topics/prices/files/import.ts'
import { memory, noInput } from '../../../support/instance/memory-writer.ts'
import { needs } from '../../../support/needs.ts'
import { realRows } from '../../../support/real-data.ts'
import { realDataFolder } from '../../../support/requirements.ts'
import { catalogue } from '../../../support/topics/shipped-codes.ts'

const folder = mkdtempSync(join(tmpdir(), 'wellhead-scale-test-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let names = 0
function file(content: string): string {
  names += 1
  const path = join(folder, `${names}.csv`)
  writeFileSync(path, content)
  return path
}

const run = async (path: string, more: Partial<PriceImport>) => {
  const store = memory()
  const report = await importPrices({
    files: [path],
    writer: store,
    catalogue,
    now: Date.UTC(2026, 10, 21),
    stdin: noInput(),
    ...more,
  })
  return { values: Object.fromEntries(store.values), report }
}
const eia = (name: string) => resolve(realDataFolder, 'eia-weekly-stocks', name)

describe('a scale', () => {
  test('multiplies every value, as decimals do', async () => {
    const { values, report } = await run(
      file('date,value\n2004-04-09,11677.0\n2004-04-16,29\n2004-04-23,"12,905"\n2004-04-30,\n'),
      {
        series: 'CUSHING_STORAGE',
        scale: 0.001,
      },
    )
    // 29 x 0.001 is 0.029 and not 0.029000000000000001.
    expect(values).toEqual({
      'CUSHING_STORAGE 2004-04-09T00:00:00.000Z': 11.677,
      'CUSHING_STORAGE 2004-04-16T00:00:00.000Z': 0.029,
    })
    expect(report).toMatchObject({ inserted: 2, blank: 1, rejected: 1 })
  })

  test('is the same for the ordinary row, for quoted ones, for wide files and for NDJSON', async () => {
    const plain = await run(file('code,observed_at,price\nSPR,2024-01-05,409822\n'), {
      scale: 0.001,
    })
    const quoted = await run(file('code,observed_at,price\n"SPR","2024-01-05","409822"\n'), {
      scale: 0.001,
    })
    const wide = await run(file('day,spr,x\n2024-01-05,409822,1\n'), {
      scale: 0.001,
      mapping: mappingOf('observed_at=day,SPR_STORAGE=spr', priceFields),
    })
    const lines = await run(file('{"code":"SPR","date":"2024-01-05","value":409822}\n'), {
      scale: 0.001,
    })
    for (const { values } of [plain, quoted, wide, lines])
      expect(values).toEqual({ 'SPR_STORAGE 2024-01-05T00:00:00.000Z': 409.822 })
  })

  test('an import scale is applied before the accepted range check, which reports both numbers', async () => {
    const path = file('date,value\n2024-01-05,36321\n')
    expect(
      (await run(path, { series: 'CUSHING_STORAGE' })).report.files[0]!.samples[0]!.reason,
    ).toStartWith('price 36321 is outside the accepted range')
    const { report } = await run(path, { series: 'CUSHING_STORAGE', scale: 0.1 })
    expect(report.files[0]!.samples[0]!.reason).toStartWith(
      'price 36321 (3632.1 by --scale 0.1) is outside the accepted range for CUSHING_STORAGE',
    )
    // Rejected lines keep what the file said.
    expect(readFileSync(`${path}.rejected`, 'utf8')).toContain(',2024-01-05,36321')
  })

  test('must be a number above 0', async () => {
    for (const scale of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(
        run(file('date,value\n2024-01-05,1\n'), { series: 'SPR', scale }),
        String(scale),
      ).rejects.toThrow('must be a number above 0')
    }
  })

  test('is exact for every value of up to nine digits and any power of ten', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 999_999_999 }),
        fc.integer({ min: 0, max: 9 }),
        (value, places) => {
          expect(scaled(value, Number(`1e-${places}`))).toBe(Number(`${value}e-${places}`))
          expect(scaled(value, 1)).toBe(value)
        },
      ),
    )
  })
})

describe("the energy agency's weekly files", () => {
  needs('../shared/data').test(
    'give the levels that they print, in the unit of their series',
    async () => {
      const regions =
        'US_CRUDE_STORAGE=crude_US,PADD1_CRUDE_STORAGE=crude_PADD1,PADD5_CRUDE_STORAGE=crude_PADD5'
      const wide = await run(eia('petroleum_inventories.csv'), {
        mapping: mappingOf(`observed_at=date,${regions}`, priceFields),
        dryRun: true,
      })
      expect(wide.report).toMatchObject({ read: 1560, points: 1560, rejected: 0 })

      const cushing = realRows('eia-weekly-stocks/rtl_eiaStocks_kbbl.csv').filter(
        row => row[1] === 'CrudeCushing',
      )
      const path = file(`date,series,value\n${cushing.map(row => row.join(',')).join('\n')}\n`)
      const { values, report } = await run(path, { series: 'CUSHING_STORAGE', scale: 0.001 })
      expect(report).toMatchObject({ rejected: 0, inserted: cushing.length })
      expect(values['CUSHING_STORAGE 2024-05-17T00:00:00.000Z']).toBe(36.32)
    },
  )

  needs('../shared/data').test('may write their days in English', async () => {
    const { values, report } = await run(eia('weekly_us_ending_stocks_excluding_spr.csv'), {
      series: 'US_CRUDE_STORAGE',
      scale: 0.001,
      rejectedPath: () => join(folder, 'stocks.rejected'),
    })
    expect(report).toMatchObject({ read: 2283, inserted: 2283, rejected: 0 })
    expect(values['US_CRUDE_STORAGE 1982-08-20T00:00:00.000Z']).toBe(338.764)
  })
})
