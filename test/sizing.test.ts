import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dir, '..')
const linesOf = (path: string) => readFileSync(join(root, path), 'utf8').split('\n')
const cellsOf = (line: string) =>
  line
    .replaceAll(/^\||\|$/g, '')
    .split('|')
    .map(cell => cell.trim())

/** The newest figure of each row of `bench/README.md`: its newest run stands first. */
const measured = new Map<string, string>()
for (const line of linesOf('bench/README.md')) {
  if (!line.startsWith('|')) continue
  const [row, ours] = cellsOf(line)
  if (row && ours && !measured.has(row)) measured.set(row, ours)
}

/** `43,793 requests a second` and `43,793/s` as the same number and unit. */
const plain = (text: string) =>
  text.replace(/ (requests|rows|deliveries) a second$/, '/s').replaceAll(',', '')

const sizing = linesOf('docs/reference/sizing.md').filter(line => line.startsWith('|'))

describe('docs/reference/sizing.md', () => {
  const figures = sizing.map(cellsOf).filter(cells => cells.length === 3 && /\d/.test(cells[1]!))

  test('has a figure for requests, pages, imports, webhooks, alerts, start and memory', () => {
    expect(figures.length).toBeGreaterThanOrEqual(9)
  })

  test.each(figures)(
    'the sizing guide states for %s the figure %s from the newest run in bench/README.md',
    (_, figure, row) => {
      // Behind a rate stands the processor time of an answer.
      const rate = measured.get(row!)?.split(', ')[0]
      expect(rate && plain(rate), row).toEqual(plain(figure!))
    },
  )

  test.each(sizing.map(cellsOf).filter(cells => cells.length === 7 && /\d/.test(cells[0]!)))(
    'the sizing guide states for %s points with %s accounts what the newest run in bench/README.md measured',
    (points, accounts, disk, start, load, price, page) => {
      const text = measured.get(`${points} points, ${accounts} accounts`)
      const megabytes = (cell: string) => cell.replace(',', '').replace(' MB', '')
      expect(text).toBe(
        `disk ${megabytes(disk!)} MB; memory ${megabytes(start!)} MB, ${megabytes(load!)} after the load; processor ${price} a price, ${page} a page`,
      )
    },
  )

  const grown = sizing.map(cellsOf).filter(cells => cells.length === 13 && /\d/.test(cells[0]!))

  test('has the growth of a database of one, ten and a hundred million points', () => {
    expect(grown.map(([points]) => points)).toEqual(
      expect.arrayContaining(['1,000,000', '10,000,000', '100,000,000']),
    )
  })

  test.each(grown)(
    'the sizing guide states for the growth to %s points what the newest run in bench/README.md measured',
    (...cells) => {
      const [
        points,
        load,
        processorLoad,
        start,
        latest,
        newest,
        tenth,
        oldest,
        day,
        exported,
        backup,
        memory,
        disk,
      ] = cells
      expect(measured.get(`growth: ${points} points`)).toBe(
        [
          `load ${load} rows/s, ${processorLoad} rows/s of processor time`,
          `start ${start}`,
          `latest ${latest}`,
          `window newest ${newest}, a tenth back ${tenth}, oldest ${oldest}`,
          `day of all codes ${day}`,
          `export ${exported}`,
          `backup ${backup}`,
          `memory ${memory}`,
          `disk ${disk}`,
        ].join('; '),
      )
    },
  )
})
