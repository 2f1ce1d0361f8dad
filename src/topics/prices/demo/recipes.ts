import { europeanGasStorage } from '../../calendars/math/calendar.ts'
import { type FactorName, factors, type Rule, rules } from './factors.ts'
import type { WorldSeries } from './series.ts'

/** A random path, and how far one of its units moves a code, on the log scale. */
export interface Term {
  path: string
  weight: number
  smooth: boolean
}

/**
 * The conversion of deviations to a value: `log` multiplies the level, `percent` keeps between 0
 * and 100, `count` draws whole numbers of rare events.
 */
export type Shape = 'log' | 'percent' | 'count'

/** A yearly schedule: 1 at the peak, `1 - depth` at the trough. */
export interface Season {
  depth: number
  peakDayOfYear: number
  troughDayOfYear: number
}

export interface Recipe {
  terms: readonly Term[]
  shape: Shape
  season?: Season
  /** Friday's value applies until Monday. */
  heldOverWeekends: boolean
  /** The code is the sum of these, as agencies add up the parts they publish. */
  parts?: readonly string[]
}

/** A futures family quotes its front month, which is the benchmark of the same name. */
const twins: Readonly<Record<string, string>> = {
  BRENT_FUTURES: 'BRENT_CRUDE_USD',
  WTI_FUTURES: 'WTI_USD',
  GASOIL_FUTURES: 'GASOIL_USD',
  NATURAL_GAS_FUTURES: 'NATURAL_GAS_USD',
  EUA_FUTURES: 'EU_CARBON_EUR',
  UKA_FUTURES: 'UK_CARBON_GBP',
  TTF_FUTURES: 'DUTCH_TTF_EUR',
  JKM_FUTURES: 'JKM_LNG_USD',
}

const padds = (product: string): string[] => [1, 2, 3, 4, 5].map(n => `PADD${n}_${product}_STORAGE`)

const totals: Readonly<Record<string, readonly string[]>> = {
  US_CRUDE_STORAGE: padds('CRUDE'),
  US_GASOLINE_STORAGE: padds('GASOLINE'),
  US_DISTILLATE_STORAGE: padds('DISTILLATE'),
  SPR_STORAGE: ['BRYAN_MOUND', 'BIG_HILL', 'WEST_HACKBERRY', 'BAYOU_CHOCTAW'].map(
    site => `SPR_${site}_STORAGE`,
  ),
  US_NATGAS_STORAGE: ['EAST', 'MIDWEST', 'MOUNTAIN', 'PACIFIC', 'SOUTH_CENTRAL'].map(
    region => `NATGAS_STORAGE_${region}`,
  ),
  US_RIG_COUNT: ['US_OIL_RIG_COUNT', 'US_GAS_RIG_COUNT', 'US_MISC_RIG_COUNT'],
  NORTH_AMERICA_RIG_COUNT: ['US_RIG_COUNT', 'CANADA_RIG_COUNT'],
}

const [endOfMarch, november] = [90, 309]

function seasonOf({ category, code }: WorldSeries): Season | undefined {
  if (category !== 'storage') return undefined
  if (/NATGAS/.test(code))
    return { depth: 0.52, peakDayOfYear: november, troughDayOfYear: endOfMarch }
  if (europeanGasStorage.test(code))
    return { depth: 0.58, peakDayOfYear: november, troughDayOfYear: endOfMarch }
  if (code === 'US_PROPANE_STORAGE') return { depth: 0.45, peakDayOfYear: 283, troughDayOfYear: 85 }
  if (/GASOLINE/.test(code)) return { depth: 0.08, peakDayOfYear: 45, troughDayOfYear: 300 }
  if (/CRUDE|CUSHING/.test(code) && !code.startsWith('JAPAN'))
    return { depth: 0.06, peakDayOfYear: 120, troughDayOfYear: 265 }
  return undefined
}

const ownPrefix = 'own:'
const currencyPrefix = 'own:fx:'
const slowHalfLifeDays = 500
const linkedToEuro = new Set(['GBP', 'CHF', 'SEK', 'NOK', 'DKK', 'PLN', 'CZK', 'HUF', 'RON'])

export function createRecipes(catalogue: readonly WorldSeries[]) {
  const byCode = new Map(catalogue.map(series => [series.code, series]))
  const ownHalfLives = new Map<string, number>()

  function own(name: string, weight: number, halfLifeDays: number, smooth = false): Term {
    const path = `${ownPrefix}${name}`
    ownHalfLives.set(path, halfLifeDays)
    return { path, weight, smooth }
  }

  /**
   * The value of one unit of a currency in dollars. European currencies float around the euro, as
   * their rates against it show.
   */
  function currencyTerms(currency: string): Term[] {
    if (currency === 'USD') return []
    if (currency === 'EUR') {
      const volatility = byCode.get('EUR_USD')?.volatility ?? 0.075
      return [...factorTerms('dollar', 0.8 * volatility), own('fx:EUR', 0.6 * volatility, 60)]
    }
    if (linkedToEuro.has(currency)) {
      const volatility = byCode.get(`EUR_${currency}`)?.volatility ?? 0.04
      const crude = currency === 'NOK' ? 0.35 : 0
      const rest = Math.sqrt(1 - crude ** 2)
      return [
        ...currencyTerms('EUR'),
        ...factorTerms('crude', crude * volatility),
        own(`fx:${currency}`, rest * volatility, 45),
      ]
    }
    const volatility =
      (byCode.get(`USD_${currency}`) ?? byCode.get(`${currency}_USD`))?.volatility ?? 0.1
    const [dollar, crude] = volatility < 0.03 ? [0, 0] : [0.5, currency === 'CAD' ? 0.35 : 0]
    const rest = Math.sqrt(1 - dollar ** 2 - crude ** 2)
    return [
      ...factorTerms('dollar', dollar * volatility),
      ...factorTerms('crude', crude * volatility),
      own(`fx:${currency}`, rest * volatility, 45),
    ]
  }

  function marketTerms({ code, category, currency, volatility }: WorldSeries): Term[] {
    const rule = rules[category]?.find(([pattern]) => pattern.test(code)) ?? ([/./, {}, 60] as Rule)
    const [, loads, halfLifeDays, smooth = false] = rule
    const shared = Object.entries(loads) as [FactorName, number][]
    const rest = Math.sqrt(Math.max(0, 1 - shared.reduce((sum, [, load]) => sum + load ** 2, 0)))
    const scale =
      volatility *
      (category === 'retail_fuels'
        ? smoothedScale
        : category === 'storage'
          ? seasonalNoise(code)
          : 1)
    const terms = shared.flatMap(([name, load]) => factorTerms(name, load * scale, smooth))
    terms.push(own(code, rest * scale, halfLifeDays, smooth))
    if (category === 'metals' && currency && currency !== 'USD')
      terms.push(...scaled(currencyTerms(currency), -1))
    return terms
  }

  function fxTerms(code: string): Term[] {
    const [of, quoted] = code.split('_') as [string, string]
    return [...currencyTerms(of), ...scaled(currencyTerms(quoted), -1)]
  }

  return {
    recipeOf(series: WorldSeries) {
      const { category, code } = series
      const twin = byCode.get(twins[code] ?? '')
      const model = twin ?? series
      const parts = totals[code]?.filter(part => byCode.get(part)?.available)
      const recipe: Recipe = {
        terms: [],
        shape: shapeOf(series),
        season: seasonOf(series),
        heldOverWeekends: category === 'list_prices',
      }
      if (parts && parts.length === totals[code]!.length) return { ...recipe, parts }
      if (code === 'DOLLAR_INDEX')
        return {
          ...recipe,
          terms: merged(
            dollarIndex.flatMap(([name, share]) => scaled(currencyTerms(name), -share)),
          ),
        }
      return { ...recipe, terms: merged(category === 'fx' ? fxTerms(code) : marketTerms(model)) }
    },
    /** Whether several codes name it. */
    isShared: (path: string) => !path.startsWith(ownPrefix) || path.startsWith(currencyPrefix),
    /** Half-life in days of a path that a recipe names. */
    halfLifeOf(path: string) {
      if (path.endsWith(':slow')) return slowHalfLifeDays
      return ownHalfLives.get(path) ?? factors[path as FactorName].halfLifeDays
    },
  }
}

/** Shares of the currencies in the United States dollar index. */
const dollarIndex: readonly (readonly [string, number])[] = [
  ['EUR', 0.576],
  ['JPY', 0.136],
  ['GBP', 0.119],
  ['CAD', 0.091],
  ['SEK', 0.042],
  ['CHF', 0.036],
]

function factorTerms(name: FactorName, weight: number, smooth = false): Term[] {
  if (weight === 0) return []
  const { slow } = factors[name]
  return [
    { path: name, weight: weight * Math.sqrt(1 - slow ** 2), smooth },
    { path: `${name}:slow`, weight: weight * slow, smooth },
  ]
}

const scaled = (terms: readonly Term[], by: number): Term[] =>
  terms.map(term => ({ ...term, weight: term.weight * by }))

function merged(terms: readonly Term[]): Term[] {
  const sums = new Map<string, Term>()
  for (const term of terms) {
    const key = `${term.path}/${term.smooth}`
    sums.set(key, { ...term, weight: (sums.get(key)?.weight ?? 0) + term.weight })
  }
  return [...sums.values()].filter(term => Math.abs(term.weight) > 1e-9)
}

function shapeOf({ unit, code, category }: WorldSeries): Shape {
  if (unit === 'percent') return 'percent'
  return category === 'drilling' && code.endsWith('_PERMITS') ? 'count' : 'log'
}

/**
 * Smoothing takes away half of the movement that the catalogue speaks of; part of it is given back.
 */
const smoothedScale = 1.5

/**
 * The volatility that the catalogue gives for gas in storage is that of its seasons; little is left
 * for chance.
 */
const seasonalNoise = (code: string): number =>
  /GAS/.test(code) && !/GASOLINE/.test(code) ? 0.3 : 1
