/** Words for exchanges in slugs: the neutral word, which responses use, and those of the market. */
export const defaultExchangeWords: readonly string[] = ['exch', 'ice', 'nymex']
