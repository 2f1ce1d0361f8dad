import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { csvRecordsOf } from '../../../src/console/pages/operator/csv-records.ts'
import { comparedRows, importRowsOf } from '../../../src/console/pages/operator/import-rows.ts'

const rowsOf = (...[text, notation]: Parameters<typeof importRowsOf>) =>
  importRowsOf(text, notation).rows.map(({ row }) => row)

describe('importRowsOf', () => {
  test('reads columns in any order, with what it does not need between quotes', () => {
    const text =
      '\uFEFF"Note, if any",observed_at,price,CODE\r\n"a, ""b""\r\nc",2026-11-20T15:00:00Z,71.5,WTI_USD\r\n\r\n,2026-11-21,-37.63,"WTI_USD"\r\n'
    expect(rowsOf(text)).toEqual([
      { code: 'WTI_USD', price: '71.5', observed_at: '2026-11-20T15:00:00Z' },
      { code: 'WTI_USD', price: '-37.63', observed_at: '2026-11-21' },
    ])
  })

  test('an unknown time zone is refused in the words of the page', () => {
    expect(() => importRowsOf('code;date;price\n', { zone: 'Europe/Amsterdm' })).toThrow(
      'The time zone must be a name such as Europe/Berlin',
    )
  })

  test('pasted import rows accept other separators and a currency column', () => {
    expect(rowsOf('code;date;close;currency\nGOLD_USD;2026-11-20;4000.5;USD')).toEqual([
      { code: 'GOLD_USD', price: '4000.5', observed_at: '2026-11-20', currency: 'USD' },
    ])
  })

  test('reads the notation of European files, and leaves out rows without a price', () => {
    const text = 'code;date;price\nTTF;20.11.2026;1.234,5\nTTF;21.11.2026;\nTTF;22.11.2026;31,2'
    expect(rowsOf(text, { decimalComma: true, dateFormat: 'DD.MM.YYYY' })).toEqual([
      { code: 'TTF', price: '1234.5', observed_at: '2026-11-20' },
      { code: 'TTF', price: '31.2', observed_at: '2026-11-22' },
    ])
  })

  test('local times become instants, and the hour that the clocks repeat is listed', () => {
    const text =
      'code;date;price\nTTF;24.10.2026 06:00;31,2\nTTF;25.10.2026 02:00;31,3\nTTF;25.10.2026 06:00;31,4'
    const notation = {
      decimalComma: true,
      dateFormat: 'DD.MM.YYYY HH:mm',
      zone: 'Europe/Amsterdam',
    }
    const { rows, faults } = importRowsOf(text, notation)
    expect(rows.map(({ row }) => row.observed_at)).toEqual([
      '2026-10-24T04:00:00Z',
      '2026-10-25T05:00:00Z',
    ])
    expect(faults).toEqual([
      { line: 3, reason: expect.stringContaining('occurs twice in Europe/Amsterdam') },
    ])
  })

  test('a file of one series needs no column of codes, and two columns no known names', () => {
    const notation = { series: 'DUTCH_TTF_EUR', decimalComma: true, dateFormat: 'DD.MM.YYYY' }
    const row = { code: 'DUTCH_TTF_EUR', price: '31.2', observed_at: '2026-10-24' }
    expect(rowsOf('Datum;Preis\n24.10.2026;31,2', notation)).toEqual([row])
    expect(rowsOf('Price;Datum\n31,2;24.10.2026', notation)).toEqual([row])
    expect(rowsOf('price;note;date\n31,2;x;24.10.2026', notation)).toEqual([row])
    expect(() => rowsOf('code;date;price\nTTF;24.10.2026;31,2', notation)).toThrow(
      'leave out the code of every row',
    )
  })

  test('lists every line that cannot be read, and reads the others', () => {
    const text =
      'code;date;price\nA;20.11.2026;1,5\nA;2026-11-20;2\n"B"x;20.11.2026;3\nA;21.11.2026;1.5'
    const { rows, faults } = importRowsOf(text, { decimalComma: true, dateFormat: 'DD.MM.YYYY' })
    expect(rows.map(({ line }) => line)).toEqual([2])
    expect(faults).toEqual([
      { line: 3, reason: 'observed_at 2026-11-20 is not written as DD.MM.YYYY' },
      { line: 4, reason: 'text follows a closing quote, or a quote is never closed' },
      {
        line: 5,
        reason: expect.stringMatching(/^price 1\.5 is not a number with a decimal comma/),
      },
    ])
  })

  test.each([
    ['code,price\nWTI_USD,1', 'got code, price'],
    ['', 'got none'],
  ])('%j is refused for its columns', (text, words) => {
    expect(() => importRowsOf(text)).toThrow(words)
  })
})

describe('comparedRows', () => {
  const file = importRowsOf(
    'code,date,price\nA,2026-11-20,1\nB,2026-11-20,x\nA,"2026"-11-21,1\nC,2026-11-20,3',
  )
  const refusal = (errors: object[]) => Object.assign(new Error('refused'), { body: { errors } })

  test('compares what the API accepts, and lists the other lines in order', async () => {
    const sent: string[] = []
    const compared = await comparedRows(file, async rows => {
      sent.push(rows.map(({ code }) => code).join(' '))
      const i = rows.findIndex(({ price }) => price === 'x')
      if (i >= 0)
        throw refusal([
          { field: `observations.${i}.price`, message: `observations[${i}].price x is wrong` },
        ])
      return rows.length
    })
    expect(sent).toEqual(['A B C', 'A C'])
    expect(compared).toEqual({
      rows: [expect.objectContaining({ code: 'A' }), expect.objectContaining({ code: 'C' })],
      faults: [
        { line: 3, reason: 'price x is wrong' },
        { line: 4, reason: expect.stringContaining('quote') },
      ],
      comparisons: [2],
    })
  })

  test('a file with more rows than a request takes is compared in slices, and its lines are counted through', async () => {
    const lines = Array.from({ length: 20_001 }, (_, i) => `A,2026-11-20,${i === 20_000 ? 'x' : i}`)
    const sent: number[] = []
    const compared = await comparedRows(
      importRowsOf(['code,date,price', ...lines].join('\n')),
      async rows => {
        sent.push(rows.length)
        const i = rows.findIndex(({ price }) => price === 'x')
        if (i >= 0)
          throw refusal([{ field: `observations.${i}.price`, message: 'must be a number' }])
        return rows.length
      },
    )
    expect(sent).toEqual([10_000, 10_000, 1])
    expect(compared.rows).toHaveLength(20_000)
    expect(compared.faults).toEqual([{ line: 20_002, reason: 'must be a number' }])
    expect(compared.comparisons).toEqual([10_000, 10_000])
  })

  test('gives up where too many lines are wrong, and passes on any other refusal', async () => {
    const rows = Array.from({ length: 500 }, (_, i) => ({ line: i + 2, row: file.rows[0]!.row }))
    let requests = 0
    const compared = await comparedRows({ rows, faults: [] }, async sent => {
      requests += 1
      throw refusal(
        sent.slice(0, 100).map((_, i) => ({
          field: `observations.${i}.price`,
          message: `observations[${i}].price x`,
        })),
      )
    })
    expect([requests, compared.rows, compared.faults.length]).toEqual([1, [], 100])
    const lines = Array.from({ length: 10_100 }, (_, i) => ({
      line: i + 2,
      row: { ...file.rows[0]!.row, price: i < 10_000 ? '1' : 'x' },
    }))
    const late = await comparedRows({ rows: lines, faults: [] }, async sent => {
      const wrong = sent.flatMap(({ price }, i) =>
        price === 'x' ? [{ field: `observations.${i}.price`, message: 'x' }] : [],
      )
      if (wrong.length > 0) throw refusal(wrong)
    })
    expect([late.rows, late.faults.length, late.comparisons]).toEqual([[], 100, []])
    const other = refusal([])
    expect(await comparedRows(file, () => Promise.reject(other)).catch(error => error)).toBe(other)
  })
})

test('every table that is written with quotes is read as it was', () => {
  const cell = fc.string({ unit: fc.constantFrom('a', '"', ',', ';', '\n', ' ', '1') })
  fc.assert(
    fc.property(
      fc.array(fc.array(cell, { minLength: 2, maxLength: 2 }), { minLength: 1 }),
      rows => {
        const written = [['x', 'y'], ...rows]
          .map(row => row.map(text => `"${text.replaceAll('"', '""')}"`).join(','))
          .join('\n')
        expect(csvRecordsOf(written).map(({ cells }) => cells)).toEqual([['x', 'y'], ...rows])
      },
    ),
  )
})
