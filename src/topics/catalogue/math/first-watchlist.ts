import { benchmarkCodes } from './suggest-words.ts'

/** As many as the codes that are free by default. */
const watchedMax = 9

/**
 * The series that a person watches who has chosen none: those of `first`, then benchmarks, then one
 * of each other category, then any. All of them have data.
 */
export function firstWatchlist<One extends { code: string; category: string }>(
  first: readonly One[],
  priced: readonly One[],
): One[] {
  const known = [...first, ...priced.filter(({ code }) => benchmarkCodes.has(code))]
  const categories = new Set(known.map(({ category }) => category))
  const others = priced.filter(({ category }) => {
    const isNew = !categories.has(category)
    categories.add(category)
    return isNew
  })
  return [...new Set([...known, ...others, ...priced])].slice(0, Math.max(first.length, watchedMax))
}
