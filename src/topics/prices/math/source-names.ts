interface NamedSource {
  kind: 'feed' | 'named'
  name: string
  /** 0 a day, 1 a week, 2 a month, 3 a quarter, 4 a year. */
  periodKind: number
}

const periods = ['day', 'week', 'month', 'quarter', 'year'] as const
const feedPattern = /^feed:([a-z0-9_-]+)(?:\/(week|month|quarter|year))?$/

/**
 * The text of a source in a file for another instance: a name as it is, a feed as `feed:ecb`, with
 * the period of its values where that is not a day, `feed:eia_bulk/month`.
 */
export const writtenSource = ({ kind, name, periodKind }: NamedSource): string =>
  kind === 'named' ? name : `feed:${name}${periodKind === 0 ? '' : `/${periods[periodKind]}`}`

/** The feed that such a text names; undefined of any other. */
export function feedNamed(
  text: string,
): { feed: { name: string; periodKind: number } } | undefined {
  const [, name, period = 'day'] = feedPattern.exec(text) ?? []
  if (name === undefined) return undefined
  return { feed: { name, periodKind: periods.indexOf(period as (typeof periods)[number]) } }
}
