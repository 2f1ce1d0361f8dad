import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { laneOf } from '../../../../src/topics/prices/files/fast-lane.ts'
import { checkRow, type Field, type RawRow } from '../../../../src/topics/prices/files/rows.ts'
import { catalogue, idOf, series } from '../../../support/topics/shipped-codes.ts'

const now = Date.UTC(2026, 10, 21, 19, 30)
const good: RawRow = { code: 'WTI_USD', observedAt: '2024-03-28T14:30:00Z', price: '83.17' }
const check = (part: Partial<RawRow>) => checkRow({ ...good, ...part }, catalogue, now)

describe('values that go in', () => {
  const prices: [unknown, number][] = [
    ['83.17', 83.17],
    ['-36.98', -36.98],
    ['.833', 0.833],
    ['5.', 5],
    ['+7', 7],
    ['1e3', 1000],
    ['1.5E-2', 0.015],
    [' 83.17 ', 83.17],
    ['0', 0],
    [83.17, 83.17],
    [-36.98, -36.98],
  ]
  test.each(prices)('the price %p is %p', (price, value) => {
    expect(check({ price })).toEqual({
      kind: 'point',
      point: { seriesId: idOf('WTI_USD'), observedAt: Date.UTC(2024, 2, 28, 14, 30), value },
    })
  })

  test('minus zero is zero, in text and as a number', () => {
    for (const price of ['-0', '-0.00', -0])
      expect(check({ price })).toMatchObject({ point: { value: 0 } })
    for (const price of ['-0', -0]) {
      const checked = check({ price })
      expect(checked.kind === 'point' && Object.is(checked.point.value, 0)).toBe(true)
    }
  })

  const times: [string, number][] = [
    ['2024-03-28', Date.UTC(2024, 2, 28)],
    ['2024-03-28T14:30:00Z', Date.UTC(2024, 2, 28, 14, 30)],
    ['2024-03-28T14:30:00.250Z', Date.UTC(2024, 2, 28, 14, 30, 0, 250)],
    ['2024-03-28T14:30:00+02:00', Date.UTC(2024, 2, 28, 12, 30)],
    ['2024-03-28 14:30Z', Date.UTC(2024, 2, 28, 14, 30)],
    ['1900-01-01', Date.UTC(1900, 0, 1)],
    ['Mar 28, 2024', Date.UTC(2024, 2, 28)],
    ['2026-11-22T19:30:00Z', now + 86_400_000],
  ]
  test.each(times)('a row with the time %s is a point at its moment', (observedAt, at) => {
    expect(check({ observedAt })).toMatchObject({ kind: 'point', point: { observedAt: at } })
  })

  test('an imported code is recognized in any letter case and by its aliases', () => {
    for (const code of ['wti_usd', ' WTI_USD ', 'WTI'])
      expect(check({ code })).toMatchObject({ point: { seriesId: idOf('WTI_USD') } })
  })

  test('a currency that agrees, or is left out', () => {
    for (const currency of ['USD', 'usd', ' USD ', '', '  ', null, undefined])
      expect(check({ currency })).toMatchObject({ kind: 'point' })
  })

  test('the day on which oil was given away with money', () => {
    expect(check({ observedAt: '2020-04-20', price: '-36.98' })).toMatchObject({
      kind: 'point',
      point: { value: -36.98 },
    })
  })
})

test.each([['', '.', 'N/A', 'NA', 'w', ' ', null]].flat())(
  '%p is a missing value, not a wrong one',
  price => {
    expect(check({ price, code: 'NO_SUCH_CODE' })).toEqual({ kind: 'blank' })
  },
)

describe('what is refused says what would be right', () => {
  const cases: [string, Partial<RawRow>, Field, string][] = [
    [
      'a misspelt code',
      { code: 'WTI_UDS' },
      'code',
      'code WTI_UDS is not in the catalogue: did you mean WTI_USD?',
    ],
    [
      'a code that is spelt nearly like another one',
      { code: 'NOPE' },
      'code',
      'is not in the catalogue: correct it, or add it as a custom series',
    ],
    [
      'a code like no other',
      { code: 'ZZZZZZZZZZZZZZZZZZZZZZZZ' },
      'code',
      'is not in the catalogue: correct it, or add it as a custom series',
    ],
    ['no code', { code: undefined }, 'code', 'code is missing: give a code'],
    ['an empty code', { code: ' ' }, 'code', 'code is empty'],
    ['a code that is a number', { code: 7 }, 'code', 'code 7 has the wrong type'],
    [
      'thousands separators',
      { price: '1,234.5' },
      'price',
      'price 1,234.5 is not a plain number: write a decimal number with a point',
    ],
    ['a decimal comma', { price: '83,17' }, 'price', 'price 83,17 is not a plain number'],
    ['a currency sign', { price: '$83.17' }, 'price', 'price $83.17 is not a plain number'],
    ['NaN', { price: 'NaN' }, 'price', 'price NaN is not a plain number'],
    ['Infinity', { price: 'Infinity' }, 'price', 'price Infinity is not a plain number'],
    ['hexadecimal', { price: '0x10' }, 'price', 'price 0x10 is not a plain number'],
    ['a lone sign', { price: '-' }, 'price', 'price - is not a plain number'],
    [
      'more than a double holds',
      { price: '1e999' },
      'price',
      'price 1e999 is too large for a number',
    ],
    ['no price', { price: undefined }, 'price', 'price is missing'],
    ['a price that is true', { price: true }, 'price', 'price true has the wrong type'],
    [
      'a price that is not finite',
      { price: Number.NaN },
      'price',
      'price NaN is not a finite number',
    ],
    ['a line break in a price', { price: '8\n3' }, 'price', 'price "8\\n3" is not a plain number'],
    [
      'a time without zone',
      { observedAt: '2024-03-28T14:30:00' },
      'observed_at',
      'observed_at 2024-03-28T14:30:00 has no zone: write 2024-03-28T14:30:00Z if it is UTC',
    ],
    [
      'a time with a space and no zone',
      { observedAt: '2024-03-28 14:30' },
      'observed_at',
      'has no zone: write 2024-03-28T14:30Z if it is UTC',
    ],
    [
      'a zoneless hour that is none',
      { observedAt: '2024-03-28T25:00:00' },
      'observed_at',
      'is not in the calendar or on the clock',
    ],
    [
      'a day that is none',
      { observedAt: '2024-02-30' },
      'observed_at',
      'observed_at 2024-02-30 is not a time: write an instant with its zone',
    ],
    [
      'a month that is none in digits',
      { observedAt: '1997-13' },
      'observed_at',
      'observed_at 1997-13 is not a time',
    ],
    ['an English day that is none', { observedAt: 'Feb 30, 2024' }, 'observed_at', 'is not a time'],
    ['a month that is none', { observedAt: 'Mat 28, 2024' }, 'observed_at', 'is not a time'],
    [
      'an American date',
      { observedAt: '03/28/2024' },
      'observed_at',
      'observed_at 03/28/2024 is not a time',
    ],
    ['no time', { observedAt: undefined }, 'observed_at', 'observed_at is missing'],
    [
      'a time that is a number',
      { observedAt: 1_711_636_200 },
      'observed_at',
      'observed_at 1711636200',
    ],
    [
      'a time before 1900',
      { observedAt: '1899-12-31' },
      'observed_at',
      'observed_at 1899-12-31 is before 1900',
    ],
    [
      'the far future',
      { observedAt: '2026-11-22T19:30:01Z' },
      'observed_at',
      'is in the future: times up to 2026-11-22T19:30:00Z are accepted',
    ],
    [
      'another currency',
      { currency: 'EUR' },
      'currency',
      'currency EUR is not that of WTI_USD: convert the price to USD (barrel)',
    ],
    [
      'pence as markets write it',
      { code: 'GOLD_AM_GBP', price: '3000', currency: 'GBp' },
      'currency',
      'currency GBp is not that of GOLD_AM_GBP',
    ],
    [
      'a currency where there is none',
      { code: 'US_JET_STORAGE', price: '43', currency: 'USD' },
      'currency',
      'which is not a price: leave it empty',
    ],
    [
      'twenty times too much',
      { price: '1408.01' },
      'price',
      'price 1408.01 is outside the accepted range for WTI_USD, -1000 to 1408 (USD, barrel)',
    ],
    ['less than crude ever cost', { price: '-1000.01' }, 'price', '-1000 to 1408'],
    [
      'an exchange rate below zero',
      { code: 'EUR_USD', price: '-1.1' },
      'price',
      '0 to 23.15 (USD, rate)',
    ],
  ]
  test.each(cases)('%s', (_, part, field, reason) => {
    const checked = check(part)
    expect(checked).toMatchObject({ kind: 'rejected', field })
    expect((checked as { reason: string }).reason).toContain(reason)
  })

  test('a reason is one line of reasonable length, whatever was sent', () => {
    fc.assert(
      fc.property(
        fc.record({
          code: fc.anything(),
          observedAt: fc.anything(),
          price: fc.anything(),
          currency: fc.anything(),
        }),
        raw => {
          for (const row of [
            raw,
            { ...good, code: raw.code },
            { ...good, observedAt: raw.observedAt },
            { ...good, price: raw.price },
          ]) {
            const checked = checkRow(row, catalogue, now)
            if (checked.kind === 'rejected') {
              expect(checked.reason).not.toMatch(/[\n\r]/)
              expect(checked.reason.length).toBeLessThan(400)
            }
          }
        },
      ),
    )
  })
})

test('a file of nothing but different unknown codes is judged without searching for each of them', () => {
  const reasons = Array.from({ length: 1500 }, (_, i) => check({ code: `WTI_USDX${i}` })).filter(
    row => row.kind === 'rejected',
  )
  expect(reasons[0]).toMatchObject({ reason: expect.stringContaining('did you mean') })
  expect(reasons[1499]).toMatchObject({
    reason: expect.stringContaining('or add it as a custom series'),
  })
})

describe('the lane for ordinary rows', () => {
  const columns = { code: 0, observedAt: 1, currency: 3, values: [{ place: 2, code: undefined }] }
  const lane = laneOf({ columns, width: 4, separator: ',' }, { catalogue, now })!
  const read = (text: string) => {
    const bytes = Buffer.from(`junk\n${text}\njunk`)
    return lane.read(bytes, 5, bytes.length - 5)
      ? { seriesId: lane.seriesId, observedAt: lane.observedAt, value: lane.value }
      : undefined
  }
  const judged = (text: string) => {
    const [code, observedAt, price, currency] = text.split(',')
    const checked = checkRow({ code, observedAt, price, currency }, catalogue, now)
    return checked.kind === 'point' ? checked.point : undefined
  }

  test('takes the ordinary row', () => {
    const point = {
      seriesId: idOf('WTI_USD'),
      observedAt: Date.UTC(2024, 2, 28, 14, 30),
      value: 83.17,
    }
    expect(read('WTI_USD,2024-03-28T14:30:00Z,83.17,USD')).toEqual(point)
    expect(read('WTI_USD,2024-03-28T14:30:00Z,83.17,')).toEqual(point)
    expect(read('WTI_USD,2024-03-28,-36.98,USD')).toEqual({
      ...point,
      observedAt: Date.UTC(2024, 2, 28),
      value: -36.98,
    })
  })

  const left = [
    '"WTI_USD",2024-03-28,1,USD',
    'WTI_USD,2024-03-28,1',
    'WTI_USD,2024-03-28,1,USD,',
    'WTI_USD,2024-02-30,1,USD',
    'WTI_USD,2024-03-28,,USD',
  ]
  test.each(left)('leaves %s to the judge', text => {
    expect(read(text)).toBeUndefined()
  })

  test('never takes a field from the row before', () => {
    const noted = laneOf(
      { columns: { ...columns, currency: undefined }, width: 4, separator: ',' },
      { catalogue, now },
    )!
    const [whole, short] = [
      Buffer.from('WTI_USD,2024-03-28,8,note'),
      Buffer.from('WTI_USD,2024-03-28,83.17'),
    ]
    expect(noted.read(whole, 0, whole.length)).toBe(true)
    expect(noted.read(short, 0, short.length)).toBe(false)
  })

  const digits = (max: number) =>
    fc.array(fc.constantFrom(...'0123456789'), { maxLength: max }).map(all => all.join(''))
  const number = fc.oneof(
    fc
      .tuple(
        fc.constantFrom('', '', '-', '+'),
        digits(3),
        fc.constantFrom('.', '.', '', ','),
        digits(20),
      )
      .map(parts => parts.join('')),
    fc.double({ min: -100, max: 100, noNaN: true }).map(String),
    fc.integer({ min: 0, max: 9999 }).map(cents => String(cents / 100)),
    fc.constantFrom(
      '',
      '.',
      'N/A',
      '1e2',
      '-',
      'abc',
      '1..2',
      '0x1',
      '-0',
      '-0.0000000000000000000',
    ),
  )
  const two = (n: number) => String(n).padStart(2, '0')
  const part = (max: number) =>
    fc.oneof(
      { weight: 30, arbitrary: fc.integer({ min: 1, max }) },
      fc.integer({ min: 0, max: max + 2 }),
    )
  const day = fc
    .tuple(fc.integer({ min: 1898, max: 2027 }), part(12), part(30))
    .map(([year, month, date]) => `${year}-${two(month)}-${two(date)}`)
  const zone = fc.constantFrom('Z', 'Z', 'Z', 'Z', '', 'z', '+01:00')
  const instant = fc
    .tuple(day, part(23), part(59), part(59), zone)
    .map(
      ([on, hour, minute, second, end]) => `${on}T${two(hour)}:${two(minute)}:${two(second)}${end}`,
    )
  const odd = fc.constantFrom(
    '2024-03-28 14:30Z',
    'x',
    '',
    '2024-03-2a',
    '2024-03-28T14:3a:00Z',
    '2024-03-28T1\u0660:30:00Z',
    '20240328T143000Z0000',
    '2024-03-28T14:30:00X',
  )
  const usual = fc.constantFrom(
    ...series.filter(series => series.currency === 'USD').map(series => series.code),
  )
  const code = fc.oneof(
    { weight: 10, arbitrary: usual },
    fc.constantFrom('WTI', 'wti_usd', ' WTI_USD', 'EUR_DKK', 'NOPE', ''),
  )
  const time = fc.oneof(day, instant, instant, odd)
  const row = fc
    .tuple(code, time, number, fc.constantFrom('', 'USD', 'USD', 'usd', 'EUR', 'GBp'))
    .map(parts => parts.join(','))

  test('never differs from the judge: what it takes is the same point', () => {
    let taken = 0
    fc.assert(
      fc.property(row, text => {
        const point = read(text)
        if (!point || text.split(',').length !== 4) return
        taken += 1
        expect(point).toEqual(judged(text)!)
        expect(Object.is(point.value, -0)).toBe(false)
      }),
      { numRuns: 20_000 },
    )
    expect(taken).toBeGreaterThan(800)
  })
})
