import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'

/** Matrices, whose rows and columns have a fixed order. */
const others: Readonly<Record<string, number>> = {
  'parts/tables/heat.tsx': 1,
}

const pages = [...new Bun.Glob('**/*.tsx').scanSync('src/console')].sort()
const countOf = (file: string, part: RegExp): number =>
  readFileSync(`src/console/${file}`, 'utf8').match(part)?.length ?? 0

describe('the tables of the console', () => {
  test('are all drawn by the one that sorts and filters, but for matrices', () => {
    const own = pages.flatMap(file => {
      const count = countOf(file, /<table\b/g)
      return file !== 'parts/tables/table.tsx' && count > 0 ? [[file, count] as const] : []
    })
    expect(Object.fromEntries(own)).toEqual(others)
    const shared = pages.reduce((sum, file) => sum + countOf(file, /<Table\b/g), 0)
    console.info(`console: ${shared} tables that sort and filter, ${own.length} that are matrices`)
    expect(shared).toBeGreaterThan(50)
  })

  test('of the board’s rows have the columns of one declaration', () => {
    const own = pages.filter(
      file => countOf(file, /\bBoardRow\b/g) > 0 && countOf(file, /numeric\('(Last|24 h)'/g) > 0,
    )
    expect(own).toEqual(['parts/tables/price-columns.tsx'])
  })
})
