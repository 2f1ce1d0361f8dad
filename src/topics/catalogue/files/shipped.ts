import aliasesText from '../../../../fixtures/aliases.tsv' with { type: 'text' }
import codesText from '../../../../fixtures/codes.tsv' with { type: 'text' }
import { tsvRows } from '../../../lib/text/tsv.ts'
import { defaultExchangeWords } from '../../../plans/clients/exchange-words.ts'
import { version } from '../../../version.ts'
import type { Cadence } from '../math/catalogue.ts'
import type { NewSeries } from '../store/series.ts'

/**
 * Words in brackets at the end of a description explain why a code has no data; they are not part
 * of the description.
 */
const reasons: Record<string, string> = {
  '(no source)': 'no_source',
  '(discontinued listing)': 'discontinued',
  '(restricted)': 'restricted',
}

type Column = Exclude<keyof NewSeries, 'unavailableReason'> | 'available'

/**
 * The placeholder for the name of the exchange in shipped aliases such as `EXCH_WTI`; the
 * operator's words take its place.
 */
const shippedWord = /^EXCH(?=[-_])/

/**
 * Another text where the catalogue may be another: its lines, the operator's words, or the program
 * that reads them.
 */
export const catalogueVersion = (exchangeWords: readonly string[]): string =>
  Bun.hash.wyhash([version, exchangeWords.join(), codesText, aliasesText].join('\n')).toString(36)

/**
 * The catalogue that ships with the program, its aliases with the operator's words for the
 * exchange.
 */
export function shippedCatalogue(exchangeWords: readonly string[] = defaultExchangeWords): {
  series: NewSeries[]
  aliases: { alias: string; code: string }[]
} {
  const series = tsvRows<Column>(codesText).map(({ available, description, ...row }) => {
    const bracket = /\s*(\([^)]*\))$/.exec(description)
    const reason = available === 'true' ? null : ((bracket && reasons[bracket[1]!]) ?? 'no_source')
    return {
      ...row,
      currency: row.currency || null,
      decimals: Number(row.decimals),
      cadence: row.cadence as Cadence,
      description: reason && bracket ? description.slice(0, bracket.index) : description,
      unavailableReason: reason,
      level: Number(row.level),
      volatility: Number(row.volatility),
    }
  })
  const rows = tsvRows<'alias' | 'code'>(aliasesText).map(
    ({ alias, code }) => [alias, code] as const,
  )
  const exchangeAliases = rows.filter(([alias]) => shippedWord.test(alias))
  const otherAliases = rows.filter(([alias]) => !shippedWord.test(alias))
  // An operator's word may form an alias that exists already: the shipped alias wins.
  const operatorAliases = exchangeWords.flatMap(word =>
    exchangeAliases.map(
      ([alias, code]) => [alias.replace(shippedWord, word.toUpperCase()), code] as const,
    ),
  )
  return {
    series,
    aliases: [...new Map([...operatorAliases, ...otherAliases])].map(([alias, code]) => ({
      alias,
      code,
    })),
  }
}
