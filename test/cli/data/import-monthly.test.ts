import { describe, expect, test } from 'bun:test'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isoDay } from '../../../src/lib/time/instant.ts'
import { temporaryDir } from '../../support/instance/binary.ts'
import { command } from '../../support/instance/command.ts'
import { needs } from '../../support/needs.ts'
import { realRows } from '../../support/real-data.ts'
import { excerptSeries } from '../../support/real-series.ts'

/** Imports a file into an empty directory, as the documentation has it; what the command printed. */
async function imported(write: (dir: string) => string, ...options: string[]): Promise<string> {
  const dir = temporaryDir()
  try {
    const { code, out, err } = await command(
      'import',
      write(dir),
      ...options,
      '--create',
      '--data',
      join(dir, 'data'),
    )
    if (code === 1) throw new Error(err)
    return out
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

describe('months of a code that is shipped as daily are judged as months', () => {
  test('Australian coal of sixteen years goes in whole', async () => {
    const { values } = excerptSeries().find(({ name }) => name === 'Coal, Australian')!
    const out = await imported(
      dir => {
        const path = join(dir, 'coal.csv')
        const rows = values.map(({ observedAt, value }) => `${isoDay(observedAt)},${value}`)
        writeFileSync(path, `period,"Coal, Australian"\n${rows.join('\n')}\n`)
        return path
      },
      '--map',
      'observed_at=period',
      '--map',
      'COAL_AUSTRALIA_USD=Coal, Australian',
    )
    expect(out).toContain(`inserted ${values.length}`)
    expect(out).not.toContain('held')
  })

  needs('../shared/data').test(
    'of 4,703 months of the Pink Sheet since 1960 one is held',
    async () => {
      const [header = [], , ...rows] = realRows('worldbank-pinksheet/monthly_prices.csv', 0)
      const columns = {
        COAL_AUSTRALIA_USD: 'Coal, Australian',
        COAL_SOUTH_AFRICA_USD: 'Coal, South African',
        NATURAL_GAS_USD: 'Natural gas, US',
        NATURAL_GAS_ASIA: 'Liquefied natural gas, Japan',
        BRENT_CRUDE_USD: 'Crude oil, Brent',
        DUBAI_CRUDE_USD: 'Crude oil, Dubai',
        WTI_USD: 'Crude oil, WTI',
      }
      const out = await imported(
        dir => {
          const path = join(dir, 'prices.csv')
          // The row of units does not start with a month.
          writeFileSync(path, [header, ...rows].map(row => row.join(',')).join('\n'))
          return path
        },
        '--map',
        'observed_at=period',
        ...Object.entries(columns).flatMap(([code, column]) => ['--map', `${code}=${column}`]),
      )
      // Dubai in February 1986, when Saudi Arabia gave up holding the price.
      expect(out).toContain('inserted 4702')
      expect(out).toContain('held 1')
    },
  )
})
