/** What exchanges are called in slugs: the neutral word, which answers use, and those of the market. */
export const defaultExchangeWords: readonly string[] = ['exch', 'ice', 'nymex']
