import { describe, expect, test } from 'bun:test'
import { compileFormula, type Leg } from '../../../../src/topics/formulas/math/compile.ts'
import { FormulaFault } from '../../../../src/topics/formulas/math/fault.ts'
import { createInput } from '../../../../src/topics/formulas/math/input.ts'
import { computeSeries } from '../../../../src/topics/formulas/math/series.ts'
import type { Observation } from '../../../../src/topics/prices/math/bars.ts'
import type { Product } from '../../../../src/topics/units/math/units.ts'

const dayMs = 86_400_000
const day = (text: string) => Date.parse(`${text}T00:00:00Z`)

const leg = (
  code: string,
  currency: string | null,
  unit: string,
  product?: Product,
  pair?: Leg['pair'],
): Leg => ({ code, currency, unit, product, pair })
const legs: Record<string, Leg> = {
  BRENT: leg('BRENT', 'USD', 'barrel', 'crude'),
  WTI: leg('WTI', 'USD', 'barrel', 'crude'),
  GASOIL: leg('GASOIL', 'USD', 'metric_ton', 'gasoil'),
  GASOLINE: leg('GASOLINE', 'USD', 'gallon', 'gasoline'),
  TTF: leg('TTF', 'EUR', 'mwh'),
  NBP: leg('NBP', 'GBP', 'pence_per_therm'),
  EUR_USD: leg('EUR_USD', 'USD', 'rate', undefined, { from: 'EUR', to: 'USD' }),
  GBP_USD: leg('GBP_USD', 'USD', 'rate', undefined, { from: 'GBP', to: 'USD' }),
  RIGS: leg('RIGS', null, 'rigs'),
}
const market = {
  leg: (name: string) => legs[name.toUpperCase()],
  pair: (from: string, to: string) => legs[`${from}_${to}`]?.code,
  isCurrency: (word: string) => ['USD', 'EUR', 'GBP'].includes(word),
}
const perBarrel = { currency: 'USD', unit: 'barrel' }
const compile = (text: string, declared: { currency: string | null; unit: string } = perBarrel) =>
  compileFormula(text, declared, market)

/** The input of these rows, which may change until it reads them. */
const inputOf = (rows: readonly Observation[], isDense = false) =>
  createInput({
    read: (from, to) => rows.filter(row => from <= row.observedAt && row.observedAt < to),
    newest: (from, to) => rows.findLast(row => from <= row.observedAt && row.observedAt < to),
    isDense,
  })

type Values = Record<string, readonly (readonly [at: string, value: number])[]>

/** The result of a formula over values of its codes. */
function compute(
  text: string,
  values: Values,
  {
    align = 'last' as 'last' | 'same_day' | 'drop',
    declared = perBarrel as Parameters<typeof compile>[1],
  } = {},
) {
  const compiled = compile(text, declared)
  const inputs = compiled.codes.map(code =>
    inputOf(
      (values[code] ?? []).map(([at, value], i) => ({
        observedAt: Date.parse(at.length === 10 ? `${at}T00:00:00Z` : at),
        value,
        recordedAt: i,
      })),
    ),
  )
  const limitsMs = compiled.codes.map(() => 7 * dayMs)
  return computeSeries(compiled, { align, inputs, limitsMs, from: Number.MIN_SAFE_INTEGER })
}
const valuesOf = (...args: Parameters<typeof compute>) => compute(...args).map(row => row.value)
const one = (value: number) => [['2026-11-23', value]] as const

const fault = (text: string, declared?: Parameters<typeof compile>[1]) => {
  try {
    compile(text, declared)
  } catch (error) {
    if (error instanceof FormulaFault) return [error.reason, error.spot.column]
    throw error
  }
  return 'accepted'
}

const onlyThese = 'must have only letters, digits, quotes and _ . , + - * / ( ) [ ] < > = !='

describe('the text of a formula', () => {
  test('is refused at the column of what is wrong in it', () => {
    expect(fault('BRENT +')).toEqual(['syntax', 8])
    expect(fault('BRENT ? 2')).toEqual(['syntax', 7])
    expect(fault('(BRENT')).toEqual(['syntax', 7])
    expect(fault('BRENT WTI')).toEqual(['syntax', 7])
    expect(fault('1 + NOPE')).toEqual(['unknown_code', 5])
    expect(fault('2 * sqrt(BRENT)')).toEqual(['unknown_function', 5])
    expect(fault('unit(BRENT, furlong)')).toEqual(['unknown_unit', 13])
    expect(fault('fx(BRENT, XXX)')).toEqual(['unknown_currency', 11])
    expect(fault('1 + min(BRENT)')).toEqual(['arguments', 5])
    expect(fault('round(BRENT, 11)')).toEqual(['arguments', 1])
    expect(fault('avg(BRENT, 3 fortnights)')).toEqual(['syntax', 14])
    expect(fault('1 + 2')).toEqual(['arguments', 1])
    expect(fault(`${'('.repeat(300)}BRENT${')'.repeat(300)}`)).toEqual(['too_deep', 1])
    expect(fault(`BRENT${' '.repeat(2000)}`)).toEqual(['too_long', 1])
  })

  test.each([
    ['', 1, 'must have a number, a code, a function or ( here; the text ends.'],
    ['BRENT +', 8, 'must have a number, a code, a function or ( here; the text ends.'],
    ['BRENT WTI', 7, 'must have +, -, *, / or its end here; got WTI.'],
    ['(BRENT', 7, 'must have ) for the ( at column 1 here; the text ends.'],
    ['2*max(BRENT, (WTI + 1)', 23, 'must have ) for the ( at column 6 here; the text ends.'],
    ['if((BRENT > 1, 1, 2)', 14, 'must have ) for the ( at column 4 here; got ,.'],
    ['BRENT ^ 2', 7, 'must have a product such as x*x for a power here; got ^.'],
    ['BRENT ** 2', 7, 'must have a product such as x*x for a power here; got **.'],
    ['5% * BRENT', 2, 'must have a fraction such as 0.05 for 5% here; got %.'],
    ['if(BRENT == 70, 1, 2)', 10, 'must have = here; got ==.'],
    ['if(BRENT => 70, 1, 2)', 10, 'must have >= here; got =>.'],
    ['if(BRENT =< 70, 1, 2)', 10, 'must have <= here; got =<.'],
    ['if(BRENT <> 70, 1, 2)', 10, 'must have != here; got <>.'],
    ['if(BRENT !== 70, 1, 2)', 10, 'must have != here; got !==.'],
    ['if(BRENT > 1 && WTI > 1, 1, 2)', 14, 'must have and here; got &&.'],
    ['if(BRENT > 1 || WTI > 1, 1, 2)', 14, 'must have or here; got ||.'],
    ['if(!BRENT > 1, 1, 2)', 4, 'must have not here; got !.'],
    ['2 × BRENT', 3, 'must have * here; got ×.'],
    ['max(BRENT; WTI)', 10, 'must have a comma here; got ;.'],
    ["'BRENT'", 1, `must have " here; got '.`],
    ['0,35*BRENT', 2, 'must have a decimal point here, and no separator of thousands; got 0,35.'],
    [
      'unit(1,5*BRENT, barrel)',
      7,
      'must have a decimal point here, and no separator of thousands; got 1,5.',
    ],
    [
      'abs(1,5*BRENT)',
      6,
      'must have a decimal point here, and no separator of thousands; got 1,5.',
    ],
    [
      'table(BRENT, [0, 3, 0,10])',
      22,
      'must have a decimal point here, and no separator of thousands; got 0,10.',
    ],
    ['BRENT = 70', 7, 'must have its end, or a condition in if(…) here; got =.'],
    ['BRENT)', 6, 'must have a ( before this ) here; got ).'],
    ['.5*BRENT', 1, 'must have a digit on both sides of a decimal point.'],
    ['"BRENT', 1, 'must have a code of 1 to 50 characters between two quotes here.'],
    ['BRENT + \u{1F600}', 9, `${onlyThese}; got \u{1F600}.`],
    ['NOPE', 1, 'must name known codes; got NOPE.'],
    [
      'sqrt(BRENT)',
      1,
      'must use the functions abs, around, avg, fx, if, lag, max, min, plain, round, table, unit; got sqrt.',
    ],
    [
      'average(BRENT, 3 days)',
      1,
      'must use the functions abs, around, avg, fx, if, lag, max, min, plain, round, table, unit; got average. Did you mean avg?',
    ],
    [
      'rond(BRENT)',
      1,
      'must use the functions abs, around, avg, fx, if, lag, max, min, plain, round, table, unit; got rond. Did you mean round?',
    ],
    ['avg(BRENT)', 10, 'must have a comma and a span such as 6 months here; got ).'],
    ['avg(BRENT, 0 months)', 12, 'must have a span such as 6 months here; got 0.'],
    [
      'avg(BRENT, 3 moons)',
      14,
      'must have hours, days, weeks, months, quarters or years here; got moons.',
    ],
    ['avg(BRENT, 3 months lag 1 month)', 21, 'must have a comma here; got lag.'],
    ['avg(BRENT, 3 months, by 2 days)', 22, 'must have lag or every here; got by.'],
    ['avg(BRENT, 3 hours)', 1, 'must give avg a span of days or longer.'],
    ['lag(BRENT, 1.5)', 1, 'must give lag a whole number from 0 to 10000; got 1.5.'],
    [
      'around(BRENT, 2026-13-01, 5, 5)',
      15,
      'must have a day such as 2026-11-16 here; got 2026-13-01.',
    ],
    [
      'around(BRENT, 2026-11-16)',
      25,
      'must have a comma and the number of closes before it here; got ).',
    ],
    [
      'around(BRENT, 2026-11-16, 0, 0)',
      1,
      'must give around at least one close before or after the day.',
    ],
    ['table(BRENT)', 1, 'must give table at least one band such as [0, 3, 0.10].'],
    ['table(BRENT, [1, 2])', 19, 'must have a comma and the value of the band here; got ].'],
    ['table(BRENT, [2, 1, 3])', 1, 'must have bands that begin below their end; got [2, 1].'],
    ['if(BRENT, 1, 2)', 9, 'must have one of < <= > >= = != here; got ,.'],
    ['if(BRENT > 1, 2)', 16, 'must have a comma and the value if it does not here; got ).'],
    ['fx(BRENT)', 9, 'must have a comma and a currency such as EUR here; got ).'],
    ['fx(BRENT, XXX)', 11, 'must name a currency that has rates; got XXX.'],
    ['unit(BRENT, furlong)', 13, 'must name a known unit; got furlong.'],
    ['unit(BRENT, barel)', 13, 'must name a known unit; got barel. Did you mean barrel?'],
    ['min(BRENT)', 1, 'must give min at least 2 arguments; got 1.'],
    ['abs(BRENT, 2)', 1, 'must give abs one argument; got 2.'],
    ['1e400*BRENT', 1, `must have a number up to ${Number.MAX_VALUE} here; got 1e400.`],
    ['BRENT * WTI', 7, 'must not multiply two prices; write one as plain(…).'],
    ['2 / BRENT', 3, 'must not divide a number by a price; write it as plain(…).'],
    ['BRENT + TTF', 7, 'must convert EUR per mwh to USD per barrel, which is not possible.'],
    ['BRENT + EUR_USD', 7, 'must not add or compare a price and an exchange rate.'],
  ])('%s: column %d: %s', (text, column, message) => {
    try {
      compile(text)
      throw new Error('accepted')
    } catch (error) {
      const { spot, message: said } = error as FormulaFault
      expect({ column: spot?.column, said }).toEqual({ column, said: message })
    }
  })

  test('is refused where units or currencies contradict each other', () => {
    expect(fault('BRENT * WTI')).toEqual(['units', 7])
    expect(fault('2 / BRENT')).toEqual(['units', 3])
    expect(fault('BRENT + TTF')).toEqual(['units', 7])
    expect(fault('BRENT + RIGS')).toEqual(['currency', 7])
    expect(fault('BRENT * EUR_USD')).toEqual(['currency', 7])
    expect(fault('min(BRENT, RIGS)')).toEqual(['currency', 1])
    expect(fault('TTF')).toEqual(['units', 1])
    expect(fault('RIGS')).toEqual(['currency', 1])
    expect(fault('plain(TTF)')).toBe('accepted')
    expect(fault('BRENT - if(BRENT > TTF, 1, 2)')).toEqual(['units', 18])
  })

  test('nests conditions and parentheses without reading anything twice', () => {
    const text = `${'if(('.repeat(30)}BRENT${') > 1, BRENT, WTI)'.repeat(30)}`
    expect(fault(text)).toBe('accepted')
  })
})

describe('a formula', () => {
  test('binds products before sums, and signs before both', () => {
    expect(valuesOf('2 + 3*BRENT/4 - -1', { BRENT: one(8) })).toEqual([9])
    expect(valuesOf('(2 + 3)*BRENT', { BRENT: one(8) })).toEqual([40])
  })

  test('adds and subtracts decimal prices as decimals, so that equal differences are equal', () => {
    const prices = { BRENT: one(71.23), WTI: one(75.1) }
    expect(valuesOf('BRENT - WTI', prices)).toEqual([-3.87])
    expect(valuesOf('BRENT + -WTI', prices)).toEqual([-3.87])
    expect(valuesOf('if(BRENT - WTI >= -3.87, 1, 0) + 0*BRENT', prices)).toEqual([1])
    expect(valuesOf('if(WTI - BRENT > 3.87, 1, 0) + 0*BRENT', prices)).toEqual([0])
    expect(valuesOf('BRENT + WTI', { BRENT: one(0.1), WTI: one(0.2) })).toEqual([0.3])
  })

  test('converts units by the product, hundredths and currencies by the rate of its time', () => {
    expect(valuesOf('unit(GASOIL, barrel) - BRENT', { GASOIL: one(745), BRENT: one(70) })).toEqual([
      745 / 7.45 - 70,
    ])
    const rates: Values = { EUR_USD: [['2026-11-20', 1.2]], GBP_USD: [['2026-11-22', 1.25]] }
    const mmbtu = { currency: 'USD', unit: 'mmbtu' }
    const [gas] = valuesOf('TTF', { ...rates, TTF: one(30) }, { declared: mmbtu })
    expect(gas).toBeCloseTo((30 * 1.2) / 3.412141633, 6)
    const [pence] = valuesOf('NBP', { ...rates, NBP: one(80) }, { declared: mmbtu })
    expect(pence).toBeCloseTo(0.8 * 10 * 1.25, 9)
    const [crossed] = valuesOf(
      'fx(NBP, EUR)',
      { ...rates, NBP: one(80) },
      {
        declared: { currency: 'EUR', unit: 'therm' },
      },
    )
    expect(crossed).toBeCloseTo((0.8 * 1.25) / 1.2, 12)
    expect(
      valuesOf(
        'TTF * EUR_USD',
        { ...rates, TTF: one(30) },
        {
          declared: { currency: 'USD', unit: 'mwh' },
        },
      ),
    ).toEqual([36])
  })

  test('has no value where a rate is older than seven days, or a divisor is zero', () => {
    const mwh = { currency: 'USD', unit: 'mwh' }
    const old: Values = { TTF: one(30), EUR_USD: [['2026-11-15', 1.2]] }
    expect(valuesOf('TTF', old, { declared: mwh })).toEqual([])
    expect(valuesOf('plain(BRENT)/(plain(WTI) - 1)', { BRENT: one(70), WTI: one(1) })).toEqual([])
  })

  test('rounds every number as its decimal form is rounded', () => {
    const plain = (value: number, digits: number) => {
      const [mantissa, exponent = '0'] = String(Math.abs(value)).split('e')
      const shifted = Math.round(Number(`${mantissa}e${Number(exponent) + digits}`))
      return Math.sign(value) * Number(`${shifted}e-${digits}`)
    }
    for (let i = 0; i < 20_000; i += 1) {
      const digits = i % 11
      const base = Math.sin(i) * 10 ** ((i % 13) - 3)
      // Every third is a half, or the next number above or below one.
      const half = (Math.floor(base * 10 ** (digits % 5)) + 0.5) / 10 ** (digits % 5)
      const value = i % 3 === 0 ? half * (1 + ((i % 9) - 4) * Number.EPSILON) : base
      const [row] = compute(`round(BRENT, ${digits})`, { BRENT: [['2026-01-05', value]] })
      expect(row!.value, `${value} ${digits}`).toEqual(plain(value, digits))
    }
  })

  test('rounds halves away from zero on the decimal form of a number', () => {
    expect(valuesOf('round(BRENT, 2)', { BRENT: one(1.005) })).toEqual([1.01])
    expect(valuesOf('round(BRENT, 2)', { BRENT: one(-1.005) })).toEqual([-1.01])
    expect(valuesOf('round(BRENT)', { BRENT: one(2.5) })).toEqual([3])
  })

  test('needs only the chosen branch of a condition', () => {
    const text = 'if(not (BRENT < 70) and WTI <= 65, BRENT, WTI)'
    expect(valuesOf(text, { BRENT: one(70), WTI: one(65) })).toEqual([70])
    expect(valuesOf(text, { BRENT: one(69), WTI: one(65) })).toEqual([65])
    const missing = 'if(BRENT > 60, BRENT, WTI)'
    expect(valuesOf(missing, { BRENT: one(70) })).toEqual([70])
    expect(valuesOf(missing, { BRENT: one(50) })).toEqual([])
  })

  test('looks up bands whose end is not in them', () => {
    const text = 'table(BRENT, [0, 60, 1], [60, 70, 2.5])'
    expect(valuesOf(text, { BRENT: one(59.99) })).toEqual([1])
    expect(valuesOf(text, { BRENT: one(60) })).toEqual([2.5])
    expect(valuesOf(text, { BRENT: one(70) })).toEqual([])
  })
})

describe('alignment', () => {
  const values: Values = {
    BRENT: [
      ['2026-11-02T08:00:00Z', 70],
      ['2026-11-02T16:00:00Z', 71],
      ['2026-11-03T08:00:00Z', 72],
      ['2026-11-20T08:00:00Z', 80],
    ],
    WTI: [
      ['2026-11-02T12:00:00Z', 60],
      ['2026-11-03T08:00:00Z', 61],
    ],
  }
  const times = (align: 'last' | 'same_day' | 'drop') =>
    compute('BRENT - WTI', values, { align }).map(row => [
      new Date(row.observedAt).toISOString().slice(5, 16),
      row.value,
    ])

  test('takes the newest value of each leg at every time of any, within the limit', () => {
    expect(times('last')).toEqual([
      ['11-02T12:00', 10],
      ['11-02T16:00', 11],
      ['11-03T08:00', 11],
    ])
  })

  test('takes the last values of days, or the values of one time', () => {
    expect(times('same_day')).toEqual([
      ['11-02T00:00', 11],
      ['11-03T00:00', 11],
    ])
    expect(times('drop')).toEqual([['11-03T08:00', 11]])
  })
})

describe('functions of time', () => {
  /** A value of each day of 2026, its number in the year. */
  const year: Values = {
    BRENT: Array.from({ length: 330 }, (_, i) => [
      new Date(day('2026-01-01') + i * dayMs).toISOString().slice(0, 10),
      i + 1,
    ]),
  }
  const at = (text: string, when: string) =>
    compute(text, year).find(row => row.observedAt === day(when))?.value
  const mean = (from: string, to: string) =>
    ((day(from) - day('2026-01-01')) / dayMs + 1 + (day(to) - day('2026-01-01')) / dayMs + 1) / 2

  test('average days up to and with the one of the value, months before it', () => {
    expect(at('avg(BRENT, 10 days)', '2026-03-10')).toBe(mean('2026-03-01', '2026-03-10'))
    expect(at('avg(BRENT, 1 week, lag 2 days)', '2026-03-10')).toBe(
      mean('2026-03-02', '2026-03-08'),
    )
    expect(at('avg(BRENT, 3 months)', '2026-07-15')).toBe(mean('2026-04-01', '2026-06-30'))
    expect(at('avg(BRENT, 6 months, lag 1 month)', '2026-09-15')).toBe(
      mean('2026-02-01', '2026-07-31'),
    )
    expect(at('avg(BRENT, 1 quarter)', '2026-08-15')).toBe(mean('2026-04-01', '2026-06-30'))
    const indexed = 'avg(BRENT, 6 months, lag 0 months, every 3 months)'
    expect(at(indexed, '2026-09-15')).toBe(mean('2026-01-01', '2026-06-30'))
    expect(at(indexed, '2026-07-01')).toBe(mean('2026-01-01', '2026-06-30'))
    expect(at(indexed, '2026-11-01')).toBe(mean('2026-04-01', '2026-09-30'))
  })

  test('average any window as a plain sum does, and depend on nothing outside of it', () => {
    const rows = Array.from({ length: 400 }, (_, i) => ({
      observedAt: day('1969-06-01') + ((i * 7) % 5 === 0 ? i * dayMs + 3_600_000 : i * dayMs),
      value: Math.sin(i) * 1e6,
      recordedAt: (i * 31) % 400,
    })).filter((_, i) => i % 11 !== 3)
    const first = Math.floor(rows[0]!.observedAt / dayMs)
    const input = inputOf(rows)
    for (const [from, to] of [
      [first, first + 1],
      [first - 5000, first + 12],
      [first + 17, first + 380],
      [first + 200, first + 215],
      [-1e9, 1e9],
    ] as const) {
      const inside = rows.filter(
        ({ observedAt }) => from <= Math.floor(observedAt / dayMs) && observedAt < to * dayMs,
      )
      const mean = input.mean(from, to)!
      const sum = inside.reduce((sum, { value }) => sum + value, 0)
      expect(mean.value).toBeCloseTo(sum / inside.length, 6)
      expect(mean.recordedAt).toBe(Math.max(...inside.map(({ recordedAt }) => recordedAt)))
      expect(inputOf(inside).mean(from, to)).toEqual(mean)
    }
    expect(input.mean(first + 401, first + 500)).toBeUndefined()
    expect(input.mean(first + 10, first + 10)).toBeUndefined()
  })

  test('looks up in parts what it finds in all values, also after some of them have changed', () => {
    let seed = 11
    const random = (below: number) => {
      seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
      return Math.floor((seed / 2 ** 32) * below)
    }
    const begin = day('2019-03-01')
    const row = (observedAt: number) => ({ observedAt, value: random(1000), recordedAt: random(9) })
    for (let round = 0; round < 40; round += 1) {
      const rows: Observation[] = []
      for (let at = begin; rows.length < 300; at += (1 + random(80)) * 3_600_000 * (1 + random(9)))
        rows.push(row(at))
      const input = inputOf(rows, random(2) === 0)
      const end = rows.at(-1)!.observedAt
      for (let step = 0; step < 60; step += 1) {
        const [at, count] = [begin + random(end - begin + 9 * dayMs), random(6)]
        const whole = inputOf(rows)
        whole.between(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)
        const since = random(3) === 0 ? Number.MIN_SAFE_INTEGER : at - random(90) * dayMs
        const dayOf = Math.floor(at / dayMs)
        const looks: ((of: typeof input) => unknown)[] = [
          of => of.newest(at, since, count),
          of => of.between(at - 40 * dayMs, at),
          of => of.mean(dayOf - 30 * count, dayOf + 1),
          of => of.around(dayOf, count, 5 - count),
          of => of.newest(Number.MAX_SAFE_INTEGER - 1, Number.MIN_SAFE_INTEGER),
        ]
        const look = looks[random(looks.length)]!
        expect(look(input)).toEqual(look(whole))
        if (random(4) > 0) continue
        const place = random(4) === 0 ? random(rows.length) : rows.length - 1 - random(4)
        const from = rows[place]!.observedAt
        if (random(2) === 0) rows.splice(place, 1)
        else rows[place] = row(from)
        input.forget(from)
      }
    }
  })

  test('the newest value is computed without those before it, up to the first that is accepted', () => {
    const compiled = compile('avg(BRENT, 1 month) + WTI', perBarrel)
    const rows = Array.from({ length: 100 }, (_, i) => ({
      observedAt: day('2026-01-01') + i * dayMs,
      value: 60 + i,
      recordedAt: i,
    }))
    const inputs = compiled.codes.map(() => inputOf(rows))
    const limitsMs = compiled.codes.map(() => 7 * dayMs)
    const terms = { align: 'last', inputs, limitsMs, from: Number.MIN_SAFE_INTEGER } as const
    const all = computeSeries(compiled, terms)
    let computed = 0
    const counted: typeof compiled = {
      ...compiled,
      evaluate(scope) {
        computed += 1
        return compiled.evaluate(scope)
      },
    }
    const edgeOf = (edge: 'first' | 'last', accepts = (_at: number) => true) => {
      computed = 0
      const only = {
        edge,
        accepts: ({ observedAt }: { observedAt: number }) => accepts(observedAt),
      }
      return computeSeries(counted, terms, only)
    }
    expect({ edge: edgeOf('last'), computed }).toEqual({ edge: [all.at(-1)!], computed: 1 })
    const hidden = all.at(-1)!.observedAt
    expect({ edge: edgeOf('last', at => at < hidden), computed }).toEqual({
      edge: [all.at(-2)!],
      computed: 2,
    })
    expect(edgeOf('first')).toEqual([all[0]!])
  })

  test('lag by values and by time', () => {
    expect(at('lag(BRENT, 3)', '2026-03-10')).toBe(mean('2026-03-07', '2026-03-07'))
    expect(at('lag(BRENT, 1 month)', '2026-03-31')).toBe(mean('2026-02-28', '2026-02-28'))
    expect(at('lag(BRENT, 1 day)', '2026-01-01')).toBeUndefined()
  })

  test('average around a day, and say nothing before the last of its closes', () => {
    const text = 'around(BRENT, 2026-03-10, 2, 2)'
    expect(at(text, '2026-03-11')).toBeUndefined()
    expect(at(text, '2026-03-12')).toBe(mean('2026-03-08', '2026-03-12'))
    expect(at('around(BRENT, 2026-12-30, 2, 2)', '2026-11-26')).toBeUndefined()
  })
})
